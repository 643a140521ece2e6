"""Times, and numbers of their differences, as sums of times and what lies between two numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ontoweir.mappings.model.catalog import DateType, DecimalType, FloatType, IntType, TimestampType
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.event_times.read_cut import WIDTHS_US

_NONE = Fraction(0)
_LONGEST = 1 << 63
"""No time is so many µs before or after 1970."""
_NUMBERS = (IntType, DecimalType, FloatType)


@dataclass(frozen=True, slots=True)
class Sum:
    """So often each time, in µs since 1970, and a number from `low` to `high`."""

    times: Mapping[str, Fraction]
    low: Fraction = _NONE
    high: Fraction = _NONE

    def plus(self, other: "Sum", often: int = 1) -> "Sum":
        """The sum of both, of the other one so often."""
        more = other.times_number(Fraction(often))
        times = dict(self.times)
        for name, count in more.times.items():
            times[name] = times.get(name, _NONE) + count
        return Sum(times, self.low + more.low, self.high + more.high)

    def times_number(self, number: Fraction) -> "Sum":
        """The product with a number."""
        ends = sorted((self.low * number, self.high * number))
        return Sum({n: k * number for n, k in self.times.items()}, *ends)

    def widened(self, below: Fraction, above: Fraction) -> "Sum":
        """What is at most so much less, or more."""
        return Sum(self.times, self.low - below, self.high + above)

    def rounded(self) -> "Sum":
        """What may have been rounded to a double."""
        most = max(abs(self.low), abs(self.high))
        most += sum((abs(k) for k in self.times.values()), _NONE) * _LONGEST
        return self.widened(most / (1 << 52), most / (1 << 52))


def add_up(tree: Expression) -> Sum | None:
    """An expression of times, and of numbers, as a sum of these (None: it is none)."""
    match tree:
        case Field(column=name, type=TimestampType()):
            return Sum({name: Fraction(1)})
        case Value(value=value, type=type_) if value is not None and isinstance(type_, _NUMBERS):
            number = Fraction(value) if isinstance(value, float) else Fraction(str(value))
            return Sum({}, number, number)
        case Call(function=Function.EPOCH_US, arguments=(inner,)):
            return add_up(inner)
        case Call(function=Function.TRUNCATE, arguments=(Value(value=str() as unit), inner)):
            return _cut(add_up(inner), WIDTHS_US[unit][1]) if unit in WIDTHS_US else None
        case Call(function=Function.BIN, arguments=(inner, Value(value=int() as width), _)):
            return _cut(add_up(inner), width)
        case Call(function=Function.CAST | Function.TRY_CAST, arguments=(inner,)):
            return _cast(tree, inner)
        case Call(function=Function.NEGATE, arguments=(inner,)):
            made = add_up(inner)
            return None if made is None else made.times_number(Fraction(-1))
        case Call(function=Function.FLOOR | Function.CEIL | Function.ROUND, arguments=(inner,)):
            made = add_up(inner)
            return None if made is None else made.widened(Fraction(1), Fraction(1))
        case Call(arguments=(left, right)):
            return _combine(tree, left, right)
        case _:
            return None


def _cut(of: Sum | None, width_us: int) -> Sum | None:
    """Where that begins which a time lies in, and which is at most so long."""
    return None if of is None else of.widened(Fraction(width_us - 1), _NONE)


def _cast(tree: Call, inner: Expression) -> Sum | None:
    made = add_up(inner)
    match tree.type:
        case DateType() if isinstance(inner.type, TimestampType):
            return _cut(made, WIDTHS_US["day"][1])
        case TimestampType() if isinstance(inner.type, DateType):
            return made
        case FloatType() if isinstance(inner.type, _NUMBERS):
            return None if made is None else made.rounded()
        case IntType() | DecimalType() if isinstance(inner.type, (IntType, DecimalType)):
            return made if _scale(tree) >= _scale(inner) else None  # it is rounded
        case _:
            return None


def _combine(tree: Call, left: Expression, right: Expression) -> Sum | None:
    """A sum, a difference, a product with a number, or a quotient by one."""
    one, other = add_up(left), add_up(right)
    if one is None or other is None or not isinstance(tree.type, (TimestampType, *_NUMBERS)):
        return None
    exact = max(map(_scale, (left, right)))
    made: Sum | None = None
    match tree.function:
        case Function.ADD_US | Function.ADD:
            made = one.plus(other)
        case Function.SUBTRACT:
            made = one.plus(other, -1)
        case Function.MULTIPLY:
            exact = _scale(left) + _scale(right)
            some, number = (
                (other, _number(one)) if _number(one) is not None else (one, _number(other))
            )
            made = None if number is None else some.times_number(number)
        case Function.DIVIDE | Function.INTEGER_DIVIDE:
            number, exact = _number(other), 0
            if number:
                made = one.times_number(1 / number).widened(Fraction(1), Fraction(1))
        case _:
            pass
    if made is None or (not isinstance(tree.type, FloatType) and _scale(tree) < exact):
        return None
    return made.rounded() if isinstance(tree.type, FloatType) else made


def _number(of: Sum) -> Fraction | None:
    """The number that a sum without times is."""
    return of.low if not any(of.times.values()) and of.low == of.high else None


def _scale(expression: Expression) -> int:
    """How many places a number has, behind the point."""
    return expression.type.scale if isinstance(expression.type, DecimalType) else 0
