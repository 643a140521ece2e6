"""Groups that a rule closes, of a query whose disjuncts wait for their matches for different times:
a group of the one that does not wait is kept as long as the other one's matches may come, and the
bound counts it for so long."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ClosingRule,
    Column,
    DataSource,
    IntType,
    Lag,
    Stream,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import run_live
from tests.runtime.in_process import EPOCH, replay_here, store

STEPS, WAIT, VALUES = 24, 10, 10
RULES = {
    "gap": ClosingRule(("k",), gap_us=0),
    "rows": ClosingRule(("k",), rows=0),
    "ends": ClosingRule(("k",), ends="last", most_open=1),
    "span": ClosingRule(("k",), span_us=0),
    "slack": ClosingRule(("k",), slack=0),
    "late rows": ClosingRule(("k",), late_rows=0),
}
COUNTS = "SELECT p.k, b.x, COUNT(*) AS n"
QUERIES = {
    COUNTS: "GROUP BY p.k, b.x",
    "SELECT p.k, COUNT(DISTINCT b.x) AS n": "GROUP BY p.k",
    "SELECT DISTINCT p.k, b.x": "",
}
CASES = [
    *((name, COUNTS, WAIT) for name in RULES),
    *(("gap", select, delay) for select in QUERIES for delay in (0, 1)),
    ("span", "SELECT DISTINCT p.k, b.x", 0),
]


def _catalog(rule: ClosingRule) -> Catalog:
    nothing, key = DataSource("parquet", "none"), Column("k", IntType())
    ruled: dict[str, Any] = {"closing": (rule,)}
    if rule.span_us is not None:
        ruled = {"lags": (Lag("page", ("k",), ("k",), rule.span_us),)}
    columns = (key, Column("last", BooleanType()))
    page = Stream("page", nothing, "ts", 1, 1, columns, **ruled)
    buy = Stream("buy", nothing, "ts", 1, VALUES, (key, Column("x", IntType(), 0, VALUES - 1)))
    return Catalog({"page": page, "buy": buy})


def _sql(select: str, group: str, late: int) -> str:
    """One disjunct has all values but `late`, at once; the other one has it, and waits."""
    return (
        f"{select} FROM page p, buy b WHERE p.k = b.k AND ("
        f"(b.ts = p.ts AND b.x <> {late}) OR "
        f"(b.ts >= p.ts AND b.ts <= p.ts + INTERVAL '{WAIT}' MICROSECOND AND b.x = {late})) {group}"
    )


def _expected(select: str, delay: int) -> dict[tuple[int, ...], int]:
    """The answers, and when the last match of each comes; every value of `buy` comes with its key,
    but the last one of them `delay` steps later."""
    matches = [(t, x, t) for t in range(STEPS) for x in range(VALUES - 1)]
    matches += [(t, VALUES - 1, t + delay) for t in range(STEPS - delay)]
    if "COUNT(DISTINCT" in select:
        return {(t, VALUES): t + delay for t in range(STEPS - delay)}
    if "COUNT" in select:
        return {(k, x, 1): at for k, x, at in matches}
    return {(k, x): at for k, x, at in matches}


@pytest.mark.parametrize(("name", "select", "delay"), CASES)
def test_groups_of_the_part_that_does_not_wait_are_counted(
    name: str, select: str, delay: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = _catalog(RULES[name])
    union = parse_sql(_sql(select, QUERIES[select], VALUES - 1), catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    if name == "span" and "DISTINCT p.k" in select:
        assert verdict.plans is None  # no rule by a span forgets answers of a set
        return
    assert verdict.plans is not None
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    buy = [(t, x, t) for t in range(STEPS) for x in range(VALUES - 1)]
    buy += [(t, VALUES - 1, t + delay) for t in range(STEPS - delay)]
    pages = [(t, True, t) for t in range(STEPS)]
    data: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {
        "page": (["k", "last", "ts"], pages),
        "buy": (["k", "x", "ts"], sorted(buy, key=lambda row: int(row[2]))),
    }
    case = Case(catalog, union, data, STEPS)
    live, _ = run_live(case, verdict, Random(1), tmp_path)
    stored, statics = store(case, Random(1), tmp_path)
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    # a state that is larger than the bound is an error
    job = QueryJob(
        "q", union, verdict.plans, stored, verdict.bound.rows, verdict.declarations, parts
    )
    options: dict[str, Any] = {"statics": statics, "rows_per_range": 1, "ranges": 2}
    rows, summary = replay_here(monkeypatch, job, tmp_path / "n.parquet", **options)
    assert summary.state_rows_max <= verdict.bound.rows
    expected = _expected(select, delay)
    for told in (live, rows):
        found = [
            (tuple(v for c, v in r.items() if c not in ("at", "multiplicity")), r["at"] - EPOCH)
            for r in told
        ]
        assert len({answer for answer, _ in found}) == len(found)
        for answer, at in found:
            assert answer in expected
            assert at.microseconds >= expected[answer]
    closed = STEPS - WAIT - 2  # keys whose groups are final in any case
    assert {a for a in expected if a[0] < closed} <= {a for a, _ in found}
