"""EXISTS, and IN of a subquery, compared with TRUE and FALSE."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def compare_presence(tree: "exp.Query") -> None:
    """Say `EXISTS (q)` for `EXISTS (q) = TRUE`, and `NOT EXISTS (q)` for `EXISTS (q) = FALSE`, with
    `=`, `<>`, `IS` and `IS NOT DISTINCT FROM`, on either side; IN of a subquery likewise. The query
    is changed in place.

    IN may be neither true nor false: `=` and `<>` are unknown then as it is itself, which IS never
    is; so IS is read where what is unknown counts as false: in WHERE, below AND and OR alone.
    """
    from sqlglot import exp

    for node in list(tree.find_all(exp.EQ, exp.NEQ, exp.Is, exp.NullSafeEQ)):
        for asked, constant in ((node.this, node.expression), (node.expression, node.this)):
            inner, value = asked.unnest(), constant.unnest()
            if not isinstance(value, exp.Boolean) or not _asks(inner):
                continue
            three = isinstance(node, (exp.EQ, exp.NEQ)) or isinstance(_asserted(inner), exp.Exists)
            if not three and not _is_condition(node):
                continue
            same = bool(value.this) != isinstance(node, exp.NEQ)
            node.replace(inner.copy() if same else exp.Not(this=inner.copy()))
            break


def _asks(node: "exp.Expr") -> bool:
    """Whether it is EXISTS, or IN of a subquery, or its negation."""
    from sqlglot import exp

    inner = _asserted(node)
    return isinstance(inner, exp.Exists) or (
        isinstance(inner, exp.In) and inner.args.get("query") is not None
    )


def _asserted(node: "exp.Expr") -> "exp.Expr":
    """What a condition says or denies."""
    from sqlglot import exp

    while isinstance(node, (exp.Not, exp.Paren)):
        node = node.this
    return node


def _is_condition(node: "exp.Expr") -> bool:
    """Whether it is in WHERE, below AND and OR alone."""
    from sqlglot import exp

    above = node.parent
    while isinstance(above, (exp.And, exp.Or, exp.Paren)):
        above = above.parent
    return isinstance(above, exp.Where)
