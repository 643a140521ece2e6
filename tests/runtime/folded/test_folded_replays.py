"""Replays in which few rows stand for all, beside the same without, and beside all updates."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import make_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.folded import fold_rows
from ontoweir.runtime.folded.list_folded import list_folded
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.replay.ranges import replay_range
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
f = "boolean"
[relations.r]
source = { format = "parquet", path = "r.parquet" }
keys = [["k"]]
max_rows = 4
[relations.r.columns]
k = "int"
site = "int"
[relations.r2]
source = { format = "parquet", path = "r2.parquet" }
max_rows = 4
[relations.r2.columns]
k = "int"
site = "int"
"""

FOLDED = [
    "SELECT COUNT(*) AS x FROM s",
    "SELECT s.k, COUNT(*) AS x FROM s GROUP BY s.k",
    "SELECT s.t, s.f, COUNT(*) AS x, MAX(s.c) AS y FROM s GROUP BY s.t, s.f",
    "SELECT s.k, COUNT(s.t) AS x, MIN(s.b) AS y, MAX(s.b) AS z FROM s GROUP BY s.k",
    "SELECT s.k, MIN(s.a) AS x, MAX(s.a) AS y FROM s WHERE s.a IS NOT NULL GROUP BY s.k",
    "SELECT s.k, MAX(s.b) AS x, COUNT(DISTINCT s.a) AS y FROM s GROUP BY s.k",
    "SELECT s.k, MAX(s.a) AS x, COUNT(*) AS y FROM s WHERE s.f AND s.t <> 'a' GROUP BY s.k",
    "SELECT s.k, MAX(s.a) AS x, COUNT(*) AS y FROM s WHERE s.k IN (1, 2) GROUP BY s.k",
    "SELECT r.site, COUNT(*) AS x, MIN(s.c) AS y FROM s, r WHERE s.k = r.k GROUP BY r.site",
    "SELECT r2.site, COUNT(*) AS x, MAX(s.b) AS y FROM s, r2 WHERE s.k = r2.k GROUP BY r2.site",
    "SELECT DISTINCT s.k, s.t FROM s",
    "SELECT DISTINCT s.f FROM s WHERE s.a > 0",
    "SELECT DISTINCT r.site FROM s, r WHERE s.k = r.k",
    "SELECT s.t, MAX(s.a) AS x, MAX(s.b) AS y FROM s WHERE s.c IS NOT NULL GROUP BY s.t",
    "SELECT s.k, COUNT(s.c) AS x, MAX(s.c) AS y, COUNT(s.t) AS z FROM s GROUP BY s.k",
    "SELECT s.k, SUM(s.a) AS x, COUNT(*) AS y FROM s GROUP BY s.k",
    "SELECT s.t, SUM(s.b) AS x, AVG(s.a) AS y, COUNT(*) AS z, MAX(s.b) AS w FROM s GROUP BY s.t",
    "SELECT s.k, COUNT(s.b) AS x, AVG(s.b) AS y, MIN(s.b) AS z FROM s GROUP BY s.k",
    "SELECT COUNT(s.a) AS x, SUM(s.a) AS y FROM s WHERE s.k < 3",
    "SELECT s.a, SUM(s.a) AS x, COUNT(*) AS y FROM s GROUP BY s.a",
    "SELECT s.k, COUNT(*) AS x, MEDIAN(s.a) AS y FROM s GROUP BY s.k",
]
ALL_MATTER = [
    "SELECT s.k, SUM(s.a) AS x FROM s GROUP BY s.k",
    "SELECT s.k, AVG(s.b) AS x, MAX(s.b) AS y FROM s GROUP BY s.k",
    "SELECT s.k, MEDIAN(s.a) AS x FROM s GROUP BY s.k",
    "SELECT r.site, SUM(s.b) AS x, COUNT(*) AS y FROM s, r WHERE s.k = r.k GROUP BY r.site",
    "SELECT s.k, SUM(s.c) AS x, COUNT(*) AS y FROM s GROUP BY s.k",
    "SELECT s.k, MAX(s.a) AS x FROM s WHERE s.a < 2 GROUP BY s.k",
    "SELECT s.b, COUNT(*) AS x FROM s GROUP BY s.b",
    "SELECT s.k, COUNT(*) AS x FROM s GROUP BY s.k HAVING COUNT(*) > 5",
    "SELECT s.k, COUNT(*) AS x FROM s, s AS o WHERE s.k = o.k AND s.ts = o.ts GROUP BY s.k",
    "SELECT s.k, s.t FROM s WHERE s.a = 3",
    "SELECT s.k, COUNT(*) AS x FROM s WHERE s.ts >= TIMESTAMP '1970-01-01 00:00:20' GROUP BY s.k",
]


def write(folder: Path, seed: int) -> None:
    """A project with a random history."""
    random = Random(seed)
    rows: list[dict[str, Any]] = []
    for n in range(random.choice([60, 200])):
        row: dict[str, Any] = {"ts": n // random.choice([1, 3]) // 3 * 1_000_000}
        row |= {"k": random.randrange(4), "t": random.choice(["", "a", "b"])}
        row |= {"a": random.randint(-3, 3), "b": Decimal(random.randrange(4))}
        row |= {"c": random.choice([0.0, -0.0, 0.25, 1.0]), "f": random.random() < 0.5}
        rows.append({n: None if random.random() < 0.1 and n != "ts" else v for n, v in row.items()})
    rows.sort(key=lambda row: row["ts"])
    kinds = {"ts": pa.timestamp("us"), "k": pa.int64(), "t": pa.string(), "a": pa.int32()}
    kinds |= {"b": pa.decimal128(4, 2), "c": pa.float64(), "f": pa.bool_()}
    columns = {
        name: pa.array([r[name] for r in rows], pa.int64() if name == "ts" else None).cast(kind)
        for name, kind in kinds.items()
    }
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "s.parquet", row_group_size=37)
    pq.write_table(pa.table({"k": [0, 1, 2], "site": [7, 7, 8]}), folder / "r.parquet")
    pq.write_table(pa.table({"k": [0, 0, 1, 2], "site": [7, 8, 8, 9]}), folder / "r2.parquet")
    (folder / "ontoweir.toml").write_text(PROJECT)


def compile_job(folder: Path, sql: str) -> QueryJob:
    """A query over the project."""
    workspace = Workspace(load_project(folder, environ={}))
    (folder / "q.sql").write_text(sql)
    compiled = workspace.compile_sql(folder / "q.sql")
    job, _ = make_job(workspace, compiled, workspace.check(compiled), Statistics())
    return job


@pytest.mark.parametrize("sql", FOLDED + ALL_MATTER)
def test_the_same_answers(sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    class Watched(fold_rows.Folds):
        """Says how many rows there were, and are."""

        def fold(self, admitted: Mapping[str, Admitted]) -> dict[str, Admitted]:
            few = super().fold(admitted)
            made.extend((len(a.times), len(few[n].times)) for n, a in admitted.items())
            return few

    monkeypatch.setattr(fold_rows, "_FEWEST", 1)
    monkeypatch.setattr(fold_rows, "_EACH", 1)
    monkeypatch.setattr("ontoweir.runtime.replay.ranges.prefetch_chunks.Folds", Watched)
    for seed in range(3):
        write(tmp_path / str(seed), seed)
        job = compile_job(tmp_path / str(seed), sql)
        grouped = job.union.aggregation is not None
        for ranges, size in ((1, 1_000), (1, 70), (3, 70)):
            options: dict[str, Any] = {"rows_per_range": 10, "ranges": ranges}
            options |= {"rows_per_chunk": size, "final": grouped}
            told = []
            for few in (True, False):
                chosen = list_folded if few else lambda work, plans: {}
                monkeypatch.setattr(replay_range, "list_folded", chosen)
                output = tmp_path / f"{seed}-{ranges}-{size}-{few}.parquet"
                found, summary = replay_here(monkeypatch, job, output, **options)
                told.append((found, summary.tuples, summary.markers, summary.rejected))
            assert told[0] == told[1], (seed, ranges, size)
            if grouped and sql not in ALL_MATTER and ranges == 1:
                updates, _ = replay_here(monkeypatch, job, output, **{**options, "final": False})
                assert job.union.aggregation is not None
                names = job.union.aggregation.group
                last = {tuple(row[n] for n in names): row for row in updates}
                assert sorted(told[0][0], key=str) == sorted(last.values(), key=str)
    assert any(after < before for before, after in made) == (sql in FOLDED)


def test_numbers_that_do_not_fit_are_told_of_whatever_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the least value is not the greatest, and stands in no answer."""
    monkeypatch.setattr(fold_rows, "_FEWEST", 1)
    monkeypatch.setattr(fold_rows, "_EACH", 1)
    folder = tmp_path / "p"
    write(folder, 0)
    text = (folder / "ontoweir.toml").read_text()
    (folder / "ontoweir.toml").write_text(text.replace(", min = -3, max = 3", ""))
    table = pq.read_table(folder / "s.parquet")
    whole = [n if n != 9 else -(1 << 62) for n in range(table.num_rows)]
    place = table.column_names.index("a")
    table = table.set_column(place, "a", pa.array(whole))
    pq.write_table(table, folder / "s.parquet")
    job = compile_job(folder, "SELECT s.k, MAX(s.a) AS x, MAX(s.b) AS y FROM s GROUP BY s.k")
    messages = set()
    for few in (True, False):
        if not few:
            monkeypatch.setattr(replay_range, "list_folded", lambda work, plans: {})
        try:
            replay_here(monkeypatch, job, tmp_path / "o.parquet", final=True)
        except Exception as error:
            messages.add(str(error))
        else:
            messages.add("")
    assert len(messages) == 1
