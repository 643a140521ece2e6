"""The nodes of a SELECT outside its subqueries."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def list_own(select: "exp.Select", kind: "type[exp.Expr]") -> "list[exp.Expr]":
    """The nodes of a kind, but for those in subqueries."""
    from sqlglot import exp

    nodes = select.walk(prune=lambda n: n is not select and isinstance(n, exp.Query))
    return [n for n in nodes if isinstance(n, kind)]
