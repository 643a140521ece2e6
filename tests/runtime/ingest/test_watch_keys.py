"""A key over the whole stream: enforced within a timestamp, watched beyond it."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.cli import main
from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob, WatchedKey
from ontoweir.runtime.ingest import watch_keys as module
from ontoweir.runtime.ingest.watch_keys import MAX_RUNS, PLACES, watch_keys
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.sources.read_source import BAD

_STREAM = Stream("z", DataSource("parquet", None), "ts", 1_000_000, 3, (), (("id",),))


def _rows(ids: list[object]) -> pa.Table:
    return pa.table({"id": pa.array(ids)})


def _watch(run: str, steps: list[int], ids: list[object]) -> None:
    watch_keys(run, _STREAM, [("id",)], np.array(steps, dtype=np.int64), _rows(ids))


FOUR: list[list[object]] = [
    [1, 2, 3, 2],
    ["a", "b", "c", "b"],
    [f"{'x' * 100}{n}{'x' * 100}" for n in (1, 2, 3, 2)],
    [1.5, 2.5, 3.5, 2.5],
    [-0.0, 2.5, 3.5, 0.0],
    [Decimal("1.5"), Decimal("2.50"), Decimal("-1.5"), Decimal("2.5")],
    [date(2020, 1, d) for d in (1, 2, 3, 2)],
    [datetime(2020, 1, d, tzinfo=UTC) for d in (1, 2, 3, 2)],
]


@pytest.mark.parametrize("ids", FOUR)
def test_rows_of_one_chunk(ids: list[object]) -> None:
    with pytest.raises(DataError, match=r"z repeats its key \(id\): id = .* again at"):
        _watch(f"one {ids}", [1, 1, 2, 3], ids)


def test_queries_of_a_run_may_count_in_other_steps() -> None:
    """As where one of them reads a stream of another unit, too."""
    finer = replace(_STREAM, step_us=500_000)
    _watch("steps", [1, 2], [1, 2])
    watch_keys("steps", finer, [("id",)], np.array([2, 4], dtype=np.int64), _rows([1, 2]))
    with pytest.raises(DataError, match=r"at 1970-01-01T00:00:02 and again at 1970-01-01T00:00:01"):
        watch_keys("steps", finer, [("id",)], np.array([2], dtype=np.int64), _rows([2]))


@pytest.mark.parametrize("ids", [ids[:3] for ids in FOUR])
def test_rows_of_several_chunks(ids: list[object]) -> None:
    _watch(f"several {ids}", [1, 1, 2], ids)
    _watch(f"several {ids}", [1, 1, 2], ids)  # read again: the same rows
    with pytest.raises(DataError, match="1970-01-01T00:00:01"):
        _watch(f"several {ids}", [5], ids[:1])


def test_different_keys_are_never_accused() -> None:
    """However many there are: places are taken over, hashes are compared."""
    rows = 3 * PLACES
    numbers = np.arange(rows, dtype=np.int64) * 0x10001
    for start in range(0, rows, PLACES // 2):
        part = numbers[start : start + PLACES // 2]
        steps = np.arange(start, start + len(part), dtype=np.int64)
        watch_keys("many", _STREAM, [("id",)], steps, pa.table({"id": pa.array(part)}))


def test_runs_do_not_see_each_other() -> None:
    _watch("first run", [1], [7])
    _watch("second run", [2], [7])


def test_of_many_runs_the_oldest_are_forgotten() -> None:
    for number in range(MAX_RUNS + 1):
        _watch(f"run {number}", [1], [7])
    _watch("run 0", [2], [7])  # not known any more
    with pytest.raises(DataError, match="repeats its key"):
        _watch(f"run {MAX_RUNS}", [2], [7])


def test_a_run_with_many_keys_forgets_none_of_them() -> None:
    """Three hundred streams under one class: each is watched."""
    streams = [replace(_STREAM, name=f"z{number}") for number in range(MAX_RUNS * 5)]
    for stream in streams:
        watch_keys("wide", stream, [("id",)], np.array([1]), pa.table({"id": [7]}))
    for stream in streams:
        with pytest.raises(DataError, match=f"{stream.name}.*repeats its key"):
            watch_keys("wide", stream, [("id",)], np.array([2]), pa.table({"id": [7]}))


def test_memory_is_shared_and_grows_with_the_rows() -> None:
    """Three hundred streams, first with few rows, then with many, take less than 64 MB."""
    module._watched.clear()
    streams = [replace(_STREAM, name=f"z{number}") for number in range(300)]
    sizes = []
    for rows in (5, 4000, 100_000):
        ids = np.arange(rows)
        for stream in streams[:: 1 if rows < 5000 else 50]:
            watch_keys("wide", stream, [("id",)], ids, pa.table({"id": ids}))
        tables = module._watched["wide"].values()
        sizes.append(sum(t.first.nbytes + t.second.nbytes + t.when.nbytes for t in tables))
    assert sizes[0] < 1 << 20
    assert sizes[0] < sizes[1] <= sizes[2] < 64 << 20
    with pytest.raises(DataError, match="id = 99999 is there"):
        watch_keys("wide", streams[0], [("id",)], np.array([10**6]), _rows([99_999]))


def test_what_is_remembered_stays_when_a_table_changes_its_size() -> None:
    """It grows with the rows; with more keys it shrinks, and keeps the latest."""
    module._watched.clear()
    for number in range(PLACES):
        if number & (number - 1) == 0:
            ids = np.arange(number, max(2 * number, 1))
            watch_keys("sizes", _STREAM, [("id",)], ids, pa.table({"id": ids}))
    table = module._watched["sizes"]["z", ("id",)]
    assert len(table.when) == PLACES
    whole = int((table.when != module._NEVER).sum())
    assert whole > PLACES // 2  # of so many rows and places, all but those that share one
    for number in range(63):
        watch_keys(
            "sizes", replace(_STREAM, name=f"y{number}"), [("id",)], np.array([1]), _rows([1])
        )
    assert len(table.when) == module.BUDGET // 64
    assert np.median(table.when) > PLACES * 3 // 4
    with pytest.raises(DataError, match=f"id = {PLACES - 1} is there"):
        watch_keys("sizes", _STREAM, [("id",)], np.array([0]), _rows([PLACES - 1]))


def test_a_run_that_starts_again_knows_nothing_of_the_one_before(tmp_path: Path) -> None:
    """In one process, with the same name: it may be over other data."""
    (tmp_path / "ontoweir.toml").write_text(TOML)
    catalog = load_project(tmp_path, environ={}).catalog
    union = parse_sql("SELECT DISTINCT id FROM z", catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.plans is not None
    job = QueryJob("q", union, verdict.plans, catalog, 0, watched=(WatchedKey("z", ("id",)),))
    for second in (1, 2):
        live = make_live_job([job], catalog, {}, {})
        times = pa.array([second * 1_000_000, 9_000_000])
        rows = pa.table({"id": pa.array([7, 8]), "v": pa.array([0, 0]), "ts": times})
        rows = rows.append_column(BAD, pa.nulls(2, pa.string()))
        outcome = advance_live(live, begin_live(live), {"z": rows}, 0.0)
        assert outcome.answers[0].column("id").to_pylist() == [7]


TOML = """
[streams.z]
source = { format = "parquet", path = "z.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
keys = [["id"]]
columns = { id = "int", v = "int" }
"""


Row = tuple[int, int | None, int | None]


def _replay(folder: Path, rows: list[Row], sql: str) -> int:
    """Replay plain SQL over (second, id, v); the exit code."""
    table = pa.table(
        {
            "ts": pa.array([r[0] * 1_000_000 for r in rows]).cast(pa.timestamp("us")),
            "id": pa.array([r[1] for r in rows], pa.int64()),
            "v": pa.array([r[2] for r in rows], pa.int64()),
        }
    )
    pq.write_table(table, folder / "z.parquet")
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "q.sql").write_text(sql)
    words = ["replay", str(folder), "--sql", str(folder / "q.sql"), "--summary", "json"]
    return main([*words, "--output", str(folder / "out.parquet")])


def test_distinct_by_a_key_keeps_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[Row] = [(1, 1, 5), (1, None, 6), (2, 2, None), (2, 2, 9), (3, 3, 5)]
    assert _replay(tmp_path, rows, "SELECT DISTINCT id FROM z") == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert pq.read_table(tmp_path / "out.parquet").column("id").to_pylist() == [1, 2, 3]
    assert summary["state_rows_max"] == summary["bound_rows"] == 0
    assert summary["rejected"] == 2  # a NULL in the key, and a key that repeats at its time


def test_a_run_that_rests_on_a_false_key_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[Row] = [(1, 1, 5), (2, 2, 6), (3, 1, 7)]
    assert _replay(tmp_path, rows, "SELECT DISTINCT id FROM z") == 2
    told = capsys.readouterr().err
    assert "z repeats its key (id): id = 1 is there at 1970-01-01T00:00:01" in told
    assert not (tmp_path / "out.parquet").exists()


def test_twin_what_does_not_rest_on_it_runs(tmp_path: Path) -> None:
    rows: list[Row] = [(1, 1, 5), (2, 2, 6), (3, 1, 7)]
    assert _replay(tmp_path, rows, "SELECT id FROM z") == 0
    assert pq.read_table(tmp_path / "out.parquet").column("id").to_pylist() == [1, 2, 1]
