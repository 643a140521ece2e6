"""Rows with the row before them, in a query of SQL and its subqueries."""

from typing import TYPE_CHECKING, TypeVar

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.earlier.read_asof import read_asof
from ontoweir.rewriter.earlier.read_counted import is_over_stream, read_counted
from ontoweir.rewriter.earlier.read_moving import read_moving

if TYPE_CHECKING:
    from sqlglot import exp

Tree = TypeVar("Tree", bound="exp.Query")


def read_earlier(tree: Tree, catalog: Catalog) -> tuple[Tree, Catalog]:
    """A query where ASOF JOIN is a join with a relation that changes, read as of the time of a row
    (change.md section 6), moving aggregates are groups of a join, and other windows columns of a
    stream; it is changed in place. And the catalog with these relations and streams. Windows over
    subqueries are left, until these are merged.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: it is beyond that, or which row is the latest is not known.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        plain = is_over_stream(select, catalog)
        if plain:
            read_moving(select, catalog)
        catalog = read_asof(select, catalog)
        if plain:
            catalog = read_counted(select, catalog)
    return tree, catalog
