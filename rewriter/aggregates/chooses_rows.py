"""Queries that number rows, and tell those with the first numbers, as the latest of keys."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp


def chooses_rows(select: "exp.Select") -> bool:
    """Whether a SELECT itself numbers rows, or chooses the latest of keys.

    Args:
        select: without what its subqueries do.
    """
    from sqlglot import exp

    chosen = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.ArgMax, exp.ArgMin)
    return any(list_own(select, kind) for kind in chosen)


def is_numbered(inner: "exp.Query") -> bool:
    """Whether the windows of a query, and of those within, are numbers alone: ROW_NUMBER(), RANK()
    and DENSE_RANK(); but for those of groups of all rows so far.

    Args:
        inner: the query.
    """
    from sqlglot import exp

    numbers = (exp.RowNumber, exp.Rank, exp.DenseRank)
    return all(
        isinstance(w.this, numbers) or is_running(w.find_ancestor(exp.Select))
        for w in inner.find_all(exp.Window)
    )


def is_running(select: "exp.Expr | None") -> bool:
    """Whether a query is of groups of all rows so far: the latest row of each key, with what those
    up to it add up to (run_groups).

    Args:
        select: the query.
    """
    from sqlglot import exp

    if not isinstance(select, exp.Select) or not select.args.get("distinct"):
        return False
    windows = [w for e in select.expressions for w in e.find_all(exp.Window)]
    return any(isinstance(w.this, exp.AggFunc) for w in windows)
