"""What is estimated before a replay takes few rows, in few portions."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import Cache
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.runtime.replay import choose_engine, replay
from ontoweir.runtime.replay.choose_engine import EngineChoice
from ontoweir.runtime.replay.ranges import prefetch_chunks
from ontoweir.runtime.replay.ranges.replay_range import prepare_work
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.sources import identify_file
from ontoweir.runtime.verified.verification import begin_verification
from tests.runtime.harness import make_sql_job

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = 0, max = 9 }
n = { type = "int", min = 0, max = 99 }
"""
ROWS, SAMPLE = 8_000, 800
COLUMNS = {"k": 10, "n": 100}


@pytest.mark.parametrize(
    ("sql", "portions"),
    [
        ("SELECT k, n FROM s WHERE n = 7", 1),
        ("SELECT k, count(*) AS n FROM s GROUP BY k", 2),
    ],
)
def test_a_sample_is_read_in_few_portions(
    sql: str, portions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a filter's in one, as few rows are held, else in two: not in ever smaller ones, nor in one
    more of the few rows that lack of those asked for."""
    times = pa.array([i // 10 * 1_000_000 for i in range(ROWS)], pa.timestamp("us"))
    numbers = {name: pa.array([i % most for i in range(ROWS)]) for name, most in COLUMNS.items()}
    pq.write_table(pa.table({"ts": times, **numbers}), tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    (tmp_path / "q.sql").write_text(sql)
    read: list[int] = []
    found: list[Any] = []
    read_chunk = vars(prefetch_chunks)["read_chunk"]

    def noted(*given: Any) -> Any:
        chunk = read_chunk(*given)
        read.append(len(chunk.slices["s"].times))
        return chunk

    def estimate(work: Any, request: Any, **_: Any) -> EngineChoice:
        with monkeypatch.context() as patch:
            patch.setattr(prefetch_chunks, "read_chunk", noted)
            found.append(choose_engine._replay_first(prepare_work(work), SAMPLE))
        return EngineChoice(spark=False, because="it was asked for")

    monkeypatch.setattr(replay, "choose_engine", estimate)
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = workspace.compile_sql(tmp_path / "q.sql")
    options = ReplayOptions(tmp_path / "o.parquet", progress=False, final=portions == 2)
    summary = replay_query(workspace, compiled, options)
    assert summary["tuples"] == ROWS
    assert len(read) == portions
    assert SAMPLE - SAMPLE // choose_engine.SHORT <= sum(read) <= SAMPLE
    (first,) = found
    assert first.done == sum(read)
    assert first.begun == read[0]


def test_what_begins_a_replay_counts_once() -> None:
    """What each row takes is what the rows after the first chunk took, where there are some."""
    two = choose_engine._First(begun=50, begun_s=2.0, done=100, done_s=3.0, advanced=0.0)
    assert two.project(1_050) == pytest.approx(22.0)
    assert two.project(10) == pytest.approx(2.0)
    one = choose_engine._First(begun=100, begun_s=3.0, done=100, done_s=3.0, advanced=0.0)
    assert one.project(1_000) == pytest.approx(30.0)


def test_what_took_little_is_not_estimated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same query over the same files, which were verified; what took long is."""
    times = pa.array([i // 10 * 1_000_000 for i in range(ROWS)], pa.timestamp("us"))
    numbers = {name: pa.array([i % most for i in range(ROWS)]) for name, most in COLUMNS.items()}
    pq.write_table(pa.table({"ts": times, **numbers}), tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    monkeypatch.setattr(choose_engine, "WORTH", 0)
    monkeypatch.setattr(identify_file, "_SETTLED", 0)
    estimate, taken = choose_engine._estimate, list[int]()

    def noted(work: Any, rows: int) -> Any:
        taken.append(rows)
        return estimate(work, rows)

    def replay_it(number: int) -> str:
        cache = Cache(tmp_path / "cache")
        cache.folder.mkdir(exist_ok=True)
        catalog = load_project(tmp_path, environ={}).catalog
        job = make_sql_job(f"SELECT k, n FROM s WHERE n = {number}", catalog)
        request = ReplayRequest(
            tmp_path / "o.parquet",
            "parquet",
            rows_per_range=1,
            verification=begin_verification(cache, catalog, ["s"], again=False),
        )
        taken.clear()
        return str(replay.replay_history(job, request).engine_because)

    monkeypatch.setattr(choose_engine, "_estimate", noted)
    replay_it(7)
    assert taken  # this one verifies
    assert "from the first" in replay_it(7)
    assert taken
    assert "in this process before" in replay_it(7)
    assert not taken
    assert "from the first" in replay_it(8)
    monkeypatch.setattr(choose_engine, "SURELY", 1e9)
    assert "from the first" in replay_it(7)  # it took long beside what other ways take to begin
    assert taken == [ROWS // choose_engine.SAMPLE]  # so the few rows of a glance say nothing
