"""Ranges of history side by side: the answers of one range, and of DuckDB's plain join."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.mappings.model.catalog import Catalog, IntType, Stream
from ontoweir.runtime.chunks.read_chunk import Chunk, read_chunk
from ontoweir.runtime.division import store_statics
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.ranges import prefetch_chunks as read_chunks
from ontoweir.runtime.replay.ranges.plan_ranges import Ranges, find_start, plan_ranges
from ontoweir.runtime.sources import list_pieces
from ontoweir.runtime.sources.history import History, Piece
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, make_case
from tests.oracle.relational import answers
from tests.runtime.harness import make_catalog, make_sql_job
from tests.runtime.in_process import EPOCH, answers_upto, load_admitted, replay_here, store


def _plan(case: Case, catalog: Catalog) -> SynopsisPlan | None:
    query = case.query.disjuncts[0]
    form = normalise_query(query, distinct=case.query.distinct, catalog=catalog)
    plan = make_plan(form) if form.satisfiable else None
    return plan if isinstance(plan, SynopsisPlan) else None


@budget(0.8)
@given(seed=SEEDS)
def test_ranges_equal_the_oracle_after_every_marker(seed: int) -> None:
    random = Random(seed)
    case = make_case(random, markers=random.choice([8, 14]))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        plan = _plan(case, catalog)
        if plan is None:
            return
        plans = (plan, plan) if random.random() < 0.2 else (plan,)
        job = QueryJob("q", case.query, plans, catalog, None)
        base = load_admitted(case)
        stamps = dict.fromkeys(catalog.streams, "ts")
        distinct = case.query.distinct
        query = case.query.disjuncts[0]
        wanted = answers(base, query, stamps, distinct=distinct, markers=case.markers)
        times = 1 if distinct else len(plans)
        options = {"statics": statics, "rows_per_range": 1}
        whole, one = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for ranges in (2, 3, random.randint(4, 12)):
            patch.setattr(store_statics, "LARGEST_PICKLED", random.choice([0, 1 << 40]))
            rows, summary = replay_here(
                patch, job, Path(folder, "n.parquet"), **options,
                ranges=ranges, rows_per_chunk=random.choice([1, 3, 1000]),
            )  # fmt: skip
            assert rows == whole
            assert (summary.tuples, summary.markers) == (one.tuples, one.markers)
            for marker, right in enumerate(wanted):
                found = answers_upto(rows, case.query.variables, marker)
                assert found == Counter({r: n * times for r, n in right.items()})


@budget(0.5)
@given(seed=SEEDS)
def test_what_is_rejected_does_not_depend_on_ranges(seed: int) -> None:
    random = Random(seed)
    case = make_case(random, markers=12)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        plan = _plan(case, catalog)
        if plan is None:
            return
        streams = {}
        for name, stream in catalog.streams.items():
            for file in Path(folder, name).glob("*.parquet"):
                _spoil(file, random)
            keys = ((stream.columns[0].name, "ts"),) if random.random() < 0.6 else ()
            columns = tuple(
                replace(c, maximum=1) if isinstance(c.type, IntType) and c.maximum else c
                for c in stream.columns
            )
            streams[name] = replace(stream, keys=keys, columns=columns, max_per_timestamp=None)
        job = QueryJob("q", case.query, (plan,), replace(catalog, streams=streams), None)
        options = {
            "statics": statics,
            "rows_per_range": 1,
            "start": random.choice([None, EPOCH + timedelta(microseconds=3)]),
            "stop": random.choice([None, EPOCH + timedelta(microseconds=9)]),
        }
        whole, one = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for ranges in (2, 5):
            rows, summary = replay_here(
                patch, job, Path(folder, "n.parquet"), **options, ranges=ranges, rows_per_chunk=4
            )
            assert rows == whole
            assert summary.rejected == one.rejected
            assert (summary.tuples, summary.markers) == (one.tuples, one.markers)


def _spoil(file: Path, random: Random) -> None:
    """Repeat rows, and take their timestamps from some."""
    table = pq.read_table(file)
    index = [i for i in range(table.num_rows) for _ in range(random.choice([1, 1, 1, 2]))]
    table = table.take(pa.array(index, pa.int64()))
    stamps = [None if random.random() < 0.1 else t for t in table.column("ts").to_pylist()]
    place = table.column_names.index("ts")
    table = table.set_column(place, "ts", pa.array(stamps, pa.int64()))
    pq.write_table(table, file, row_group_size=random.randint(1, 5))


TOML = """
[streams.a]
source = { format = "parquet", path = "a.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 5
columns = { k = "int" }
[streams.b]
source = { format = "parquet", path = "b.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 3 } }
"""
SQL = "SELECT b.k FROM a, b WHERE a.k = b.k AND a.ts < b.ts"


def _two_streams(folder: Path, stamps: list[int]) -> QueryJob:
    for name in ("a", "b"):
        times = pa.array([1_000_000 * s for s in stamps]).cast(pa.timestamp("us"))
        table = pa.table({"ts": times, "k": [s % 4 for s in stamps]})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=4)
    return make_sql_job(SQL, make_catalog(folder, TOML))


def test_ranges_are_used_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _two_streams(tmp_path, list(range(40)))
    output = tmp_path / "out.parquet"
    _, one = replay_here(monkeypatch, job, output, ranges=1, rows_per_range=10)
    assert (one.ranges, one.one_range_because) == (1, "Spark has one core")
    whole, one = replay_here(monkeypatch, job, output, ranges=4)
    assert (one.ranges, one.one_range_because) == (1, "history has only 80 rows")
    rows, summary = replay_here(monkeypatch, job, output, ranges=4, rows_per_range=10)
    assert (summary.ranges, summary.one_range_because) == (4, None)
    assert rows == whole
    assert summary.state_rows_max == 4


def test_no_range_reaches_beyond_the_span(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _two_streams(tmp_path, list(range(40)))
    monkeypatch.setattr(list_pieces, "_overlaps", lambda *given: True)  # as staged streams have it
    start = datetime(1970, 1, 1)
    for first, last in ((30, 40), (0, 9), (11, 33)):
        span = {"start": start + timedelta(seconds=first), "stop": start + timedelta(seconds=last)}
        output = tmp_path / "out.parquet"
        whole, one = replay_here(monkeypatch, job, output, ranges=1, **span)
        rows, many = replay_here(monkeypatch, job, output, ranges=7, rows_per_range=1, **span)
        assert rows == whole
        assert many.tuples == one.tuples == 2 * (last - first)


def test_a_task_holds_a_chunk_not_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most: list[int] = []
    plain = read_chunk

    def watched(*given: Any) -> Chunk:
        chunk = plain(*given)
        most[-1] = max(most[-1], sum(len(s.times) for s in chunk.slices.values()))
        return chunk

    monkeypatch.setattr(read_chunks, "read_chunk", watched)
    for length in (40, 400, 2_000):
        job = _two_streams(tmp_path, list(range(length)))
        most.append(0)
        _, summary = replay_here(
            monkeypatch, job, tmp_path / "out.parquet", ranges=2, rows_per_range=10,
            rows_per_chunk=16,
        )  # fmt: skip
        assert summary.tuples == 2 * length
    assert max(most) <= 16  # whatever the length of the history


@pytest.mark.parametrize(
    ("stamps", "words"),
    [
        ([*range(30), 7, *range(30, 40)], "backwards"),
        ([*range(20), *[20] * 6, *range(21, 40)], "20"),
    ],
)
def test_errors_are_those_of_one_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stamps: list[int], words: str
) -> None:
    job = _two_streams(tmp_path, stamps)
    told = []
    for ranges in (1, 3):
        with pytest.raises(Exception, match=words) as error:
            replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=ranges, rows_per_range=5)
        told.append(str(error.value))
    assert told[0] == told[1]


def _history(stream: Stream, *spans: tuple[int | None, int | None]) -> History:
    pieces = tuple(Piece("f", i, 10, "f", 1, {}, low, high) for i, (low, high) in enumerate(spans))
    return History(stream, (), pieces, False)


def test_where_history_is_cut(tmp_path: Path) -> None:
    stream = make_catalog(tmp_path, TOML).streams["a"]
    even = _history(stream, (0, 9), (9, 19), (20, 29), (30, 39))
    cut = plan_ranges([even], 2, 10)
    assert cut == Ranges((20,), None)
    assert (cut.start(0), cut.stop(0), cut.start(1), cut.stop(1)) == (None, 20, 20, None)
    assert find_start(even, 20).piece == 2
    assert find_start(even, 9).piece == 0  # its last rows are at 9
    assert find_start(even, 99).piece == 4
    for history, words in (
        (_history(stream, (0, 9), (None, None)), "no statistics"),
        (_history(stream, (0, 9), (8, 12)), "not in the order"),
        (_history(stream, (5, 9), (9, 9)), None),
        (_history(stream, (5, 5), (5, 5)), "too few"),
    ):
        assert (words or "") in (plan_ranges([history], 2, 1).reason or "")
        assert (plan_ranges([history], 2, 1).reason is None) == (words is None)
