"""A replay divided by key has the answers, counts and rejected rows of one process.

Parts run in this process, one after the other; test_processes.py starts others.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import OntoweirError, QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.engine.query_job import QueryJob, WatchedKey
from ontoweir.runtime.replay import choose_engine
from ontoweir.runtime.replay.parts import scan_parts
from ontoweir.runtime.replay.parts.replay_part import replay_part
from ontoweir.runtime.replay.ranges.replay_range import prepare_work
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, make_case
from tests.oracle.test_aggregates_against_oracle import make_aggregates
from tests.oracle.test_partitions import branch, tie
from tests.runtime.harness import make_catalog
from tests.runtime.in_process import store

COUNTED = ("markers", "tuples", "results", "rejected", "bound_rows")


def run_here(
    work: ExecutionContext, division: Division, folder: Path, look: Callable[[], bool]
) -> None:
    """As run_processes, without processes."""
    prepared = prepare_work(work)
    for part in range(division.parts):
        replay_part(prepared, division, part, folder, lambda: None)
    assert look()


def _replay(
    job: QueryJob, folder: Path, parts: int, **options: Any
) -> tuple[bytes, ReplaySummary] | str:
    """The file of answers and the summary, or the error."""
    output = folder / f"{parts}.csv"
    statics = options.pop("statics", None)
    if parts == 1:
        options["engine"] = "driver"
    request = ReplayRequest(output, "csv", parts=parts, **options)
    try:
        summary = replay_history(job, request, statics=statics)
    except QueryError:
        raise
    except OntoweirError as error:
        return str(error)
    return output.read_bytes(), summary


def _make_job(union: SpjUnion, catalog: Catalog) -> QueryJob | None:
    verdict = check_query(union, catalog, disprove=False)
    if verdict.plans is None or verdict.bound is None or verdict.tier is Tier.UNSATISFIABLE:
        return None
    return QueryJob(
        "q",
        verdict.union,
        verdict.plans,
        catalog,
        verdict.bound.rows,
        verdict.declarations,
        tuple((p.part, len(p.plans)) for p in verdict.parts),
        watched=tuple(
            WatchedKey(d.table, d.columns) for d in verdict.conditions if d.kind == "key"
        ),
    )


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.12)
@given(seed=SEEDS)
def test_parts_equal_one_process(style: str, seed: int) -> None:
    random = Random(seed)
    case = tie(random, make_case(random, style=style, markers=random.choice([6, 12])))
    union = make_aggregates(random, case) if random.random() < 0.4 else case.query
    if random.random() < 0.3:
        union = branch(random, union, case)
    if union.aggregation is not None:
        check_aggregates(union, case.catalog)
    streams = {
        name: replace(
            stream,
            keys=random.choice([stream.keys, (("a", "ts"),), (("b", "ts"), ("a", "b", "ts"))]),
        )
        for name, stream in case.catalog.streams.items()
    }
    declared = replace(case.catalog, streams=streams)
    job = _make_job(union, declared)
    if job is None:
        return
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan_parts, "run_processes", run_here)
        folder = Path(place)
        catalog, statics = store(replace(case, catalog=declared), random, folder)
        job = replace(job, catalog=catalog)
        options: dict[str, Any] = {
            "statics": statics,
            "rows_per_chunk": random.choice([1, 5, 1000]),
            "expand": random.random() < 0.3,
            "final": union.aggregation is not None and random.random() < 0.3,
        }
        try:
            several = [_replay(job, folder, n, **options) for n in (2, random.randint(3, 5))]
        except QueryError:
            event("not divided")
            return
        one = _replay(job, folder, 1, **options)
        if isinstance(one, str):
            event("an error")
            assert several == [one, one]
            return
        event("rejected rows" if one[1].rejected else "no rejected rows")
        for other in several:
            assert not isinstance(other, str)
            assert other[0] == one[0]
            for name in COUNTED:
                assert getattr(other[1], name) == getattr(one[1], name), name
            assert job.bound is None or other[1].state_rows_max <= job.bound


TOML = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 2
columns = { k = { type = "int", min = 0, max = 9 }, n = "int" }
"""
DISTINCT = "SELECT DISTINCT s.k FROM s WHERE s.n > 3"


def _write(folder: Path, seconds: Sequence[int]) -> Catalog:
    rows = range(len(seconds))
    times = pa.array([n * 1_000_000 for n in seconds], pa.timestamp("us"))
    table = {"ts": times, "k": [n % 12 for n in rows], "n": [n % 7 for n in rows]}
    pq.write_table(pa.table(table), folder / "s.parquet", row_group_size=10)
    return make_catalog(folder, TOML)


@pytest.mark.parametrize(("starts", "large", "parts"), [(0, 0, 2), (1e6, 0, 1), (0, 1 << 40, 1)])
def test_what_ends_earlier_is_chosen(
    starts: float, large: int, parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the state may be large, by an estimate that is shown."""
    catalog = _write(tmp_path, range(400))
    job = _make_job(parse_sql(DISTINCT, catalog, name="q", file="q.sql"), catalog)
    assert job is not None
    monkeypatch.setattr(scan_parts, "run_processes", run_here)
    for name, value in (("WORTH", 0), ("LARGE", large)):
        monkeypatch.setattr(choose_engine, name, value)
    for name in ("PROCESS_STARTS", "PROCESS_FORKS"):
        monkeypatch.setattr(choose_engine, name, starts - 1)
    monkeypatch.setattr(choose_engine, "_look", lambda spark, cluster: (2, 1e6))
    request = ReplayRequest(tmp_path / "o.csv", "csv", rows_per_range=20)
    summary = replay_history(job, request)
    assert (summary.parts, summary.engine, summary.ranges) == (parts, "driver", 1)
    told = "with rows divided by key among 2 processes" in (summary.engine_because or "")
    assert told == (large == 0)


@pytest.mark.parametrize(("starts", "doubted"), [(0, 0), (1e6, 0), (1e6, 1 << 40)])
def test_it_is_said_where_one_process_is_as_fast(
    starts: float, doubted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And rows are divided all the same, as that was asked for; few are not estimated."""
    catalog = _write(tmp_path, range(400))
    job = _make_job(parse_sql(DISTINCT, catalog, name="q", file="q.sql"), catalog)
    assert job is not None
    monkeypatch.setattr(scan_parts, "run_processes", run_here)
    monkeypatch.setattr(choose_engine, "DOUBTED", doubted)
    for name in ("PROCESS_STARTS", "PROCESS_FORKS"):
        monkeypatch.setattr(choose_engine, name, starts - 1)
    summary = replay_history(job, ReplayRequest(tmp_path / "o.csv", "csv", parts=2))
    assert summary.parts == 2
    told = "one process is estimated to replay them about as soon" in (summary.engine_because or "")
    assert told == (starts > 0 and doubted == 0)


@pytest.mark.parametrize("forks", [True, False])
def test_what_processes_take_to_start(forks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_engine, "may_fork", lambda: forks)
    here = choose_engine._Estimate(10.0, 0.1)
    starts = choose_engine.PROCESS_FORKS if forks else choose_engine.PROCESS_STARTS
    assert choose_engine._divided_seconds(here, 2, 2) == pytest.approx(starts + 10 * 0.5 / 0.9)


def test_a_limit_of_rows_at_a_timestamp_is_of_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of one timestamp are in several parts, none of which has too many."""
    monkeypatch.setattr(scan_parts, "run_processes", run_here)
    for seconds in ([1, 1, 2, 2, 3], [1, 1, 2, 2, 2, 3]):
        catalog = _write(tmp_path, seconds)
        job = _make_job(parse_sql(DISTINCT, catalog, name="q", file="q.sql"), catalog)
        assert job is not None
        one, *several = [_replay(job, tmp_path, parts) for parts in (1, 2, 3)]
        assert isinstance(one, str) == (len(seconds) == 6)
        if isinstance(one, str):
            assert "3 tuples at 1970-01-01T00:00:02" in one
            assert several == [one, one]
        else:
            assert {other[0] for other in several} == {one[0]}
