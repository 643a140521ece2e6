"""What has to have a value for an expression of a joined row to have one."""

from collections.abc import Set
from typing import TYPE_CHECKING

from ontoweir.rewriter.registers.is_strict import is_strict

if TYPE_CHECKING:
    from sqlglot import exp


def require_values(tree: "exp.Expr", sure: Set[str]) -> "tuple[set[str], exp.Expr | None]":
    """The columns without which an expression has no value; and the expression, where it may have
    none for others of its columns, which are not declared to be NULL, and for nothing else.

    Args:
        tree: an expression of the columns of a joined row.
        sure: the columns that are not declared to be NULL.
    """
    from sqlglot import exp

    read = {c.name for c in tree.find_all(exp.Column)}
    strict = {c for c in read if is_strict(tree, frozenset({("", c)}))}
    if strict == read or not read <= sure or any(map(_may_be_null, tree.walk())):
        return strict, None
    return strict, tree.copy()


def _may_be_null(node: "exp.Expr") -> bool:
    """Whether a part of an expression may be NULL where its own parts are not."""
    from sqlglot import exp

    if isinstance(node, exp.Case):
        return node.args.get("default") is None
    return isinstance(node, exp.Null | exp.Nullif | exp.TryCast | exp.Div | exp.Anonymous)
