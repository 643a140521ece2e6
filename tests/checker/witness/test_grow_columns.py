"""Columns that make values without end: each of many numbers makes another value."""

from random import Random

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from ontoweir.checker.witness.growth.compute_value import NoRowError, compute_value
from ontoweir.checker.witness.growth.grow_columns import grow_columns
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.mappings.model.expression import Expression
from ontoweir.rewriter.sql.parse_sql import parse_sql

COLUMNS = (
    Column("t", StringType()),
    Column("u", StringType()),
    Column("i", IntType()),
    Column("x", FloatType()),
    Column("d", DecimalType(10, 2)),
    Column("b", BooleanType()),
    Column("e", StringType(), enum=("red", "blue")),
)
STREAM = Stream("s", DataSource("parquet", "none"), "ts", 1_000_000, 5, COLUMNS)
CATALOG = Catalog({"s": STREAM}, {})


def derive(text: str) -> Expression | None:
    """The expression that a query groups by (None: it is not read)."""
    try:
        union = parse_sql(f"SELECT DISTINCT {text} AS z FROM s", CATALOG, name="q", file="q.sql")
    except QueryError:
        return None
    return union.derived[0][1] if len(union.derived) == 1 else None


def count_values(expression: Expression, most: int) -> int:
    """How many values the numbers up to one make."""
    grown = grow_columns(STREAM, expression)
    rows = ({name: value(n) for name, value in grown.items()} for n in range(most))
    return len({compute_value(expression, row) for row in rows})


@pytest.mark.parametrize(
    "text",
    [
        "LEFT(t, 6)",
        "LEFT(t, 2)",
        "SUBSTRING(t, 4, 3)",
        "SUBSTRING(UPPER(t), 9)",
        "RIGHT(t, 4)",
        "REPLACE(t, '-', '')",
        "SPLIT_PART(t, '-', 1)",
        "LENGTH(t)",
        "LENGTH(CONCAT('x', t))",
        "FLOOR(d / 100) * 100",
        "GREATEST(d, 100)",
        "ROUND(d, 0)",
        "CASE WHEN d > 1000 THEN t ELSE 'small' END",
        "CASE WHEN e = 'blue' AND i > 7 THEN CONCAT(t, '/', u) ELSE '' END",
        "CASE WHEN b THEN i * 2 ELSE 0 END",
        "i * x",
        "CASE WHEN u = 'k' THEN LEFT(t, 3) END",
    ],
)
def test_values_go_on(text: str) -> None:
    expression = derive(text)
    assert expression is not None
    assert count_values(expression, 90) == 90


@pytest.mark.parametrize(
    "text",
    [
        "LEFT(t, 1)",
        "i % 100",
        "SUBSTRING(CONCAT('abcdef', t), 1, 6)",
        "SUBSTRING(t, 1, 0)",
        "REPLACE(t, '1', '2')",
        "SPLIT_PART(t, '-', 2)",
        "SPLIT_PART(t, '1', 1)",
        "LEAST(LENGTH(t), 5)",
        "CASE WHEN t = 'x' THEN t ELSE 'other' END",
        "CASE WHEN i > 5 AND i < 9 THEN i ELSE 0 END",
        "e",
        "SIGN(x)",
    ],
)
def test_few_values_do_not(text: str) -> None:
    expression = derive(text)
    if expression is not None:
        with pytest.raises(NoRowError):
            grow_columns(STREAM, expression)


def draw_text(random: Random, depth: int) -> str:
    if not depth:
        return random.choice(["t", "u", "e", "'a-1'", "CAST(i AS STRING)", "CAST(d AS STRING)"])
    one = draw_text(random, depth - 1)
    size = random.randint(1, 8)
    return random.choice(
        [
            f"UPPER({one})",
            f"LEFT({one}, {size})",
            f"RIGHT({one}, {size})",
            f"SUBSTRING({one}, {random.randint(1, 9)}, {size})",
            f"SUBSTRING({one}, {size})",
            f"REPLACE({one}, '{random.choice('-1sx')}', '{random.choice(['', '0', 'y'])}')",
            f"SPLIT_PART({one}, '{random.choice('-1s')}', {random.randint(1, 2)})",
            f"CONCAT({one}, {draw_text(random, depth - 1)})",
            f"CASE WHEN {draw_truth(random, depth - 1)} THEN {one} ELSE 'no' END",
            f"CAST({draw_number(random, depth - 1)} AS STRING)",
        ]
    )


def draw_number(random: Random, depth: int) -> str:
    if not depth:
        return random.choice(["i", "x", "d", "3", "0", "LENGTH(t)", "LENGTH(e)"])
    one, other = draw_number(random, depth - 1), draw_number(random, depth - 1)
    return random.choice(
        [
            f"({one} {random.choice('+-*')} {other})",
            f"({one} / {random.choice(['10', '0.5', '7'])})",
            f"FLOOR({one})",
            f"ABS({one})",
            f"(-{one})",
            f"GREATEST({one}, {random.randint(-9, 9)})",
            f"LEAST({one}, {other})",
            f"LENGTH({draw_text(random, depth - 1)})",
            f"CASE WHEN {draw_truth(random, depth - 1)} THEN {one} ELSE {other} END",
            f"COALESCE({one}, {other})",
        ]
    )


def draw_truth(random: Random, depth: int) -> str:
    number = draw_number(random, max(depth, 0))
    return random.choice(
        [
            f"{number} > {random.randint(-20, 60)}",
            f"{number} <= {random.randint(-20, 60)}",
            f"{draw_text(random, 0)} = '{random.choice(['red', 'k', 'a-1'])}'",
            "b",
            f"NOT ({number} = {random.randint(0, 3)})",
        ]
    )


@given(st.integers(0, 2**32))
def test_each_number_makes_another_value(seed: int) -> None:
    random = Random(seed)
    draw = draw_text if random.random() < 0.6 else draw_number
    expression = derive(draw(random, random.randint(1, 3)))
    if expression is None:
        return
    try:
        values = count_values(expression, 60)
    except NoRowError:
        event("none")
        return
    event("grows")
    assert values == 60, expression


def test_decimals_of_few_digits_are_a_range() -> None:
    few = Stream("s", STREAM.data, "ts", 1, 5, (Column("d", DecimalType(6, 2)),))
    union = parse_sql("SELECT DISTINCT d + 1 FROM s", Catalog({"s": few}, {}), name="q", file="q")
    for _, expression in union.derived:
        with pytest.raises(NoRowError):
            grow_columns(few, expression)
