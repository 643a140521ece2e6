"""A replay on a cluster: two worker processes of Spark's, started and stopped by the test."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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


@pytest.mark.spark
@pytest.mark.slow
def test_two_workers_replay_side_by_side(root: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    for name in ("a", "b"):
        stamps = np.sort(random.integers(0, 900, 3_000)) * 1_000_000
        times = pa.array(stamps).cast(pa.timestamp("us"))
        table = pa.table({"ts": times, "k": random.integers(0, 10, 3_000)})
        table = table.append_column("x", pa.array(random.integers(0, 1_000, 3_000)))
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=250)
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "q.sql").write_text(SQL)
    command = [sys.executable, "-m", "tests.runtime.cluster_driver", str(tmp_path)]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    told = json.loads(done.stdout.strip().splitlines()[-1])
    two, one = told["summaries"]
    assert (two["ranges"], one["ranges"]) == (2, 1)
    assert len({folder for folder, _ in told["executors"]}) == 2
    assert all(prepared == 1 for _, prepared in told["executors"])
    assert two["results"] == one["results"] > 0
    assert pq.read_table(tmp_path / "two.parquet").equals(pq.read_table(tmp_path / "one.parquet"))
    for name in ("markers", "tuples", "rejected"):
        assert two[name] == one[name]
