"""A comparison of several rows as one of columns: each side is computed of one row."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TypeAlias

from ontoweir.errors import Source
from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import DecimalType, FloatType, IntType
from ontoweir.mappings.model.expression import Call, Expression, Function, Value, fields_of
from ontoweir.rewriter.model.spj import Attribute, Compare, Op

Locate: TypeAlias = Callable[[Expression], str | None]
"""The alias of the row that an expression is of; None: it is of several."""
Derive: TypeAlias = Callable[[Expression], Attribute]
"""The column that an expression of one row is."""

_OPS = {Function(op): op for op in Op}
NEGATED = {
    Op.EQ: Op.NE,
    Op.NE: Op.EQ,
    Op.LT: Op.GE,
    Op.GE: Op.LT,
    Op.GT: Op.LE,
    Op.LE: Op.GT,
}
"""What is true of two values where a comparison of them is false."""


class RoundedError(Exception):
    """A sum of doubles of several rows, which is rounded: moving a part of it to the other side
    would compare other numbers."""


def compare_rows(
    condition: Expression, locate: Locate, derive: Derive, source: Source | None
) -> Compare | None:
    """A condition that compares expressions of two rows, as a comparison of columns; whole numbers
    and decimals are moved to the side of their row.

    Args:
        condition: true or false, over columns of several rows.
        locate: finds the row of an expression.
        derive: makes a column.
        source: of the comparison.

    Returns:
        the comparison, or None: it is no comparison of two rows.

    Raises:
        RoundedError: a side adds up doubles of several rows.
        TypeClash: a sum has too many digits.
    """
    negated = False
    while isinstance(condition, Call) and condition.function is Function.NOT:
        negated, condition = not negated, condition.arguments[0]
    if not isinstance(condition, Call) or condition.function not in _OPS:
        return None
    op = _OPS[condition.function]
    op = NEGATED[op] if negated else op
    left, right = condition.arguments
    sides = (left, right)
    if all(fields_of(side) and locate(side) is not None for side in sides):
        first, second = (derive(_strip_cast(side)) for side in sides)
        return Compare(first, op, second, source=source)
    sums = _split_rows(left, right, locate)
    if sums is None:
        return None
    one, other, offset = sums
    return Compare(derive(one), op, derive(other), offset, source)


def _split_rows(
    left: Expression, right: Expression, locate: Locate
) -> tuple[Expression, Expression, int | Decimal] | None:
    """Sums whose terms are of two rows: those of one, of the other, and what is added to these."""
    terms = [*_list_terms(left, 1), *_list_terms(right, -1)]
    if any(isinstance(t.type, FloatType) for _, t in terms):
        if sum(not isinstance(t, Value) for _, t in terms) > 1:
            raise RoundedError
        return None
    offset = Decimal(0)
    rows: dict[str, Expression] = {}
    for sign, term in terms:
        alias = None if isinstance(term, Value) else locate(term)
        if not isinstance(term.type, IntType | DecimalType):
            return None
        if isinstance(term, Value) and term.value is not None:
            offset -= sign * Decimal(str(term.value))
            continue
        if alias is None:
            return None
        before = rows.get(alias)
        if before is None:
            made = term if sign > 0 else build.same_type(Function.NEGATE, term)
        else:
            made = build.arithmetic(Function.ADD if sign > 0 else Function.SUBTRACT, before, term)
        rows[alias] = made
    if len(rows) != 2:
        return None
    one, other = rows.values()
    whole = offset == offset.to_integral_value()
    return one, _negate(other), int(offset) if whole else offset


def _negate(sum_: Expression) -> Expression:
    """The negative of a sum; of one that is negated already, what it is of."""
    if isinstance(sum_, Call) and sum_.function is Function.NEGATE:
        return sum_.arguments[0]
    return build.same_type(Function.NEGATE, sum_)


def _list_terms(expression: Expression, sign: int) -> Iterator[tuple[int, Expression]]:
    """The terms of a sum with their signs; a cast that keeps every value is left out."""
    match expression:
        case Call(function=Function.ADD, arguments=(left, right)):
            yield from _list_terms(left, sign)
            yield from _list_terms(right, sign)
        case Call(function=Function.SUBTRACT, arguments=(left, right)):
            yield from _list_terms(left, sign)
            yield from _list_terms(right, -sign)
        case Call(function=Function.NEGATE, arguments=(inner,)):
            yield from _list_terms(inner, -sign)
        case Call(function=Function.CAST, arguments=(inner,)) if _widens(expression, inner):
            yield from _list_terms(inner, sign)
        case _:
            yield sign, expression


def _strip_cast(side: Expression) -> Expression:
    """An exact number without the cast that gives it the type of the other side."""
    while isinstance(side, Call) and side.function is Function.CAST:
        (inner,) = side.arguments
        if not _widens(side, inner):
            break
        side = inner
    return side


def _widens(cast: Expression, inner: Expression) -> bool:
    """Whether a cast of an exact number keeps all its places."""
    kinds = (cast.type, inner.type)
    if not all(isinstance(k, IntType | DecimalType) for k in kinds):
        return False
    scales = [k.scale if isinstance(k, DecimalType) else 0 for k in kinds]
    return scales[0] >= scales[1]
