"""The nodes of a SELECT outside its subqueries."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def list_own(select: "exp.Select", kind: "type[exp.Expr]") -> "list[exp.Expr]":
    """The nodes of a kind, but for those in subqueries."""
    from sqlglot import exp

    nodes = select.walk(prune=lambda n: n is not select and isinstance(n, exp.Query))
    return [n for n in nodes if isinstance(n, kind)]


def list_windows(select: "exp.Select") -> "list[exp.Expr]":
    """The functions over windows, but for those in subqueries; not what WINDOW names."""
    from sqlglot import exp

    return [w for w in list_own(select, exp.Window) if w.arg_key != "windows"]


def is_place(window: "exp.Expr") -> bool:
    """Whether it says where a row lies among others in an order: its number, rank, share or
    part."""
    from sqlglot import exp

    return is_number(window) or isinstance(window.this, (exp.PercentRank, exp.CumeDist, exp.Ntile))


def is_number(window: "exp.Expr") -> bool:
    """Whether it is the number, or rank, of a row."""
    from sqlglot import exp

    return isinstance(window.this, (exp.RowNumber, exp.Rank, exp.DenseRank))
