"""Expressions that tell all values of one column apart: which value makes which."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ontoweir.mappings.model.catalog import DecimalType, IntType
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value


@dataclass(frozen=True, slots=True)
class Line:
    """`slope * column + offset`; the slope is not 0."""

    column: str
    slope: Fraction
    offset: Fraction

    def image(self, number: Fraction) -> Fraction:
        """The value where the column has a number."""
        return self.slope * number + self.offset

    def inverse(self, image: Fraction) -> Fraction:
        """The number that the column has where this is the value."""
        return (image - self.offset) / self.slope


def find_line(expression: Expression) -> Line | None:
    """The line that an expression of whole numbers and decimals is; None: it is none.

    >>> x = Field("x", IntType())
    >>> find_line(Call(Function.MULTIPLY, (x, Value(2, IntType())), IntType()))
    Line(column='x', slope=Fraction(2, 1), offset=Fraction(0, 1))
    """
    if not isinstance(expression.type, IntType | DecimalType):
        return None
    match expression:
        case Field(column=column):
            return Line(column, Fraction(1), Fraction(0))
        case Call(function=Function.ADD | Function.SUBTRACT as function, arguments=(left, right)):
            sign = 1 if function is Function.ADD else -1
            if (number := _constant(right)) is not None:
                return _moved(find_line(left), Fraction(1), sign * number)
            if (number := _constant(left)) is not None:
                return _moved(find_line(right), Fraction(sign), number)
            return None
        case Call(function=Function.MULTIPLY, arguments=(left, right)):
            if (number := _constant(right)) is not None:
                return _moved(find_line(left), number, Fraction(0))
            if (number := _constant(left)) is not None:
                return _moved(find_line(right), number, Fraction(0))
            return None
        case Call(function=Function.NEGATE, arguments=(inner,)):
            return _moved(find_line(inner), Fraction(-1), Fraction(0))
        case Call(function=Function.CAST, arguments=(inner,)) if _widens(expression, inner):
            return find_line(inner)
        case _:
            return None


def _constant(expression: Expression) -> Fraction | None:
    if not isinstance(expression, Value) or expression.value is None:
        return None
    return Fraction(Decimal(str(expression.value)))


def _moved(line: Line | None, factor: Fraction, number: Fraction) -> Line | None:
    if line is None or factor == 0:
        return None
    return Line(line.column, line.slope * factor, line.offset * factor + number)


def _widens(cast: Call, inner: Expression) -> bool:
    """Whether a cast keeps every place behind the point."""
    places = [e.type.scale if isinstance(e.type, DecimalType) else 0 for e in (cast, inner)]
    return isinstance(inner.type, IntType | DecimalType) and places[0] >= places[1]
