"""Aggregates over several ranges of history: those of one range, and of DuckDB's matches."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given
from pyspark.sql import SparkSession

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, Op, SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.ranges import scan_ranges
from ontoweir.runtime.replay.ranges.replay_range import GroupTask
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary
from ontoweir.runtime.results.write_results import OutputFormat
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.relational import answer
from tests.oracle.test_aggregates_against_oracle import aggregate_naively, make_aggregates
from tests.runtime.harness import make_catalog
from tests.runtime.in_process import EPOCH, load_admitted, replay_here, store


def _make_case(random: Random, style: str) -> Case:
    """Without rows that a run rejects, because they have NaN where the query may use it."""
    case = make_case(random, style=style, markers=random.choice([8, 14]))
    data = {
        name: (columns, [row for row in rows if all(cell == cell for cell in row)])
        for name, (columns, rows) in case.data.items()
    }
    return replace(case, data=data)


def _split(random: Random, union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query as two branches, which overlap in time or not."""
    alias = next(o.alias for o in union.disjuncts[0].occurrences if o.table in catalog.streams)
    stamp = Attribute(alias, "ts")
    until, since = Constant(random.randint(2, 6)), Constant(random.randint(0, 6))
    pieces = (Compare(stamp, Op.LE, until), Compare(stamp, Op.GE, since))
    return replace(
        union,
        disjuncts=tuple(
            replace(query, conditions=(*query.conditions, p))
            for query in union.disjuncts
            for p in pieces
        ),
    )


def _job(union: SpjUnion, catalog: Catalog) -> QueryJob | None:
    verdict = check_query(union, catalog, disprove=False)
    if verdict.plans is None or verdict.bound is None or verdict.tier is Tier.UNSATISFIABLE:
        return None
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    return QueryJob(
        "q", union, verdict.plans, catalog, verdict.bound.rows, verdict.declarations, parts
    )


def _compare(one: ReplaySummary, many: ReplaySummary) -> None:
    for name in ("markers", "tuples", "results", "rejected", "bound_rows"):
        assert getattr(many, name) == getattr(one, name)


def _current(rows: list[dict[str, Any]], union: SpjUnion, marker: int) -> dict[Any, Any]:
    """The groups after a marker, by the updates told until then."""
    assert union.aggregation is not None
    found: dict[Any, Any] = {}
    for row in rows:
        if (row["at"] - EPOCH).microseconds <= marker:
            group = tuple(row[g] for g in union.aggregation.group)
            found[group] = tuple(row[a.name] for a in union.aggregation.aggregates)
    return found


def _expect(case: Case, union: SpjUnion, upto: int) -> dict[Any, Any]:
    """The groups after a marker, by DuckDB's matches."""
    base = load_admitted(case)
    stamps = dict.fromkeys(case.catalog.streams, "ts")
    matches: Counter[Any] = Counter()
    for query in union.disjuncts:
        matches += answer(base, query, stamps, distinct=False, upto=upto)
    return aggregate_naively(union, matches)


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.1)
@given(seed=SEEDS)
def test_ranges_equal_one_range_and_the_oracle(style: str, seed: int) -> None:
    random = Random(seed)
    case = _make_case(random, style)
    union = make_aggregates(random, case)
    if random.random() < 0.4:
        union = _split(random, union, case.catalog)
    check_aggregates(union, case.catalog)
    job = _job(union, case.catalog)
    event("bounded" if job else "not bounded")
    if job is None:
        return
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = replace(job, catalog=catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, one = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(case.markers):
            assert _current(whole, union, marker) == _expect(case, union, marker)
        for ranges in (2, random.randint(3, 5)):
            rows, many = replay_here(
                patch, job, Path(folder, "n.parquet"), **options,
                ranges=ranges, rows_per_chunk=random.choice([1, 3, 1000]),
            )  # fmt: skip
            event(f"{many.ranges} ranges, {'some' if rows else 'no'} rows")
            assert rows == whole
            _compare(one, many)


TOML = """
[streams.a]
source = { format = "parquet", path = "a.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 3 }, v = "int" }
[streams.b]
source = { format = "parquet", path = "b.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 50

[streams.b.columns]
k = { type = "int", min = 0, max = 3 }
name = { type = "string", enum = ["ash", "elm", "fir"] }
c = { type = "decimal(4,1)", min = 0, max = 2 }
f = { type = "double", enum = [0.0, 0.5, 1.0] }
x = "decimal(8,2)"
d = "double"
day = "date"
"""
EVERY = """COUNT(*) AS n, SUM(b.x) AS total, AVG(b.x) AS mean, MIN(b.x) AS low, MAX(b.x) AS high,
MIN(b.d) AS least, MAX(b.d) AS most, MAX(b.day) AS latest, MEDIAN(b.c) AS middle,
MEDIAN(b.f) AS half, COUNT(DISTINCT b.c) AS kinds, COUNT(DISTINCT b.name) AS names"""
QUERIES = {
    "stateless": f"SELECT b.k, {EVERY} FROM b GROUP BY b.k",
    "ungrouped": f"SELECT {EVERY} FROM b",
    "by text": f"SELECT b.name, b.f, {EVERY} FROM b GROUP BY b.name, b.f",
    "joined": f"SELECT b.k, {EVERY} FROM a, b WHERE a.k = b.k AND a.ts < b.ts GROUP BY b.k",
    "first": "SELECT e.name, MIN(e.x) AS low, SUM(e.x) AS total, COUNT(DISTINCT e.c) AS kinds "
    "FROM b e, a WHERE a.k = e.k AND e.ts < a.ts GROUP BY e.name",
    "front": "SELECT a.k, MAX(b.x) AS high FROM a, b WHERE a.k = b.k AND a.v <= b.x GROUP BY a.k",
    "set": "SELECT b.k, MIN(b.x) AS low, COUNT(DISTINCT b.name) AS names FROM b GROUP BY b.k",
    "three": "SELECT a.k, COUNT(*) AS n, MIN(f.x) AS low FROM b e, a, b f "
    "WHERE a.k = e.k AND f.k = a.k AND e.ts < a.ts AND a.ts < f.ts GROUP BY a.k",
}


def write_data(folder: Path, seed: int, rows: int = 200) -> None:
    """Two streams of small row groups; now and then a column trends, is NULL, or breaks its
    domain."""
    random = np.random.default_rng(seed)
    for name in ("a", "b"):
        steps = np.sort(random.integers(0, 90, rows))
        trend = random.choice([-3, 0, 3]) * np.arange(rows)
        wild = random.integers(-200, 200, rows) + trend
        columns = {
            "k": random.integers(0, 4, rows),
            "v": wild // 50,
            "name": random.choice(["ash", "elm", "fir"], rows),
            "c": [Decimal(int(n)) / 10 for n in random.integers(-1, 22, rows)],
            "f": random.choice([-0.0, 0.0, 0.5, 1.0], rows),
            "x": [None if n % 11 == 0 else Decimal(int(n)) / 100 for n in wild],
            "d": [None if n % 13 == 0 else n / 7 for n in wild.tolist()],
            "day": pa.array(wild + 20_000, pa.int32()).cast(pa.date32()),
        }
        times = pa.array(steps * 1_000_000).cast(pa.timestamp("us"))
        pq.write_table(
            pa.table({"ts": times, **columns}), folder / f"{name}.parquet", row_group_size=15
        )


def _sql_job(sql: str, folder: Path) -> QueryJob:
    catalog = make_catalog(folder, TOML)
    job = _job(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
    assert job is not None, "not bounded"
    return job


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", QUERIES)
def test_every_aggregate(
    name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(tmp_path, seed)
    job = _sql_job(QUERIES[name], tmp_path)
    random = Random(seed)
    if seed % 2:
        split = _job(_split(random, job.union, job.catalog), job.catalog)
        assert split is not None
        job = split
    spans = [{}, {"start": EPOCH + timedelta(seconds=20), "stop": EPOCH + timedelta(seconds=70)}]
    for span in spans:
        whole, one = replay_here(monkeypatch, job, tmp_path / "1.parquet", ranges=1, **span)
        assert whole
        for ranges in (2, 5):
            rows, many = replay_here(
                monkeypatch, job, tmp_path / "n.parquet", ranges=ranges, rows_per_range=1,
                rows_per_chunk=random.choice([40, 1000]), **span,
            )  # fmt: skip
            assert many.ranges == ranges
            assert rows == whole
            _compare(one, many)
            if len(job.plans) == len(job.parts):  # and what is kept only grows
                assert many.state_rows_max == one.state_rows_max


@pytest.mark.spark
@pytest.mark.parametrize("name", ["joined", "set"])
def test_tasks_of_spark_make_the_same_updates(
    name: str, tmp_path: Path, spark: SparkSession
) -> None:
    write_data(tmp_path, 5)
    job = _sql_job(QUERIES[name], tmp_path)
    told = {}
    forms: tuple[OutputFormat, ...] = ("parquet", "jsonl")
    for form in forms:
        for ranges in (1, 3):
            output = tmp_path / f"{ranges}.{form}"
            request = ReplayRequest(
                output, form, engine="spark", rows_per_range=10, ranges=ranges, rows_per_chunk=50
            )
            summary = replay_history(job, request, spark=spark)
            assert summary.ranges == ranges
            told[form, ranges] = summary
        _compare(told[form, 1], told[form, 3])
    assert told["parquet", 3].results == told["jsonl", 3].results > 0
    one, three = (pq.read_table(tmp_path / f"{n}.parquet") for n in (1, 3))
    assert three.equals(one)
    assert (tmp_path / "3.jsonl").read_bytes() == (tmp_path / "1.jsonl").read_bytes()
    assert not list(tmp_path.glob(".ontoweir-*"))


def test_what_a_task_has_written_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(tmp_path, 5)
    job = _sql_job(QUERIES["stateless"], tmp_path)
    monkeypatch.setattr(
        scan_ranges,
        "GroupTask",
        lambda index, found, *more: GroupTask(index, str(tmp_path / "elsewhere"), *more),
    )
    with pytest.raises(RunError, match=r"000000-00000000\.part is not there"):
        replay_here(monkeypatch, job, tmp_path / "n.parquet", ranges=2, rows_per_range=1)
    assert not (tmp_path / "n.parquet").exists()


def test_a_state_beyond_its_bound_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups that several ranges find together are more than any of them finds."""
    times = pa.array([1_000_000 * n for n in range(40)]).cast(pa.timestamp("us"))
    keys = [n // 10 for n in range(40)]
    pq.write_table(pa.table({"ts": times, "k": keys}), tmp_path / "b.parquet", row_group_size=5)
    job = _sql_job("SELECT b.k, COUNT(*) AS n FROM b GROUP BY b.k", tmp_path)
    for bound, fits in ((4, True), (3, False)):
        for ranges in (1, 4):
            options = {"ranges": ranges, "rows_per_range": 1}
            limited = replace(job, bound=bound)
            if fits:
                _, summary = replay_here(monkeypatch, limited, tmp_path / "o.parquet", **options)
                assert (summary.state_rows_max, summary.ranges) == (4, ranges)
            else:
                with pytest.raises(RunError, match=r"4 rows, more than its bound of 3 \(groups 4"):
                    replay_here(monkeypatch, limited, tmp_path / "n.parquet", **options)
