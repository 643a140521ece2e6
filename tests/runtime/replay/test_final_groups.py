"""Where only the last rows of an aggregate are made, they are the last of all updates."""

from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import RunError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import make_job
from ontoweir.runtime.engine.query_job import QueryJob
from tests.runtime.in_process import replay_here

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = 0, max = 3 }
t = { type = "string", enum = ["", "a", "b"] }
a = { type = "int", min = -3, max = 3 }
b = { type = "decimal(4, 2)", min = 0, max = 3 }
c = { type = "double", min = 0, max = 1 }
"""

SELECTED = {
    "count": "COUNT(*) AS x",
    "sum": "SUM(s.a) AS x",
    "sum beside a count": "SUM(s.a) AS x, COUNT(*) AS y",
    "average": "AVG(s.a) AS x",
    "counts of values": "COUNT(s.a) AS x, SUM(s.a) AS y, COUNT(s.b) AS z",
    "extremes": "MIN(s.a) AS x, MAX(s.b) AS y, MAX(s.c) AS z",
    "extremes beside a count": "MIN(s.a) AS x, COUNT(*) AS y",
    "distinct": "COUNT(DISTINCT s.a) AS x, COUNT(DISTINCT s.t) AS y",
    "median": "MEDIAN(s.a) AS x",
    "medians beside a count": "MEDIAN(s.b) AS x, COUNT(*) AS z",
}
GROUPS = {"": "", "k": "s.k", "t": "s.t", "k, t": "s.k, s.t", "b": "s.b"}


def write(folder: Path, seed: int) -> None:
    """A project with a random history."""
    random = Random(seed)
    rows: list[dict[str, Any]] = []
    for n in range(random.choice([1, 60, 200])):
        row: dict[str, Any] = {"ts": n // random.choice([1, 3]) // 3 * 1_000_000}
        row |= {"k": random.randrange(4), "t": random.choice(["", "a", "b"])}
        row |= {"a": random.choice([-3, 0, 0, 0, 3]), "b": Decimal(random.randrange(4))}
        row["c"] = random.choice([0.0, -0.0, 0.25, 1.0])
        rows.append({n: None if random.random() < 0.1 and n != "ts" else v for n, v in row.items()})
    rows.sort(key=lambda row: row["ts"])
    kinds = {"ts": pa.timestamp("us"), "k": pa.int64(), "t": pa.string()}
    kinds |= {"a": pa.int64(), "b": pa.decimal128(4, 2), "c": pa.float64()}
    columns = {
        name: pa.array([r[name] for r in rows], pa.int64() if name == "ts" else None).cast(kind)
        for name, kind in kinds.items()
    }
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "s.parquet", row_group_size=17)
    (folder / "ontoweir.toml").write_text(PROJECT)


def compile_job(folder: Path, sql: str) -> tuple[QueryJob, tuple[str, ...]]:
    """A query over the project, and the columns of its groups."""
    workspace = Workspace(load_project(folder, environ={}))
    (folder / "q.sql").write_text(sql)
    compiled = workspace.compile_sql(folder / "q.sql")
    job, _ = make_job(workspace, compiled, workspace.check(compiled), Statistics())
    assert job.union.aggregation is not None
    return job, job.union.aggregation.group


@pytest.mark.parametrize("name", SELECTED)
def test_the_last_rows_of_all_updates(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, (group, columns) in enumerate(GROUPS.items()):
        folder = tmp_path / str(seed)
        write(folder, seed)
        keys = f"{columns}, " if columns else ""
        by = f" GROUP BY {columns}" if columns else ""
        job, names = compile_job(folder, f"SELECT {keys}{SELECTED[name]} FROM s{by}")
        options: dict[str, Any] = {"rows_per_range": 10, "ranges": 1}
        updates, _ = replay_here(monkeypatch, job, folder / "all.parquet", **options)
        last = {tuple(row[n] for n in names): row for row in updates}
        wanted = sorted(last.values(), key=str)
        for ranges, size in ((1, 15), (1, 1_000), (3, 15)):
            options = {"rows_per_range": 10, "ranges": ranges, "rows_per_chunk": size}
            output = folder / f"{ranges}-{size}.parquet"
            found, summary = replay_here(monkeypatch, job, output, final=True, **options)
            assert sorted(found, key=str) == wanted, (group, ranges, size)
            assert [row["at"] for row in found] == sorted(row["at"] for row in found)
            assert summary.results == len(wanted)


def test_an_extreme_that_changes_after_the_last_value_that_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is as of then; beside a count of all rows, which goes on, as of the last of them."""
    folder = tmp_path / "project"
    write(folder, 0)
    columns = {
        "ts": pa.array([n * 1_000_000 for n in range(5)]).cast(pa.timestamp("us")),
        "k": pa.array([0, 0, 0, 0, 0]),
        "t": pa.array(["a"] * 5),
        "a": pa.array([2, 2, 2, 1, 3]),
        "b": pa.array([Decimal(1), Decimal(1), None, None, None], pa.decimal128(4, 2)),
        "c": pa.array([0.5] * 5),
    }
    pq.write_table(pa.table(columns), folder / "s.parquet", row_group_size=5)
    for counted, second in (("s.b", 3), ("*", 4)):
        sql = f"SELECT s.k, MIN(s.a) AS x, COUNT({counted}) AS n FROM s GROUP BY s.k"
        job, _ = compile_job(folder, sql)
        for size in (1, 2, 100):
            options: dict[str, Any] = {"rows_per_range": 1, "ranges": 1, "rows_per_chunk": size}
            (row,), _ = replay_here(monkeypatch, job, folder / "o.parquet", final=True, **options)
            assert (row["x"], row["at"].second) == (1, second)


def test_what_groups_have_is_not_kept_by_plans_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one range answers at its end; ranges go on from what plans keep, and so do updates."""
    folder = tmp_path / "project"
    write(folder, 0)
    selected = "MIN(s.a) AS x, MAX(s.c) AS y, COUNT(*) AS n"
    job, _ = compile_job(folder, f"SELECT s.k, {selected} FROM s GROUP BY s.k")
    options: dict[str, Any] = {"rows_per_range": 10, "rows_per_chunk": 15}
    found, summary = replay_here(
        monkeypatch, job, folder / "a.parquet", final=True, ranges=1, **options
    )
    assert summary.state_rows_max == len(found)
    for final, ranges in ((True, 3), (False, 1)):
        output = folder / f"{ranges}.parquet"
        _, more = replay_here(monkeypatch, job, output, final=final, ranges=ranges, **options)
        assert more.state_rows_max > len(found)


FAR = 3 << 60


@pytest.mark.parametrize(
    "values",
    [[FAR] * 3 + [-FAR] * 3, [0, 1 << 62, (1 << 62) - 10, 20, -30, 0]],
    ids=["in great steps", "in small ones, from far away"],
)
def test_a_sum_that_leaves_64_bits_and_comes_back_is_refused(
    values: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is asked for, and in which chunks: as where every update is made."""
    folder = tmp_path / "project"
    write(folder, 0)
    project = (folder / "ontoweir.toml").read_text()
    (folder / "ontoweir.toml").write_text(project.replace(", min = -3, max = 3", ""))
    columns = {
        "ts": pa.array([n * 1_000_000 for n in range(6)]).cast(pa.timestamp("us")),
        "k": pa.array([0] * 6),
        "t": pa.array(["a"] * 6),
        "a": pa.array(values),
        "b": pa.array([Decimal(1)] * 6, pa.decimal128(4, 2)),
        "c": pa.array([0.5] * 6),
    }
    pq.write_table(pa.table(columns), folder / "s.parquet", row_group_size=2)
    job, _ = compile_job(folder, "SELECT s.k, SUM(s.a) AS x, COUNT(*) AS n FROM s GROUP BY s.k")
    messages = set()
    for final in (False, True):
        for size in (1, 2, 3, 100):
            options: dict[str, Any] = {"rows_per_range": 1, "ranges": 1, "rows_per_chunk": size}
            with pytest.raises(RunError, match="the sum of x does not fit 64 bits at") as error:
                replay_here(monkeypatch, job, folder / "o.parquet", final=final, **options)
            messages.add(str(error.value))
    assert len(messages) == 1
