"""The breakpoints that partners of which finitely many values are known set (theory §8).

Between two breakpoints every comparison comes out alike, and so it does on a breakpoint.
"""

from collections.abc import Sequence
from fractions import Fraction

from ontoweir.checker.model.normal_form import Inequality, Kind, ValueClass
from ontoweir.checker.model.plan import Break, Constants, Grid, StaticValues


def break_at(
    classes: Sequence[ValueClass], unit: int, value: int, other: int, shift: int | Fraction
) -> Break | None:
    """The breakpoints that a class `other` sets for `value`, at its values plus a shift; None
    where they are not known, or where doubles plus a shift would not be exact."""
    group, partner = classes[value], classes[other]
    domain = partner.domain
    dense = group.grain == 0 or partner.grain == 0
    if dense and shift != 0:
        return None
    if partner.kind is Kind.STRING:
        if shift != 0:
            return None
    elif (
        domain.low is not None
        and domain.high is not None
        and (partner.grain > 0 or domain.low == domain.high)
    ):
        if not partner.grain:
            return _point(domain.low, unit)
        step = partner.grain
        count = (domain.high - domain.low) // step + 1
        if not domain.within or domain.size is None or count <= domain.size:
            return Grid(domain.low + shift, domain.high + shift, step)
    if domain.values is not None:
        return Constants(domain.values, shift)
    if domain.within:
        table, column = domain.within[0]
        return StaticValues(table, column, shift, domain.size)
    return None


def break_for(classes: Sequence[ValueClass], unit: int, value: int, q: Inequality) -> Break | None:
    """The breakpoints that an inequality's other side sets for a class."""
    other, shift = (q.y, q.limit) if q.x == value else (q.x, -q.limit)
    point = break_at(classes, unit, value, other, shift)
    return point or _overlap(unit, value, classes[q.x], classes[q.y], q)


def break_unequal(
    classes: Sequence[ValueClass], unit: int, value: int, other: int, shift: int | Fraction
) -> Break | None:
    """The breakpoints that a class must not equal: those of its partner, or where both lie."""
    point = break_at(classes, unit, value, other, shift)
    return point or overlap_unequal(classes, unit, value, other, shift)


def overlap_unequal(
    classes: Sequence[ValueClass], unit: int, value: int, other: int, shift: int | Fraction
) -> Break | None:
    """Where one side has a least and the other a greatest value: only between them, `value` can
    equal `other` plus a shift."""
    x, y = classes[value], classes[other]
    if x.kind is Kind.STRING or y.kind is Kind.STRING:
        return None
    lows = [x.domain.low, None if y.domain.low is None else y.domain.low + shift]
    highs = [x.domain.high, None if y.domain.high is None else y.domain.high + shift]
    low = max((n for n in lows if n is not None), default=None)
    high = min((n for n in highs if n is not None), default=None)
    if low is None or high is None:
        return None
    step = x.grain
    if not x.grain or not y.grain:
        if shift != 0:
            return None
        step = x.grain or y.grain
    if step:
        first = -(-low // step) * step
        return Grid(first, high, step)
    return _point(low, unit) if high <= low else None


def _overlap(unit: int, value: int, x: ValueClass, y: ValueClass, q: Inequality) -> Break | None:
    """Where x has a greatest and y a least value, only what lies between them matters."""
    high, low = x.domain.high, y.domain.low
    if high is None or low is None:
        return None
    first, last = (low + q.limit, high) if value == x.index else (low, high - q.limit)
    if x.grain > 0 and y.grain > 0:
        return Grid(first, last, min(x.grain, y.grain))
    if q.limit == 0 and high <= low:
        return _point(low, unit)
    return None


def _point(number: int | Fraction, unit: int) -> Break:
    """One breakpoint among doubles, which between units are rounded as a constant is."""
    if number == int(number):
        return Grid(number, number, unit)
    return Constants((float(Fraction(number) / unit),), 0)
