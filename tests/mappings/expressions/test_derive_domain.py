"""Domains of what is computed of a time: every value lies in it."""

from datetime import UTC, datetime, timedelta
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.expressions.domains.derive_domain import Range, derive_domain
from ontoweir.mappings.expressions.domains.evaluate_all import Finite
from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.expression import Call, Case, Expression, Field, Function, Value

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.integers(-(10**15), 4 * 10**15)


def formatted(text: str) -> Call:
    arguments = (Field("ts", TimestampType()), Value(text, StringType()))
    return Call(Function.FORMAT, arguments, StringType())


@pytest.mark.parametrize(
    ("text", "most"),
    [("%H", 24), ("%H:%M", 1440), ("%m-%d", 372), ("day %d, %H h", 744), ("at T", 1)],
)
@given(us=st.lists(TIMES, min_size=1, max_size=20))
def test_formats_without_years_have_few_values(text: str, most: int, us: list[int]) -> None:
    call = formatted(text)
    domain = derive_domain(call, ())
    assert isinstance(domain, Finite)
    assert len(domain.values) == most
    times = pa.array([EPOCH + timedelta(microseconds=n) for n in us], pa.timestamp("us"))
    assert set(evaluate(call, {"ts": times}, len(us)).to_pylist()) <= domain.values


@pytest.mark.parametrize("text", ["%Y", "%Y-%m", "%H:%M:%S", "%m-%d %H"])
def test_others_are_not_listed(text: str) -> None:
    assert derive_domain(formatted(text), ()) is None


@given(us=st.lists(TIMES, min_size=1, max_size=20))
def test_texts_of_parts_of_times_have_few_values(us: list[int]) -> None:
    hour = Call(Function.HOUR, (Field("ts", TimestampType()),), IntType())
    text = Call(Function.CAST, (hour,), StringType())
    call = Call(Function.CONCAT, (Value("h ", StringType()), text), StringType())
    domain = derive_domain(call, ())
    assert isinstance(domain, Finite)
    assert len(domain.values) == 24
    times = pa.array([EPOCH + timedelta(microseconds=n) for n in us], pa.timestamp("us"))
    assert set(evaluate(call, {"ts": times}, len(us)).to_pylist()) <= domain.values


INT, TRUTH = IntType(), BooleanType()
SIGNS = [Function(c) for c in ("=", "<>", "<", "<=", ">", ">=")]


def draw_number(random: Random) -> Expression:
    return Value(random.randint(-4, 4), INT)


def draw_condition(random: Random, depth: int) -> Expression:
    if depth and random.random() < 0.6:
        made = random.choice([Function.AND, Function.OR, Function.NOT])
        count = 1 if made is Function.NOT else 2
        return Call(made, tuple(draw_condition(random, depth - 1) for _ in range(count)), TRUTH)
    never: Expression = Call(Function.EQUAL, (Value(1, INT), Value(2, INT)), TRUTH)
    nothing = Case(((never, Value(3, INT)),), Value(None, INT), INT)
    number = draw_number(random) if random.random() < 0.95 else nothing  # which is no number
    sides: list[Expression] = [Field(random.choice("xy"), INT), number]
    random.shuffle(sides)
    return Call(random.choice(SIGNS), tuple(sides), TRUTH)


def draw_value(random: Random, depth: int) -> Expression:
    kind = random.random()
    if not depth or kind < 0.2:
        return random.choice([Field("x", INT), Field("y", INT), draw_number(random)])
    if kind < 0.5:
        made = random.choice([Function.GREATEST, Function.LEAST])
        return Call(made, (draw_value(random, depth - 1), draw_value(random, depth - 1)), INT)
    count = random.randint(1, 2)
    branches = [(draw_condition(random, 2), draw_value(random, depth - 1)) for _ in range(count)]
    return Case(tuple(branches), draw_value(random, depth - 1), INT)


def test_random_choices_have_values_of_their_domain() -> None:
    """CASE, GREATEST and LEAST of columns with a limit or none, which conditions narrow; of NULL,
    too. Some have a range that no column has."""
    numbers = [None, *range(-6, 7)]
    rows = [(x, y) for x in numbers for y in numbers]
    arrays = {c: pa.array([row[n] for row in rows], pa.int64()) for n, c in enumerate("xy")}
    ranges = 0
    for seed in range(1500):
        random = Random(seed)
        least = random.choice([None, -6])
        made, columns = draw_value(random, 3), (Column("x", INT, minimum=least), Column("y", INT))
        domain = derive_domain(made, columns)
        found = {v for v in evaluate(made, arrays, len(rows)).to_pylist() if v is not None}
        if isinstance(domain, Finite):
            assert found <= domain.values, made
        elif isinstance(domain, Range) and found:
            assert domain.low is None or domain.low <= min(found), made
            assert domain.high is None or max(found) <= domain.high, made
            ranges += domain.low not in (None, least) or domain.high is not None
    assert ranges > 60
