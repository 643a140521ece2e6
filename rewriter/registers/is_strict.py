"""Whether an expression is NULL where some columns are, or a condition is not true there."""

from collections.abc import Set
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def is_strict(tree: "exp.Expr", hidden: Set[tuple[str, str]]) -> bool:
    """Whether an expression is NULL where some columns, by alias and name, are NULL.

    Args:
        tree: its columns say of which table they are.
        hidden: these columns.
    """
    from sqlglot import exp

    match tree:
        case exp.Column():
            return (tree.table, tree.name) in hidden
        case exp.Paren() | exp.Neg() | exp.Cast() | exp.Abs() | exp.Round() | exp.Not():
            return is_strict(tree.this, hidden)
        case exp.And() | exp.Or():  # NULL AND FALSE is FALSE
            return is_strict(tree.this, hidden) and is_strict(tree.expression, hidden)
        case (
            exp.Add()
            | exp.Sub()
            | exp.Mul()
            | exp.Div()
            | exp.EQ()
            | exp.NEQ()
            | exp.LT()
            | exp.LTE()
            | exp.GT()
            | exp.GTE()
        ):
            return is_strict(tree.this, hidden) or is_strict(tree.expression, hidden)
        case exp.Between() | exp.In() | exp.Like():
            return is_strict(tree.this, hidden)
        case exp.Case(this=None):
            chosen = [branch.this for branch in tree.args["ifs"]]
            return tree.args.get("default") is None and all(never_true(c, hidden) for c in chosen)
        case _:
            return False


def never_true(condition: "exp.Expr", hidden: Set[tuple[str, str]]) -> bool:
    """Whether a condition is NULL or false where some columns are NULL."""
    from sqlglot import exp

    match condition:
        case exp.Paren():
            return never_true(condition.this, hidden)
        case exp.And():
            return never_true(condition.this, hidden) or never_true(condition.expression, hidden)
        case exp.Or():
            return never_true(condition.this, hidden) and never_true(condition.expression, hidden)
        case _:
            return is_strict(condition, hidden)


def adds_nothing(tree: "exp.Expr", hidden: Set[tuple[str, str]]) -> bool:
    """Whether an expression is 0, or NULL, where some columns are NULL: CASE … ELSE 0."""
    from sqlglot import exp

    if not isinstance(tree, exp.Case) or tree.this is not None:
        return is_strict(tree, hidden)
    default = tree.args.get("default")
    zero = isinstance(default, exp.Literal) and default.name == "0"
    chosen = [branch.this for branch in tree.args["ifs"]]
    return zero and all(never_true(c, hidden) for c in chosen)
