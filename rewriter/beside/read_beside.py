"""The latest row of a stream beside each row of static relations, however it is written."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.beside.latest_beside import read_latest_beside
from ontoweir.rewriter.beside.nest_beside import nest_beside
from ontoweir.rewriter.beside.pad_latest import pad_latest
from ontoweir.rewriter.beside.unite_never import unite_never
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.nulls.null_places import NullPlaces

if TYPE_CHECKING:
    from sqlglot import exp


def read_beside(
    tree: "exp.Query",
    catalog: Catalog,
    settle: "Callable[[exp.Query, Catalog], exp.Query]",
    read: "Callable[[exp.Query, NullPlaces], SpjUnion]",
) -> "tuple[exp.Query, SpjUnion | None]":
    """A query in one phrasing of such rows; and what it is (None: something else).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        settle: a query in the words that are read.
        read: reads a query of which the columns at some places may be NULL.
    """
    tree = nest_beside(tree, catalog)
    if (beside := read_latest_beside(tree, catalog, settle)) is not None:
        return tree, pad_latest(beside, read)
    return tree, unite_never(tree, catalog, settle, read)
