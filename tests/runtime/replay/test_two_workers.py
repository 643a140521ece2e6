"""A replay on a cluster: two worker processes of Spark's, started and stopped by the test."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from tests.runtime.harness import make_catalog, make_sql_job

TOML = """
[streams.a]
source = { format = "parquet", path = "a.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 9 } }
[streams.b]
source = { format = "parquet", path = "b.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 9 }, x = "int" }
"""
SQL = """SELECT e.k, f.x FROM a e, b f, b g
WHERE e.k = f.k AND e.ts < f.ts AND g.k = e.k AND e.ts < g.ts AND g.ts < f.ts AND f.x < 20"""


def write_project(folder: Path) -> None:
    """Two streams of three thousand rows in twelve row groups, and a query of three."""
    random = np.random.default_rng(7)
    for name in ("a", "b"):
        stamps = np.sort(random.integers(0, 900, 3_000)) * 1_000_000
        times = pa.array(stamps).cast(pa.timestamp("us"))
        table = pa.table({"ts": times, "k": random.integers(0, 10, 3_000)})
        table = table.append_column("x", pa.array(random.integers(0, 1_000, 3_000)))
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=250)
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "q.sql").write_text(SQL)


_INHERITED = [p for p in (os.environ.get("PYTHONPATH"),) if p]


def drive(root: Path, *command: str) -> dict[str, Any]:
    """Run a driver in a process of its own, whose workers find the tests; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *_INHERITED])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


@pytest.mark.spark
@pytest.mark.slow
def test_two_workers_replay_side_by_side(root: Path, tmp_path: Path) -> None:
    write_project(tmp_path)
    told = drive(root, "tests.runtime.cluster_driver", str(tmp_path))
    two, one = told["summaries"]
    assert (two["ranges"], one["ranges"]) == (2, 1)
    assert len({folder for folder, _ in told["executors"]}) == 2
    assert all(prepared == 1 for _, prepared in told["executors"])
    assert two["results"] == one["results"] > 0
    assert pq.read_table(tmp_path / "two.parquet").equals(pq.read_table(tmp_path / "one.parquet"))
    for name in ("markers", "tuples", "rejected"):
        assert two[name] == one[name]


@pytest.mark.slow
def test_killed_workers_change_nothing(
    root: Path, tmp_path: Path, spark: SparkSession, pytestconfig: pytest.Config
) -> None:
    """kill -9 of Python workers inside the kernel: at least 20 with --long, a few without."""
    write_project(tmp_path)
    job = make_sql_job(SQL, make_catalog(tmp_path, TOML))
    whole = tmp_path / "whole.parquet"
    replay_history(job, ReplayRequest(whole, "parquet", ranges=1), spark=spark)
    kills, wanted = 0, 20 if pytestconfig.getoption("--long") else 2
    for seed in range(20):
        told = drive(root, "tests.runtime.killed_workers_driver", str(tmp_path), str(seed))
        kills += told["kills"]
        assert told["kills"] > 0
        assert told["summary"]["ranges"] == 2
        assert pq.read_table(tmp_path / f"killed-{seed}.parquet").equals(pq.read_table(whole))
        if kills >= wanted:
            break
    assert kills >= wanted
