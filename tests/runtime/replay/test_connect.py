"""A replay on a session of Spark Connect: a server of its own, started and stopped by the test."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.spark.start_session import start_session

TOML = """
[streams.a]
source = { format = "parquet", path = "a.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 9 } }
[streams.b]
source = { format = "csv", path = "b.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 9 }, x = "int" }
[relations.r]
source = { view = "SELECT k, count(*) AS n FROM held WHERE n > 0 GROUP BY k" }
columns = { k = "int", n = "int" }
[relations.held]
source = { format = "csv", path = "r.csv", options = { header = "true" } }
columns = { k = "int", n = "int" }
"""
SQL = """SELECT e.k, f.x, r.n FROM a e, b f, b g, r
WHERE e.k = f.k AND e.ts < f.ts AND g.k = e.k AND e.ts < g.ts AND g.ts < f.ts AND f.x < 20
AND r.k = e.k"""


@pytest.mark.parametrize(("port", "said"), [(None, "refused"), ("65536", "out of range")])
def test_no_server_is_one_line_at_once(
    port: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's own client would try for minutes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, but nothing listens
        port = port or str(free.getsockname()[1])
        monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{port}")
        for name in ("grpc_proxy", "https_proxy", "http_proxy"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(RunError, match=said) as raised:
            start_session()
    assert "SPARK_REMOTE is sc://127.0.0.1" in str(raised.value)


@pytest.mark.spark
@pytest.mark.slow
def test_replay_on_connect(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="pyspark[connect] is not installed")
    random = np.random.default_rng(7)
    for name in ("a", "b"):
        stamps = np.sort(random.integers(0, 900, 3_000)) * 1_000_000
        times = pa.array(stamps).cast(pa.timestamp("us"))
        table = pa.table({"ts": times, "k": random.integers(0, 10, 3_000)})
        table = table.append_column("x", pa.array(random.integers(0, 1_000, 3_000)))
        if name == "a":
            pq.write_table(table, tmp_path / "a.parquet", row_group_size=250)
        else:
            pcsv.write_csv(table, tmp_path / "b.csv")
    (tmp_path / "r.csv").write_text("k,n\n" + "".join(f"{k},{k - 2}\n" for k in range(10)))
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "q.sql").write_text(SQL)
    command = [sys.executable, "-m", "tests.runtime.connect_driver", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    told = json.loads(done.stdout.strip().splitlines()[-1])
    assert told["module"].startswith("pyspark.sql.connect")
    two, one, here = told["two"], told["one"], told["here"]
    assert (two.pop("ranges"), one.pop("ranges"), here.pop("ranges")) == (2, 1, 1)
    assert two == one == here
    assert told["whole"] == one["results"] > 0
    answers = pq.read_table(tmp_path / "one.parquet")
    for name in ("two", "here", "whole"):
        assert pq.read_table(tmp_path / f"{name}.parquet").equals(answers)
    assert "b.ts goes backwards" in told["broken"]
    assert "the session is one of Spark Connect" in told["live False"]
    assert "SPARK_REMOTE names a server of Spark Connect" in told["live True"]
    assert not (tmp_path / "live").exists()
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".ontoweir")]
