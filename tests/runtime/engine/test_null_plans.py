"""What is asked for NULLs alone is not computed of chunks that have none, and is of others."""

from collections import Counter
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import make_job
from ontoweir.runtime.engine import advance_rows as module
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.kernel.kernel import advance_kernel
from tests.runtime.in_process import replay_here

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = 0, max = 3 }
d = "double"
v = { type = "int", min = 0, max = 9 }
"""
CHUNK = 8

GROUPED = "SELECT k, count(*) AS n, max(v) AS most, min(v) AS least FROM s GROUP BY k"
ASKED = (
    GROUPED,
    "SELECT k, count(*) AS n, max(d) AS x FROM s WHERE v IS NULL GROUP BY k",
    "SELECT k, count(DISTINCT v) AS n FROM s GROUP BY k",
    "SELECT count(*) AS n FROM s a, s b WHERE a.k IS NULL AND a.v = b.v AND a.ts < b.ts",
    "SELECT count(*) AS n FROM s a, s b WHERE a.k IS NULL AND b.d IS NULL AND a.v = b.v",
)


def _write(folder: Path, nulls: list[float], seed: int) -> None:
    """A history whose chunks have so many NULLs."""
    random = Random(seed)

    def some(value: Any, part: float) -> Any:
        return None if random.random() < part else value

    rows = [
        (
            datetime(2020, 1, 1, 0, chunk, place),
            some(random.randrange(4), part),
            some(random.choice([0.5, 1.5]), part),
            some(random.randrange(10), part / 2),
        )
        for chunk, part in enumerate(nulls)
        for place in range(CHUNK)
    ]
    kinds = (pa.timestamp("us"), pa.int64(), pa.float64(), pa.int64())
    columns = [pa.array(c, t) for c, t in zip(zip(*rows, strict=True), kinds, strict=True)]
    folder.mkdir()
    table = pa.table(dict(zip(("ts", "k", "d", "v"), columns, strict=True)))
    pq.write_table(table, folder / "s.parquet", row_group_size=CHUNK)
    (folder / "ontoweir.toml").write_text(PROJECT)


def _compile(folder: Path, sql: str) -> QueryJob:
    workspace = Workspace(load_project(folder, environ={}))
    (folder / "q.sql").write_text(sql)
    compiled = workspace.compile_sql(folder / "q.sql")
    return make_job(workspace, compiled, workspace.check(compiled), Statistics())[0]


def _replay(
    patch: pytest.MonkeyPatch, folder: Path, sql: str, size: int, *, final: bool = True
) -> Counter[tuple[Any, ...]]:
    """The answers, without their times where only the last are asked for."""
    job = _compile(folder, sql)
    options: dict[str, Any] = {"rows_per_range": 1_000, "ranges": 1, "rows_per_chunk": size}
    output = folder / "o.parquet"
    rows, _ = replay_here(patch, job, output, final=final, **options)
    hidden = {"at"} if final else set()
    return Counter(tuple(v for n, v in row.items() if n not in hidden) for row in rows)


@pytest.mark.parametrize("sql", ASKED)
def test_answers_are_those_of_the_relation(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With chunks of NULLs and others in any order, as DuckDB has it; and every update is the same,
    whatever the chunks."""
    orders = ([0.0, 0.4, 0.0], [0.5, 0.0, 0.3], [1.0, 0.0])
    for seed, nulls in enumerate(orders):
        folder = tmp_path / str(seed)
        _write(folder, nulls, seed)
        wanted = Counter(
            duckdb.execute(
                sql.replace("FROM s", f"FROM '{folder}/s.parquet' s")
                .replace(", s b", f", '{folder}/s.parquet' b")
                .replace(" s a", " a")
            ).fetchall()
        )
        updates = _replay(monkeypatch, folder, sql, 10_000, final=False)
        for size in (CHUNK, 10_000):
            assert _replay(monkeypatch, folder, sql, size) == wanted, (nulls, size)
            assert _replay(monkeypatch, folder, sql, size, final=False) == updates, (nulls, size)


@pytest.mark.parametrize(
    ("nulls", "times"),
    [([0.0] * 4, 3 * 4), ([0.0, 0.0, 1.0, 0.0], 3 * 4 + 3 + 3)],
    ids=["none", "some"],
)
def test_plans_for_nulls_are_computed_where_there_are_some(
    nulls: list[float], times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of six plans three are of `k IS NULL`: they are computed of the chunk that has such rows, and
    of the next, which has the last of them: more may have come of its time."""
    _write(tmp_path / "p", nulls, 0)
    done = []

    def advance(*given: Any) -> Any:
        done.append(given)
        return advance_kernel(*given)

    monkeypatch.setattr(module, "advance_kernel", advance)
    _replay(monkeypatch, tmp_path / "p", GROUPED, CHUNK)
    assert len(done) == times
