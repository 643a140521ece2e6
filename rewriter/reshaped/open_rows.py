"""Comparisons of rows of values: (a, b) IN ((1, 2), (3, 4)), (a, b) = (c, d), (a, b) < (1, 2)."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def open_rows(tree: "exp.Query") -> "exp.Query":
    """A query that compares values where this one compares rows of as many; it is changed in place.

    As in standard SQL, rows are equal where all their values are, and one is less than another
    where the first values that differ are; what is compared with NULL is unknown. Rows of several
    lengths, and those of subqueries, stay.

    Args:
        tree: the query, with names as they were written.
    """
    from sqlglot import exp

    for node in list(tree.find_all(exp.In, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
        made = _open_list(node) if isinstance(node, exp.In) else _open_compared(node)
        if made is not None:
            node.replace(exp.paren(made))
    return tree


def _open_list(node: "exp.In") -> "exp.Expr | None":
    """(a, b) IN ((1, 2), …): it equals one of these (None: it is of something else)."""
    from sqlglot import exp

    mine, others = _values(node.this), [_values(e) for e in node.expressions]
    if mine is None or not others or any(o is None or len(o) != len(mine) for o in others):
        return None
    return exp.or_(*(_equal(mine, other) for other in others if other is not None))


def _open_compared(node: "exp.Expr") -> "exp.Expr | None":
    """A comparison of two rows of values (None: it is of something else)."""
    from sqlglot import exp

    mine, other = _values(node.this), _values(node.expression)
    if mine is None or other is None or len(mine) != len(other):
        return None
    match node:
        case exp.EQ():
            return _equal(mine, other)
        case exp.NEQ():
            return exp.Not(this=exp.paren(_equal(mine, other)))
        case exp.LT() | exp.LTE():
            strict: type[exp.Binary] = exp.LT
        case _:
            strict = exp.GT
    pairs = [(a.copy(), b.copy()) for a, b in zip(mine, other, strict=True)]
    last = type(node)(this=pairs[-1][0], expression=pairs[-1][1])

    def before(rest: "exp.Expr", pair: "tuple[exp.Expr, exp.Expr]") -> "exp.Expr":
        one, two = pair
        less = strict(this=one.copy(), expression=two.copy())
        return exp.or_(less, exp.and_(exp.EQ(this=one, expression=two), rest))

    return reduce(before, reversed(pairs[:-1]), last)


def _values(tree: "exp.Expr") -> "Sequence[exp.Expr] | None":
    """The values of a row of several (None: it is none, or reads a query)."""
    from sqlglot import exp

    inner = tree.unnest()
    row = isinstance(inner, exp.Tuple) and inner.find(exp.Query) is None
    return inner.expressions if row and len(inner.expressions) > 1 else None


def _equal(mine: "Sequence[exp.Expr]", other: "Sequence[exp.Expr]") -> "exp.Expr":
    from sqlglot import exp

    pairs = zip(mine, other, strict=True)
    return exp.and_(*(exp.EQ(this=a.copy(), expression=b.copy()) for a, b in pairs))
