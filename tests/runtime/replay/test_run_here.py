"""A short history is replayed in this process: the same answers as by Spark tasks."""

import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.replay import choose_engine
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import Engine, ReplayRequest
from tests.runtime.harness import make_catalog, make_sql_job, run
from tests.runtime.in_process import replay_here

TOML = """
[streams.S]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 50
keys = [["k", "ts"]]
references = [{ columns = ["a"], relation = "R", to = ["a"] }]
[streams.S.columns]
k = "int"
a = { type = "int", min = 0, max = 9 }
t = { type = "string", enum = ["x", "y"] }
v = "float"
[relations.R]
source = { format = "csv", path = "r.csv", options = { header = "true" } }
keys = [["a"]]
[relations.R.columns]
a = "int"
n = "string"
"""
SQL = (
    "SELECT R.n, Y.k FROM S X, S Y, R WHERE X.a = Y.a AND R.a = X.a AND X.ts < Y.ts "
    "AND X.t = 'x' AND X.k < 3 AND Y.k >= 7 "
    "AND X.v < 2"
)


def write_history(folder: Path, seed: int, *, wild: bool = True) -> Catalog:
    """Random rows; if `wild`, some break a domain, a key, a reference, a NULL or a NaN rule."""
    random = np.random.default_rng(seed)
    rows = 400
    odd = 13 if wild else 9
    table = pa.table(
        {
            "ts": pa.array(np.sort(random.integers(0, 40, rows)) * 1_000_000).cast(
                pa.timestamp("us")
            ),
            "k": pa.array(random.integers(0, 12, rows) if wild else np.arange(rows), pa.int32()),
            "a": pa.array(
                [None if wild and r % 17 == 0 else int(r) % odd for r in range(rows)], pa.int16()
            ),
            "t": pa.array(random.choice(["x", "y", "z"] if wild else ["x", "y"], rows)),
            "v": pa.array(random.choice([1.5, float("nan")] if wild else [1.5], rows)),
        }
    )
    (folder / "s").mkdir()
    pq.write_table(table.slice(0, 150), folder / "s" / "1.parquet", row_group_size=40)
    pq.write_table(table.slice(150), folder / "s" / "2.parquet", row_group_size=70)
    (folder / "r.csv").write_text("a,n\n" + "".join(f"{i},n{i % 3}\n" for i in range(8)))
    return make_catalog(folder, TOML)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_by_spark_and_here(seed: int, tmp_path: Path, spark: SparkSession) -> None:
    job = make_sql_job(SQL, write_history(tmp_path, seed))
    theirs, told = run(job, spark, tmp_path, rows_per_chunk=90)
    mine, here = run(job, spark, tmp_path, rows_per_chunk=90, engine="auto")
    assert mine == theirs
    assert mine
    assert (here.engine, here.engine_because) == ("driver", "history has only 400 rows")
    assert (told.engine, told.engine_because) == ("spark", "as it was asked for")
    assert (here.rejected, here.markers, here.tuples, here.state_rows_max) == (
        told.rejected,
        told.markers,
        told.tuples,
        told.state_rows_max,
    )
    assert sorted(here.rejected) == [
        "S repeats the key (k, ts)",
        "S.a is not in R.a",
        "S.a is outside its declared domain",
        "S.t is outside its declared domain",
        "S.v is NaN",
    ]


@pytest.mark.parametrize(("starts", "engine", "seen"), [(0.0, "spark", 20), (1e6, "driver", 4)])
def test_the_faster_engine_is_chosen(
    starts: float, engine: str, seen: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an estimate from the first rows, which is shown; answers are the same."""
    job = make_sql_job(SQL, write_history(tmp_path, 1), bound=1_000)
    monkeypatch.setattr(choose_engine, "WORTH", 0)
    monkeypatch.setattr(choose_engine, "SPARK_STARTS", starts)
    monkeypatch.setattr(choose_engine, "SPARK_JOB", 0.0)
    monkeypatch.setattr(choose_engine, "SHARE", 1e-6)
    monkeypatch.setattr(choose_engine, "_is_started", lambda: False)
    out = tmp_path / "o.parquet"
    rows, summary = replay_here(monkeypatch, job, out, engine="auto", rows_per_range=20)
    assert summary.engine == engine
    shown = r"about [0-9.]+ s in this process, [0-9.]+ s by Spark with \d+ cores"
    shown += r"(, 1e\+06 s of them for its start)?; from the first "
    shown += f"{seen} of 400 rows"
    assert re.fullmatch(shown, summary.engine_because or "")
    assert rows == replay_here(monkeypatch, job, out, engine="driver")[0]


def test_an_engine_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_sql_job(SQL, write_history(tmp_path, 1))
    out = tmp_path / "o.parquet"
    asked: list[tuple[Engine, int | None, str]] = [
        ("spark", None, "spark"),
        ("driver", 2, "driver"),
    ]
    for given, ranges, engine in [*asked, ("auto", 2, "spark")]:
        _, summary = replay_here(monkeypatch, job, out, engine=given, ranges=ranges)
        assert (summary.engine, summary.engine_because) == (engine, "as it was asked for")


def test_no_spark_is_started(tmp_path: Path) -> None:
    """Neither a session nor pyspark is needed."""
    job = make_sql_job(SQL, write_history(tmp_path, 1))

    def never() -> SparkSession:
        raise AssertionError("a session was asked for")

    for form in ("parquet", "csv", "jsonl"):
        summary = replay_history(job, ReplayRequest(tmp_path / "o", form), spark=never)
        assert summary.results


def test_broken_data_says_the_same(tmp_path: Path, spark: SparkSession) -> None:
    catalog = write_history(tmp_path, 1, wild=False)
    rows = pq.read_table(tmp_path / "s" / "2.parquet")
    pq.write_table(rows.sort_by([("ts", "descending")]), tmp_path / "s" / "2.parquet")
    job = make_sql_job(SQL, catalog)
    said = []
    for engine in ("spark", "auto"):
        with pytest.raises(DataError) as error:
            run(job, spark, tmp_path, engine=engine)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert "goes backwards" in said[0]
    assert not [p for p in (tmp_path / "out").iterdir() if p.name.startswith(".")]
    assert "pyspark" in sys.modules  # the twin above did not need it
