"""By which key groups of rows that follow each other are over."""

from dataclasses import replace

import pytest

from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.test_runs import BY, KEYED

LAG = f"LAG(g) OVER ({BY})"
NULL = replace(
    KEYED,
    streams={
        name: replace(s, columns=tuple(replace(c, nullable=c.name == "g") for c in s.columns))
        for name, s in KEYED.streams.items()
    },
)


def _find_key(
    begun: str, total: str = "SUM(began)", null: bool = False, said: str = "h IS NOT NULL"
) -> tuple[str, ...]:
    """The key of the rows of which each run's last one is told."""
    there = "h IS NOT NULL AND g IS NOT NULL" if not null else "h IS NOT NULL"
    rows = f"(SELECT *, {begun} AS began FROM s WHERE {said}) AS y"
    inner = f"(SELECT *, {total} OVER ({BY}) AS n FROM {rows}) AS x"
    text = f"SELECT h, g, n, COUNT(*) AS c FROM {inner} WHERE {there} GROUP BY h, g, n"
    union = parse_sql(text, NULL if null else KEYED, name="q", file="q.sql")
    meeting = union.blocks[-1].meeting
    assert isinstance(meeting, Preceding)
    assert meeting.after == 1
    return meeting.key


@pytest.mark.parametrize(
    "begun",
    [
        f"CASE WHEN g IS DISTINCT FROM {LAG} THEN 1 ELSE 0 END",
        f"CASE WHEN g = {LAG} THEN 0 ELSE 1 END",
        f"CASE WHEN {LAG} = g AND g IS NOT NULL THEN 0 ELSE 1 END",
    ],
)
def test_numbers_tell_changes(begun: str) -> None:
    assert _find_key(begun) == ("h",)


@pytest.mark.parametrize(
    "begun",
    [
        f"CASE WHEN g = 'x' AND {LAG} <> 'x' THEN 1 ELSE 0 END",
        f"CASE WHEN g = {LAG} THEN 1 ELSE 0 END",
        f"CASE WHEN {LAG} <> g THEN 3 END",  # x, NULL, y, NULL, x
        f"CASE WHEN g <> {LAG} OR {LAG} IS NULL THEN 1 ELSE 0 END",
        f"CASE WHEN g <> {LAG} AND a > 0 THEN 1 ELSE 0 END",
        f"CASE WHEN a <> LAG(a) OVER ({BY}) THEN 1 ELSE 0 END",
        f"CASE WHEN g <> LAG(g, 2) OVER ({BY}) THEN 1 ELSE 0 END",
        f"CASE WHEN g <> LAG(g) OVER ({BY.replace('BY h', 'BY h, a')}) THEN 1 ELSE 0 END",
    ],
)
def test_numbers_of_others_do_not(begun: str) -> None:
    assert _find_key(begun) == ("h", "g")


def test_of_values_that_may_be_null_it_is_said_too() -> None:
    assert _find_key(f"CASE WHEN g IS DISTINCT FROM {LAG} THEN 1 ELSE 0 END", null=True) == ("h",)
    assert _find_key(f"CASE WHEN g = {LAG} THEN 0 ELSE 1 END", null=True) == ("h",)


def test_of_rows_that_have_values_it_is_not_said() -> None:
    said = "h IS NOT NULL AND g IS NOT NULL"
    assert _find_key(f"CASE WHEN g <> {LAG} THEN 1 ELSE 0 END", said=said) == ("h",)
    assert _find_key(f"CASE WHEN {LAG} <> g THEN 3 END", null=True, said=said) == ("h",)


def test_a_count_rises_with_values_that_are_there() -> None:
    other = f"CASE WHEN g = {LAG} THEN NULL ELSE 1 END"
    assert _find_key(other, "COUNT(began)") == ("h",)
    assert _find_key(f"CASE WHEN g = {LAG} THEN 1 END", "COUNT(began)") == ("h", "g")


def test_rows_that_are_left_out_between_hide_changes() -> None:
    rows = f"(SELECT *, CASE WHEN g = {LAG} THEN 0 ELSE 1 END AS began FROM s WHERE h = 1) AS y"
    inner = f"(SELECT *, SUM(began) OVER ({BY}) AS n FROM {rows} WHERE a > 0) AS x"
    text = f"SELECT h, g, n, COUNT(*) AS c FROM {inner} WHERE g IS NOT NULL GROUP BY h, g, n"
    union = parse_sql(text, KEYED, name="q", file="q.sql")
    meeting = union.blocks[-1].meeting
    assert isinstance(meeting, Preceding)
    assert "g" in meeting.key


def test_groups_over_several_parts_are_not_of_one() -> None:
    """The rows of one day of a key may be of each part."""
    day = "TIME_BUCKET(INTERVAL '3' MICROSECOND, ts)"
    parts = " UNION ALL ".join(
        f"SELECT h, ts, LEAD(ts) OVER ({BY}) AS next FROM {name} WHERE h IS NOT NULL"
        for name in ("s", "t")
    )
    text = f"SELECT h, {day} AS d, COUNT(*) AS c FROM ({parts}) AS x GROUP BY h, {day}"
    assert parse_sql(text, KEYED, name="q", file="q.sql").aggregation is not None
    one = text.replace(parts, parts.partition(" UNION")[0])
    assert parse_sql(one, KEYED, name="q", file="q.sql").aggregation is None


def test_conditions_are_counted() -> None:
    inner = f"(SELECT *, COUNT_IF(g = 'x') OVER ({BY}) AS n FROM s WHERE h IS NOT NULL) AS x"
    shown = "SELECT h, n, COUNT_IF(a > 0) AS c, COUNT(*) FILTER (WHERE a > 0) AS d"
    union = parse_sql(f"{shown} FROM {inner} GROUP BY h, n", KEYED, name="q", file="q.sql")
    assert union.aggregation is None
    assert len({str(output) for _, output in union.disjuncts[0].outputs[2:]}) == 1


def test_rows_of_one_time_are_in_several_orders() -> None:
    """A count in one of them is none in the other."""
    begun = f"CASE WHEN g = LAG(g) OVER ({BY}, a) THEN 0 ELSE 1 END"
    for order, groups in (("", False), (", b", True)):
        rows = f"(SELECT *, {begun} AS began FROM s WHERE h IS NOT NULL) AS y"
        inner = f"(SELECT *, SUM(began) OVER ({BY}{order}) AS n FROM {rows}) AS x"
        text = f"SELECT h, n, COUNT(*) AS c FROM {inner} GROUP BY h, n"
        union = parse_sql(text, KEYED, name="q", file="q.sql")
        assert (union.aggregation is not None) is groups
    inner = f"(SELECT *, SUM(began) OVER ({BY}) AS n FROM {rows}) AS x"
    text = f"SELECT h, g, n, COUNT(*) AS c FROM {inner} WHERE g IS NOT NULL GROUP BY h, g, n"
    meeting = parse_sql(text, KEYED, name="q", file="q.sql").blocks[-1].meeting
    assert isinstance(meeting, Preceding)
    assert meeting.key == ("h", "g")
