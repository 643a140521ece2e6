"""The comparisons of a SELECT that AND, OR and NOT make WHERE and ON of."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from

if TYPE_CHECKING:
    from sqlglot import exp


def change_comparisons(
    tree: "exp.Select",
    catalog: Catalog,
    may_change: "Callable[[exp.Expr], bool]",
    change: "Callable[[exp.Expr, Scope], exp.Expr | None]",
) -> "exp.Select":
    """A copy of a SELECT, each of whose comparisons is what `change` makes of it (None: itself).

    Args:
        tree: a SELECT without subqueries.
        catalog: the tables.
        may_change: whether one is looked at, which needs the tables of FROM.
        change: what stands for one.
    """
    tree = tree.copy()
    found = [node for node in _list_comparisons(tree) if may_change(node)]
    if not found:
        return tree
    try:
        scope, _, _ = read_from(tree.copy(), catalog)
    except SqlRefusal:  # said where it is read
        return tree
    for node in found:
        if (made := change(node, scope)) is not None:
            node.replace(made)
    return tree


def _list_comparisons(tree: "exp.Select") -> "Iterator[exp.Expr]":
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
