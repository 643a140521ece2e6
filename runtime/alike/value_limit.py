"""What a plan alone asks of one value: the constants of its comparisons, IN-lists and domains."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import assert_never

from ontoweir.checker.model.normal_form import Domain, Kind, NormalForm
from ontoweir.checker.model.units import Units
from ontoweir.mappings.model.catalog import Scalar
from ontoweir.rewriter.model.spj import Attribute, Compare, Condition, Constant, OneOf, Op

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
"""The numbers of 64 bits."""


@dataclass(frozen=True, slots=True)
class ValueLimit:
    """`low`, `high`: the least and the greatest number (units); `among`: the texts, or numbers, of
    which it is one (None: any); `but`: of which it is none."""

    low: int = LEAST
    high: int = GREATEST
    among: frozenset[str | int] | None = None
    but: frozenset[str | int] = frozenset()

    def both(self, other: "ValueLimit") -> "ValueLimit":
        """What keeps this limit and another."""
        among = self.among if other.among is None else other.among
        if self.among is not None and other.among is not None:
            among = self.among & other.among
        low, high = max(self.low, other.low), min(self.high, other.high)
        return ValueLimit(low, high, among, self.but | other.but)

    def fit(self) -> "ValueLimit":
        """The same, of numbers of 64 bits; where there is none, the least is greater."""
        if self.low > min(self.high, GREATEST) or self.high < LEAST:
            return ValueLimit(1, 0, self.among, self.but)
        return ValueLimit(max(self.low, LEAST), min(self.high, GREATEST), self.among, self.but)

    def holds(self, value: str | int) -> bool:
        """Whether a value is among those that are allowed by name, and none of those that are
        not."""
        return (self.among is None or value in self.among) and value not in self.but


def limit_of(condition: Condition, form: NormalForm) -> tuple[Attribute, ValueLimit] | None:
    """The values that a condition lets through, where it compares a number or a text with constants
    (None: it is no such condition)."""
    match condition:
        case Compare(left=left, op=op, right=Constant(value=constant)):
            return _compare(left, op, constant, form)
        case OneOf(attribute=left, values=values) if form.kinds.get(left) in _NAMED:
            held = _among(values, form.kinds[left], form, 0)
            return None if held is None else (left, ValueLimit(among=held))
        case _:
            return None


_NAMED = (Kind.STRING, Kind.NUMBER)


def _compare(
    left: Attribute, op: Op, constant: Scalar, form: NormalForm
) -> tuple[Attribute, ValueLimit] | None:
    kind = form.kinds.get(left)
    if kind is Kind.STRING and op in (Op.EQ, Op.NE):
        text = frozenset([str(constant)])
        return left, ValueLimit(among=text) if op is Op.EQ else ValueLimit(but=text)
    if kind is not Kind.NUMBER:
        return None
    try:
        number = Units(form.unit, {}, form.floats).value(constant, Kind.NUMBER)
    except (ValueError, OverflowError):  # no finite number
        return None
    return left, _between(op, number)


def _between(op: Op, number: int | Fraction) -> ValueLimit:
    """The whole numbers that are in an order with a number."""
    match op:
        case Op.LT:
            return ValueLimit(high=ceil(number) - 1)
        case Op.LE:
            return ValueLimit(high=floor(number))
        case Op.GT:
            return ValueLimit(low=floor(number) + 1)
        case Op.GE:
            return ValueLimit(low=ceil(number))
        case Op.EQ:
            return ValueLimit(ceil(number), floor(number))
        case Op.NE:
            return ValueLimit(but=_whole([number]))
        case _:
            assert_never(op)


def limit_of_domain(
    domain: Domain, kind: Kind, shift: Fraction | int, form: NormalForm
) -> ValueLimit | None:
    """The values that an attribute of a class may have by the class's domain; `shift`: what it has
    more than the class (None: they cannot be told)."""
    among = None
    if domain.values is not None:
        among = _among(domain.values, kind, form, shift)
        if among is None:
            return None
    if kind is Kind.STRING:
        return ValueLimit(among=among)
    low, high = domain.low, domain.high
    return ValueLimit(
        LEAST if low is None else ceil(low + shift),
        GREATEST if high is None else floor(high + shift),
        among,
    )


def _among(
    values: tuple[Scalar, ...], kind: Kind, form: NormalForm, shift: Fraction | int
) -> frozenset[str | int] | None:
    """Constants as texts, or as whole numbers in units (None: they cannot be told)."""
    if kind is Kind.STRING:
        return frozenset(map(str, values))
    units = Units(form.unit, {}, form.floats)
    try:
        return _whole([units.value(v, kind) + shift for v in values])
    except (ValueError, OverflowError):
        return None


def _whole(numbers: "list[int | Fraction]") -> frozenset[str | int]:
    """Those that a column of whole numbers may have."""
    return frozenset(
        int(n) for n in numbers if Fraction(n).denominator == 1 and LEAST <= n <= GREATEST
    )
