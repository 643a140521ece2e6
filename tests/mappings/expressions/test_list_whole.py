"""What doubles between two ends are rounded to, beside what is computed of many of them."""

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest

from ontoweir.mappings.expressions.domains.list_whole import list_whole
from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.expressions.value_types import to_array, to_scalars
from ontoweir.mappings.model.catalog import ColumnType, DecimalType, FloatType, IntType, Scalar
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value

KINDS: tuple[ColumnType, ...] = (FloatType(), IntType(), DecimalType(8, 2))
REAL = FloatType()


def make_inner(random: Random, kind: ColumnType) -> Expression:
    made: Expression = Field("x", kind)
    if not isinstance(kind, FloatType):
        made = Call(Function.CAST, (made,), REAL)
    for _ in range(random.randint(0, 3)):
        number = Value(random.choice([0.1, -3.0, 7.5, 10.0, 1e-3]), REAL)
        match random.randrange(5):
            case 0:
                made = Call(Function.NEGATE, (made,), REAL)
            case 1:
                made = Call(Function.DIVIDE, (made, number), REAL)
            case 2:
                made = Call(Function.SUBTRACT, (number, made), REAL)
            case n:
                of = Function.ADD if n == 3 else Function.MULTIPLY
                made = Call(of, (made, number), REAL)
    return made


def make_expression(random: Random, kind: ColumnType) -> Expression:
    function = random.choice([Function.FLOOR, Function.CEIL, Function.ROUND, Function.ROUND_UP])
    inner = make_inner(random, kind)
    places = (Value(0, IntType()),) if function is Function.ROUND else ()
    made: Expression = Call(function, (inner, *places), REAL)
    if random.random() < 0.5:
        made = Call(Function.MULTIPLY, (made, Value(10.0, REAL)), REAL)
    return made


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_all_values_are_listed(kind: ColumnType) -> None:
    listed = 0
    for seed in range(60):
        random = Random(seed)
        low = Fraction(random.randint(-3000, 3000), 100)
        high = low + Fraction(random.randint(0, 5000), 100)
        if isinstance(kind, IntType):
            low, high = Fraction(int(low)), Fraction(int(low) + int(high - low))
        expression = make_expression(random, kind)
        ends = {"x": (low, high)}
        found = list_whole(expression, ends.get)
        if found is None:
            continue
        listed += 1
        near = [low + (high - low) * random.randint(0, 1000) / 1000 for _ in range(300)]
        given: list[Scalar | None] = [float(n) for n in (low, high, *near)]
        if isinstance(kind, IntType):
            given = [int(n) for n in (low, high, *near)]
        if isinstance(kind, DecimalType):
            given = [_cents(n) for n in (low, high, *near)]
        made = evaluate(expression, {"x": to_array(given, kind)}, len(given))
        assert {*to_scalars(made, REAL)} <= {*found.values, None}, expression
    assert listed > 20


def _cents(number: Fraction) -> Decimal:
    return Decimal(int(number * 100)).scaleb(-2)


def test_what_is_read_otherwise_is_not_listed() -> None:
    x = Field("x", REAL)
    floor = Call(Function.FLOOR, (x,), REAL)
    both = Call(Function.ADD, (floor, x), REAL)
    square = Call(Function.FLOOR, (Call(Function.MULTIPLY, (x, x), REAL),), REAL)
    tenths = Call(Function.ROUND, (x, Value(1, IntType())), REAL)
    ends = Fraction(0), Fraction(9)
    assert list_whole(floor, lambda _: ends) is not None
    for other in (both, square, tenths, x):
        assert list_whole(other, lambda _: ends) is None
    assert list_whole(floor, lambda _: (None, Fraction(9))) is None
