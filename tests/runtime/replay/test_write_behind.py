"""A task's threads: what is read ahead, and what is written behind."""

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import DataError
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.ranges import prefetch_chunks as read_chunks
from ontoweir.runtime.replay.ranges import replay_range
from ontoweir.runtime.replay.ranges.write_behind import write_behind
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from tests.runtime.harness import make_catalog, make_sql_job

TOML = """
[streams.S]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"]]
[streams.S.columns]
k = "int"
"""
SQL = "SELECT X.k FROM S X, S Y WHERE X.k = Y.k AND X.ts < Y.ts AND X.k BETWEEN 0 AND 3"


def _job(folder: Path, stamps: list[int], keys: list[int] | None = None) -> QueryJob:
    times = pa.array([1_000_000 * s for s in stamps]).cast(pa.timestamp("us"))
    table = pa.table({"ts": times, "k": keys or [s % 4 for s in range(len(stamps))]})
    pq.write_table(table, folder / "s.parquet", row_group_size=4)
    return make_sql_job(SQL, make_catalog(folder, TOML))


def _threads() -> list[str]:
    mine = ("ontoweir-read", "ontoweir-write", "ontoweir-group")
    return [t.name for t in threading.enumerate() if t.name.startswith(mine)]


def test_jobs_are_done_in_order_one_behind() -> None:
    done: list[int] = []
    go = threading.Event()

    def first() -> None:
        assert go.wait()
        done.append(0)

    with write_behind() as later:
        later(first)
        assert not done  # it does not wait for it
        go.set()
        for number in range(1, 5):
            later(partial(done.append, number))
            assert done[:number] == list(range(number))
    assert done == [0, 1, 2, 3, 4]
    assert not _threads()


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_job_raises_is_raised(jobs: int) -> None:
    done: list[int] = []

    def fail() -> None:
        raise OSError("the disk is full")

    def all_of_them() -> None:
        with write_behind() as later:
            later(fail)
            for _ in range(jobs - 1):
                later(partial(done.append, 1))

    with pytest.raises(OSError, match="full"):
        all_of_them()
    assert not done
    assert not _threads()


def test_one_chunk_is_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _job(tmp_path, list(range(100)))
    counts = {"read": 0, "computed": 0}
    most = 0
    cut, advance = vars(read_chunks)["unite_chunks"], vars(replay_range)["advance_rows"]

    def reading(*given: Any) -> Any:
        nonlocal most
        counts["read"] += 1
        most = max(most, counts["read"] - counts["computed"])
        return cut(*given)

    def computing(*given: Any) -> Any:
        found = advance(*given)
        counts["computed"] += 1
        return found

    monkeypatch.setattr(read_chunks, "unite_chunks", reading)
    monkeypatch.setattr(replay_range, "advance_rows", computing)
    output = tmp_path / "out.parquet"
    summary = replay_history(job, ReplayRequest(output, "parquet", rows_per_chunk=8))
    assert summary.tuples == 100
    assert counts["read"] == counts["computed"] > 5
    assert most <= 2
    assert not _threads()


def test_threads_end_where_data_is_broken(tmp_path: Path) -> None:
    job = _job(tmp_path, [*range(50), 7, *range(50, 60)])
    output = tmp_path / "out.parquet"
    with pytest.raises(DataError, match="backwards"):
        replay_history(job, ReplayRequest(output, "parquet", rows_per_chunk=8))
    assert not _threads()
    assert not output.exists()


@pytest.mark.parametrize("rows_per_chunk", [3, 8, 1_000])
@pytest.mark.parametrize("place", range(8))
def test_a_key_repeated_beyond_a_row_group(tmp_path: Path, place: int, rows_per_chunk: int) -> None:
    """Row groups of four, wherever the repeated key is; its twin repeats at another timestamp."""
    for same in (True, False):
        stamps = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1] if same else [0, 0, 0, 0, 0, 0, 0, 0, 1, 2]
        keys = [10, 11, 12, 13, 14, 15, 16, 17, 5, 5]
        if same:
            keys = [10, 11, 12, 13, 14, 15, 16, 17, 5, 6]
            keys[place] = keys[place - 1] if place else keys[1]
        job = _job(tmp_path, stamps, keys)
        request = ReplayRequest(tmp_path / "o", "parquet", rows_per_chunk=rows_per_chunk)
        summary = replay_history(job, request)
        assert dict(summary.rejected) == ({"S repeats the key (k, ts)": 1} if same else {})
