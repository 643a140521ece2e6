"""The latest row of a stream beside each row of static relations, however it is written."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.beside.latest_beside import read_latest_beside
from ontoweir.rewriter.beside.nest_beside import nest_beside
from ontoweir.rewriter.beside.pad_latest import pad_latest
from ontoweir.rewriter.beside.unite_never import unite_never
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.nulls.null_places import NullPlaces
from ontoweir.rewriter.windows.read_sql_windows import is_now

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

    Raises:
        SqlRefusal: it is of several latest rows, or says more.
    """
    from sqlglot import exp

    around = [p for k in ("where", "having") if (p := tree.args.get(k)) is not None]
    if any(is_now(n) for p in around for n in p.walk(prune=lambda n: isinstance(n, exp.Query))):
        return tree, None  # groups of the greatest time are compared with it
    tree = nest_beside(tree, catalog)
    _refuse_several(tree)
    if (beside := read_latest_beside(tree, catalog, settle)) is not None:
        return tree, pad_latest(beside, read)
    return tree, unite_never(tree, catalog, settle, read)


def _refuse_several(tree: "exp.Query") -> None:
    """Raise SqlRefusal for several latest rows beside one row."""
    from sqlglot import exp

    latest = [
        join
        for join in tree.args.get("joins") or ()
        if str(join.args.get("side") or "").upper() == "LEFT"
        and isinstance(join.this, exp.Subquery)
        and (qualify := join.this.this.args.get("qualify")) is not None
        and any(map(is_number, qualify.find_all(exp.Window)))
    ]
    if len(latest) > 1:
        raise SqlRefusal(
            " and ".join(f"the latest rows {j.this.alias_or_name}" for j in latest[:2])
            + " beside rows of static relations",
            why="beside a row of a static relation the latest row of one stream is kept, of which "
            "the next one takes the place",
            fix="write a query for each; of one stream, show several columns of one latest row",
            line=line_of(latest[1].this),
        )
