"""Whole numbers at the edges of 64 bits: answers, replayed and live, as DuckDB gives them with
numbers of 128 bits; what does not fit is an error, never another answer."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import DataError, RunError
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DecimalType,
    IntType,
    Stream,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import insert_rows, open_database
from tests.oracle.random_queries import Case
from tests.runtime.in_process import EPOCH, replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_job

MARKERS = 8
LEAST, MOST = -(1 << 63), (1 << 63) - 1
EDGES = [LEAST, LEAST + 1, -(1 << 62), -5 * 10**18, -1, 0, 1, 5 * 10**18, 1 << 62, MOST - 1, MOST]
OFFSETS = [0, 1, -1, 5 * 10**18, -5 * 10**18, 1 << 62, MOST, LEAST, 10**19, -(10**19), 10**28]
_COLUMNS = (Column("a", IntType()), Column("b", IntType()))
CATALOG = Catalog(
    {n: Stream(n, DataSource("parquet", None), "ts", 1, 20, _COLUMNS) for n in ("s", "t")}
)


def make_query(random: Random) -> str:
    """Some SQL that both read."""

    def offset() -> str:
        n = random.choice(OFFSETS)
        return f" + {n}" if n > 0 else f" - {-n}" if n < 0 else ""

    ops = "<", "<=", "=", ">=", ">", "<>"
    head = random.choice(
        [
            "SELECT s.a AS x, t.b AS y",
            "SELECT DISTINCT s.b AS x, t.b AS y",
            "SELECT DISTINCT 'p' AS x",
            "SELECT MIN(s.a) AS x, MAX(s.a) AS y, COUNT(*) AS n",
            "SELECT MAX(s.a) AS y",
            "SELECT SUM(s.a) AS x, COUNT(DISTINCT s.a) AS n",
            "SELECT MEDIAN(s.a) AS m",
        ]
    )
    conditions = [f"s.a {random.choice(ops)} t.b{offset()}", "s.ts < t.ts"]
    if random.random() < 0.4:
        conditions.append(f"s.b {random.choice(ops)} t.a{offset()}")
    if random.random() < 0.3:
        conditions.append(f"s.a {random.choice(ops)} s.b{offset()}")
    if random.random() < 0.3:
        edge = random.choice([*EDGES, 10**28, -(10**28)])
        conditions.append(f"t.b {random.choice(ops)} {edge}")
    if "DISTINCT 'p'" not in head and not head.startswith("SELECT MAX"):
        conditions.append("t.ts <= s.ts + INTERVAL '3' MICROSECOND")
    tables = "s, t"
    if random.random() < 0.2:
        head, tables, conditions = head.replace("t.b", "s.b"), "s", ["s.a IS NOT NULL"]
    return f"{head} FROM {tables} WHERE {' AND '.join(conditions)}"


def make_case(random: Random) -> tuple[Case, str]:
    sql = make_query(random)
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    data = {}
    for name in ("s", "t"):
        times = sorted(random.randrange(MARKERS) for _ in range(random.randint(1, 9)))
        values = EDGES if random.random() < 0.8 else range(-3, 3)
        rows: list[tuple[Any, ...]] = [
            (random.choice(values), random.choice(values), time) for time in times
        ]
        data[name] = (["a", "b", "ts"], rows)
    return Case(CATALOG, union, data, MARKERS), sql


def answer(case: Case, sql: str, upto: int) -> Counter[Any]:
    base = open_database()
    for name, (_, rows) in case.data.items():
        base.execute(f"CREATE TEMP TABLE {name} (a HUGEINT, b HUGEINT, ts TIMESTAMP)")
        mine = [row for row in rows if row[-1] <= upto]
        insert_rows(base, name, "?::HUGEINT, ?::HUGEINT, make_timestamp(?)", mine)
    head, _, rest = sql.partition(" FROM ")
    if "MEDIAN" in head:
        values = sorted(v for (v,) in base.execute(f"SELECT s.a FROM {rest}").fetchall())
        if not values:
            return Counter()
        low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
        return Counter([(float(Fraction(low + high, 2)),)])
    if "(" in head and not base.execute(f"SELECT COUNT(*) FROM {rest}").fetchall()[0][0]:
        return Counter()
    return Counter(map(tuple, base.execute(sql).fetchall()))


def told(
    rows: list[dict[str, Any]], names: list[str], marker: int, *, groups: bool
) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in rows:
        if (row["at"] - EPOCH).microseconds <= marker:
            if groups:
                found.clear()
            found[tuple(row[n] for n in names)] += row.get("multiplicity", 1)
    return found


def check(seed: int) -> None:
    random = Random(seed)
    case, sql = make_case(random)
    verdict = check_query(case.query, CATALOG, disprove=False)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        if verdict.tier is Tier.UNSATISFIABLE:
            assert not answer(case, sql, MARKERS), sql
        return
    assert verdict.bound is not None
    expected = [answer(case, sql, m) for m in range(MARKERS)]
    aggregation = case.query.aggregation
    names = list(case.query.variables if aggregation is None else aggregation.columns)
    too_great = any(
        isinstance(v, int) and not LEAST <= v <= MOST for e in expected for row in e for v in row
    )
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q", case.query, verdict.plans, catalog, verdict.bound.rows, verdict.declarations, parts
        )
        for ranges in (1, random.choice([2, 3])):
            options = {"statics": statics, "rows_per_range": 1, "ranges": ranges}
            output = Path(folder, f"{ranges}.parquet")
            what: str | None = None
            rows: list[dict[str, Any]] = []
            try:
                rows, _ = replay_here(patch, job, output, **options)
            except RunError as error:
                what = error.what
            if what is not None:
                assert "does not fit 64 bits" in what, sql
                event("an error")
                assert too_great or _beyond(sql), sql
                continue
            assert not too_great, sql
            for marker, wanted in enumerate(expected):
                found = told(rows, names, marker, groups=aggregation is not None)
                assert found == wanted, (sql, marker, case.data)
        live = make_job(case, verdict)
        state, rows, what = begin_live(live), [], None
        try:
            for batch in cut_arrivals(case, random, {h.stream.name for h in live.histories}):
                outcome = advance_live(live, state, batch, 0.0)
                state = outcome.state
                rows += outcome.answers[0].to_pylist()
        except RunError as error:
            what = error.what
        if what is not None:
            assert "does not fit 64 bits" in what
            assert too_great or _beyond(sql), sql
            return
        for marker in range(-1 if state.finished_us is None else state.finished_us + 1):
            found = told(rows, names, marker, groups=aggregation is not None)
            assert found == expected[marker], (sql, marker)


def _beyond(sql: str) -> bool:
    """Whether sums of values and offsets are kept, which may not fit."""
    return "DISTINCT 'p'" in sql or "MAX" in sql


@budget(1)
@given(seed=SEEDS)
def test_answers_at_the_edges_equal_duckdb(seed: int) -> None:
    check(seed)


def _replay(sql: str, values: list[int], patch: pytest.MonkeyPatch, folder: Path) -> list[Any]:
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    rows = [(v, 0, n) for n, v in enumerate(values)]
    case = Case(CATALOG, union, {n: (["a", "b", "ts"], rows) for n in ("s", "t")}, len(rows))
    verdict = check_query(union, CATALOG, disprove=False)
    assert verdict.plans is not None
    assert verdict.bound is not None
    catalog, statics = store(case, Random(1), folder)
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    job = QueryJob("q", union, verdict.plans, catalog, verdict.bound.rows, (), parts)
    found, _ = replay_here(patch, job, folder / "o.parquet", statics=statics, ranges=1)
    return [tuple(v for n, v in row.items() if n != "at") for row in found]


def test_extremes_of_all_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT MIN(s.a) AS x, MAX(s.a) AS y FROM s"
    assert _replay(sql, [LEAST], monkeypatch, tmp_path) == [(LEAST, LEAST)]


def test_extremes_that_are_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT MIN(s.a) AS x, MAX(s.a) AS y FROM s"
    found = _replay(sql, [MOST, LEAST], monkeypatch, tmp_path)
    assert found == [(MOST, MOST), (LEAST, MOST)]


def test_a_sum_that_leaves_the_range_names_the_marker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunError) as caught:
        _replay("SELECT SUM(s.a) AS x FROM s", [MOST, -1, 2], monkeypatch, tmp_path)
    assert caught.value.what == "the sum of x does not fit 64 bits at 1970-01-01T00:00:00.000002"


def test_a_sum_that_stays_in_the_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _replay("SELECT SUM(s.a) AS x FROM s", [MOST, -1, 1], monkeypatch, tmp_path)
    assert found == [(MOST,), (MOST - 1,), (MOST,)]


def test_whole_numbers_in_units_of_decimals_are_refused_where_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = (Column("a", IntType()), Column("b", DecimalType(4, 2)))
    streams = {"s": Stream("s", DataSource("parquet", None), "ts", 1, 20, columns)}
    catalog = Catalog(streams)
    union = parse_sql("SELECT s.a FROM s WHERE s.a > s.b", catalog, name="q", file="q.sql")
    case = Case(catalog, union, {"s": (["a", "b", "ts"], [(LEAST, 1, 0)])}, 1)
    verdict = check_query(union, catalog, disprove=False)
    assert verdict.plans is not None
    stored, statics = store(case, Random(1), tmp_path)
    job = QueryJob("q", union, verdict.plans, stored, None)
    with pytest.raises(DataError, match="whole numbers beyond"):
        replay_here(monkeypatch, job, tmp_path / "o.parquet", statics=statics, ranges=1)
