"""The first and the last value of a group as MIN and MAX of numbers."""

from typing import cast

import pytest
from sqlglot import exp

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.rewriter.ordered.number_values import number_values

HOURLY = "SELECT k, date_trunc('hour', ts) AS h, {0} AS x, COUNT(*) AS n FROM s GROUP BY k, h"


def _settle(
    text: str,
    kind: ColumnType,
    *,
    limits: tuple[int | None, int | None] = (None, None),
    step_us: int = 1_000_000,
    keys: tuple[tuple[str, ...], ...] = (("k", "ts"),),
    nullable: bool = False,
) -> str:
    columns = (Column("k", IntType()), Column("v", kind, *limits, nullable=nullable))
    source = DataSource("parquet", "s")
    catalog = Catalog({"s": Stream("s", source, "ts", step_us, 5, columns, keys)})
    tree = cast("exp.Select", parse_sql_text(text))
    number_values(tree, catalog)
    return tree.sql("spark")


@pytest.mark.parametrize(
    ("call", "best"),
    [
        ("ARG_MAX(v, ts)", "MAX("),
        ("ARG_MIN(v, ts)", "MIN("),
        ("FIRST(v ORDER BY ts)", "MIN("),
        ("FIRST(v ORDER BY ts DESC)", "MAX("),
        ("LAST(v ORDER BY ts)", "MAX("),
    ],
)
def test_numbers_tell_the_value(call: str, best: str) -> None:
    """FIRST and LAST do not pass over NULL, for which one number more stands."""
    made = _settle(HOURLY.format(call), IntType(), limits=(-5, 4))
    numbers = "10) + ((v) - (-5)))" if "ARG_" in call else "11) + COALESCE(((v) - (-6)), 0))"
    assert f"{best}((UNIX_MICROS(ts) DIV 1000000) * {numbers}" in made
    assert ("NULLIF(" in made) == ("ARG_" not in call)
    assert "_BY(" not in made


@pytest.mark.parametrize(
    ("kind", "limits", "step_us", "keys", "text"),
    [
        (IntType(), (0, 9), 1_000_000, (("v", "ts"),), HOURLY),  # several rows at a time
        (IntType(), (0, 9), 1_000_000, (("k", "ts"),), HOURLY.format("ARG_MAX(v, k)")),
        (IntType(), (0, 9), 1_000_000, (("k", "ts"),), "SELECT k, {0} AS x FROM s GROUP BY k"),
    ],
)
def test_others_stay(
    kind: ColumnType,
    limits: tuple[int | None, int | None],
    step_us: int,
    keys: tuple[tuple[str, ...], ...],
    text: str,
) -> None:
    made = _settle(text.format("ARG_MAX(v, ts)"), kind, limits=limits, step_us=step_us, keys=keys)
    assert "MAX_BY(v, " in made


@pytest.mark.parametrize(
    ("kind", "limits", "step_us", "told"),
    [
        (FloatType(), (0, 9), 1_000_000, "AS DOUBLE)"),
        (IntType(), (None, 9), 1_000_000, "AS BIGINT)"),  # no limit is known
        (DecimalType(18, 2), (None, None), 1_000_000, "AS DECIMAL(18, 2))"),  # beyond 64 bits
        (DecimalType(9, 2), (None, None), 1, "AS DECIMAL(9, 2))"),
        (StringType(), (None, None), 1, "19)"),
    ],
)
def test_texts_tell_other_values(
    kind: ColumnType, limits: tuple[int | None, int | None], step_us: int, told: str
) -> None:
    made = _settle(HOURLY.format("ARG_MIN(v, ts)"), kind, limits=limits, step_us=step_us)
    assert "SUBSTRING(MIN((CAST((UNIX_MICROS(ts) + 300000000000000000) AS STRING) || " in made
    assert told in made
    assert "_BY(" not in made


def test_first_may_be_null() -> None:
    """Its text says whether there is a value."""
    made = _settle(HOURLY.format("FIRST(v ORDER BY ts)"), StringType(), nullable=True)
    assert "CASE WHEN (v) IS NULL THEN" in made
    assert "CASE WHEN SUBSTRING(MIN(" in made
