"""What the driver holds while a state in parts is divided into other parts: a part, not all."""

import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import make_job
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import LiveState
from ontoweir.runtime.live.parts.place_anew import place_anew
from ontoweir.runtime.sources.read_source import BAD
from tests.runtime.parts_here import divide

KEYS = 600_000
TIMES, BESIDE = 8, 1 << 20
"""docs/live.md, Large state: the driver holds eight times the bytes of the largest part, of those
that were and those that are to be; and what does not depend on the state."""
TOML = """[project]
[streams.r]
source = {{ format = "parquet", path = "r" }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ k = {{ type = "int", min = 0, max = {0} }} }}
[streams.c]
source = {{ format = "parquet", path = "c" }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ k = {{ type = "int", min = 0, max = {0} }}, v = "int" }}
"""
SQL = "SELECT c.k, c.v FROM r, c WHERE r.k = c.k AND r.ts < c.ts"


def peak_of(task: Callable[[], LiveState | None]) -> tuple[LiveState, int]:
    """What a task returns, and the most bytes of numpy and Arrow that it held at once."""
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        made = task()
        _, held = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    assert made is not None
    return made, held + pool.max_memory()


def test_a_part_is_held_at_once(tmp_path: Path) -> None:
    """Eight parts, and 24: a few times what one has, however many there are."""
    (tmp_path / "ontoweir.toml").write_text(TOML.format(KEYS - 1))
    (tmp_path / "q.sql").write_text(SQL)
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = workspace.compile_sql(tmp_path / "q.sql")
    query = make_job(workspace, compiled, workspace.check(compiled), Statistics())[0]
    job, folder = make_live_job([query], workspace.project.catalog, {}, {}), tmp_path / "parts"
    rows = np.arange(KEYS)
    first = {"ts": pa.array(rows // (KEYS // 2) * 1_000_000), "k": pa.array(rows)}
    later = pa.array([9_000_000], pa.int64())
    arrived = {
        "r": pa.table({**first, BAD: pa.nulls(KEYS, pa.string())}),
        "c": pa.table({"ts": later, "k": [0], "v": [1], BAD: pa.nulls(1, pa.string())}),
    }
    state = advance_live(job, begin_live(job), arrived, 0.0).state
    one, most = state, 0
    for parts in (8, 5, 24, 5):
        placed = divide(job, query, parts, folder)
        assert placed is not None
        one, peak = peak_of(partial(place_anew, placed, one, folder))
        held, before = one.queries[0], most
        assert isinstance(held, DividedState)
        assert held.rows == KEYS // 2
        most = max(size for part in held.parts for _, size in part.sizes)
        if before:  # from the driver, which has the state
            assert peak <= TIMES * max(most, before) + BESIDE, (parts, peak, before, most)
        there = {file.name for file in folder.iterdir()}
        assert frozenset[str]().union(*(part.files for part in held.parts)) <= there
