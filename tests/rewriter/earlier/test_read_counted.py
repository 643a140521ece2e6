"""Windows of rows that are counted: what is kept for them, and what is refused by name."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.rewriter.earlier.test_read_earlier import CATALOG, read

BY = "PARTITION BY sensor ORDER BY ts"
THERE = "sensor IS NOT NULL"


@pytest.mark.parametrize(
    ("window", "rows"),
    [
        (f"LAG(value, 3) OVER ({BY})", 3 * 3),
        (f"LEAD(value) OVER ({BY})", 3 * 1),
        (f"LEAD(value, 2) OVER ({BY})", 3 * 2),
        (f"ROW_NUMBER() OVER ({BY})", 3),
        (f"SUM(hum) OVER ({BY})", 3),
        (f"AVG(value) OVER ({BY} ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)", 3 * 9),
        (f"MAX(value) OVER ({BY} ROWS BETWEEN 4 PRECEDING AND 2 FOLLOWING)", 3 * 6),
        (f"LAST_VALUE(hum IGNORE NULLS) OVER ({BY})", 3),
        (f"COUNT(*) OVER ({BY} ROWS BETWEEN CURRENT ROW AND CURRENT ROW)", 0),
        ("SUM(hum) OVER (ORDER BY ts)", 1),
        ("AVG(hum) OVER (ORDER BY ts RANGE INTERVAL '10' MINUTE PRECEDING)", 3 * 10),
        ("RANK() OVER (PARTITION BY ts ORDER BY value DESC)", 0),
        ("value / SUM(value) OVER (PARTITION BY ts)", 0),
        (f"LAG(value) OVER ({BY}), SUM(hum) OVER (ORDER BY ts)", 3 + 1),
        (f"LAG(value) OVER ({BY}), RANK() OVER (PARTITION BY ts ORDER BY value)", 3),
        (f"LEAD(hum) OVER ({BY}), MAX(hum) OVER ({BY} RANGE INTERVAL '10' MINUTE PRECEDING)", 33),
    ],
)
def test_so_many_rows_are_kept(window: str, rows: int) -> None:
    verdict = check_query(read(f"SELECT sensor, ts, {window} FROM reading WHERE {THERE}"), CATALOG)
    assert verdict.bound is not None
    assert verdict.bound.rows == rows


def test_a_key_without_end_is_not_bounded() -> None:
    text = "SELECT value, LAG(hum) OVER (PARTITION BY sensor, value ORDER BY ts) AS w FROM reading"
    verdict = check_query(read(text), CATALOG)
    assert verdict.tier is Tier.UNBOUNDED
    assert "reading.value, by which the latest rows are kept" in str(verdict.disjuncts)


def test_rows_of_answers_are_those_before() -> None:
    text = (
        "SELECT h, n - LAG(n) OVER (ORDER BY h) AS d FROM (SELECT date_trunc('hour', ts) AS h, "
        "COUNT(*) AS n FROM reading GROUP BY date_trunc('hour', ts)) AS x"
    )
    verdict = check_query(read(text), CATALOG)
    assert verdict.bound is not None
    assert verdict.bound.rows is not None


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("MAX(sensor) OVER (ORDER BY ts)", "of a text"),
        ("SUM(sensor) OVER (ORDER BY ts)", "of a text"),
        (f"COUNT(DISTINCT hum) OVER ({BY})", "count one column"),
        (f"SUM(value) OVER ({BY} ROWS BETWEEN 1 FOLLOWING AND 2 PRECEDING)", "no row or all"),
        (f"SUM(value) OVER ({BY} ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)", "after a row"),
        ("RANK() OVER (ORDER BY value)", "ORDER BY value"),
        (f"FIRST_VALUE(hum IGNORE NULLS) OVER ({BY})", "leave IGNORE NULLS out"),
        (f"FIRST_VALUE(hum) IGNORE NULLS OVER ({BY} ROWS 2 PRECEDING)", "leave IGNORE NULLS out"),
        (f"LEAD(hum) IGNORE NULLS OVER ({BY})", "leave IGNORE NULLS out"),
        (f"LAG(hum, 1, 0) IGNORE NULLS OVER ({BY})", "COALESCE"),
        (f"LAG(value) OVER ({BY}), SUM(hum) OVER (ORDER BY ts)", "beside windows by other keys"),
        ("COUNT(*) OVER (PARTITION BY ts), LAG(hum) OVER (ORDER BY ts, sensor)", "by other keys"),
        ("LAG(hum) OVER (ORDER BY ts, sensor), COUNT(*) OVER (PARTITION BY ts)", "by other keys"),
        (
            ("ROW_NUMBER() OVER (PARTITION BY ts ORDER BY value), COUNT(*) OVER (PARTITION BY ts)"),
            "by other keys",
        ),
        ("SUM(value) OVER (PARTITION BY ts ORDER BY hum)", "of the rows of one time"),
        ("LAST_VALUE(value) OVER (PARTITION BY ts ORDER BY hum)", "of the rows of one time"),
        (f"LAG(value, 2) IGNORE NULLS OVER ({BY})", "of one row before"),
        (f"SUM(value) OVER ({BY} ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW)", "whole number"),
    ],
)
def test_what_is_refused(window: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(f"SELECT {window} FROM reading")
    assert message in str(caught.value)
    assert str(caught.value).startswith("q.sql:1: ")


def test_the_column_of_a_window_may_be_called_as_one_that_ends_an_answer() -> None:
    text = f"SELECT sensor, LEAD(ts) OVER ({BY}) AS until FROM reading"
    made = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert made.variables == ("sensor", "until")
    assert made.ends == ()


def test_the_last_rows_are_kept_beside_those_of_a_span() -> None:
    span = "RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW"
    text = f"SELECT SUM(hum) OVER (ORDER BY ts {span}) AS s, COUNT(*) OVER ({{}}ORDER BY ts) AS n"
    for by, last in (("", 1), ("PARTITION BY sensor ", 3)):
        whole = text.format(by).replace("(ORDER", f"({by}ORDER")
        verdict = check_query(read(f"{whole} FROM event"), CATALOG)
        assert verdict.bound is not None
        assert verdict.bound.rows == 3 * 5 + last


def test_equal_rows_have_no_number() -> None:
    numbers = "SELECT sensor, ROW_NUMBER() OVER (PARTITION BY ts ORDER BY value) AS n FROM {}"
    (block,) = read(numbers.format("reading")).blocks
    assert isinstance(block.meeting, Preceding)
    (number,) = block.meeting.columns
    assert [write_expression(key.by) for key in number.order] == ["value", "sensor"]
    with pytest.raises(QueryError, match="may have equal rows"):
        read(numbers.format("event"))
    read(numbers.format("event").replace("ROW_NUMBER", "RANK"))


def test_a_condition_that_is_true_of_null_does_not_say_that_there_is_a_key() -> None:
    """Else one more key, NULL, would be kept than the bound counts."""
    text = "SELECT ts, LAG(value) OVER (PARTITION BY sensor ORDER BY ts) AS w FROM reading WHERE "
    made = read(text + "COALESCE(sensor, 'a') = 'a'")
    (block,) = made.blocks
    assert isinstance(block.meeting, Preceding)
    assert block.meeting.only is not None
    assert "NOT sensor IS NULL" in write_expression(block.meeting.only)
