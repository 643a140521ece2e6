"""The comparisons of a SELECT that AND, OR and NOT make WHERE and ON of."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def list_comparisons(tree: "exp.Select") -> "Iterator[exp.Expr]":
    """Those of two sides, BETWEEN, and IN of listed values; none within calls or CASE."""
    from sqlglot import exp

    where = tree.args.get("where")
    todo = [] if where is None else [where.this]
    todo += [on for j in tree.args.get("joins") or () if (on := j.args.get("on"))]
    while todo:
        match todo.pop():
            case exp.And(this=left, expression=right) | exp.Or(this=left, expression=right):
                todo += [left, right]
            case exp.Paren(this=inner) | exp.Not(this=inner):
                todo.append(inner)
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE() as node:
                yield node
            case exp.Between() as node if node.args.get("symmetric") is None:
                yield node
            case exp.In() as node if node.expressions:
                yield node
            case _:
                pass
