"""CPU seconds of functions over windows, beside DuckDB's answers to the same SQL over the same
Parquet: `python -m benchmarks.windows.window_functions [ROWS] [TEXT]`.

A stream has readings of 300 devices, whose names are texts, 100 a second; TEXT: only queries whose
names have it. Both write Parquet, with one thread; the least of three. Answers are compared: rows
that only one of them has are counted.
"""

import sys
import tempfile
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.windows.versions_speed import measure

from ontoweir.cli import main

PROJECT = """
[project]
ontology = []

[streams.reading]
source = { format = "parquet", path = "reading.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["device", "ts"]]
max_per_timestamp = 100
[streams.reading.columns]
device = { type = "string", enum = [NAMES] }
level = { type = "int", min = 0, max = 99 }

[streams.mark]
source = { format = "parquet", path = "mark.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["device", "ts"]]
max_per_timestamp = 1
[streams.mark.columns]
device = { type = "string", enum = [NAMES] }
least = { type = "int", min = 0, max = 99 }
"""
BY = "PARTITION BY device ORDER BY ts"
SHOWN = "SELECT device, ts, {} AS v FROM reading"
QUERIES = {
    "the row before (LAG)": SHOWN.format(f"level - LAG(level) OVER ({BY})"),
    "the mean of ten rows": SHOWN.format(
        f"AVG(level) OVER ({BY} ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)"
    ),
    "the greatest of ten rows": SHOWN.format(
        f"MAX(level) OVER ({BY} ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)"
    ),
    "the mean of five minutes": SHOWN.format(
        f"AVG(level) OVER ({BY} RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW)"
    ),
    "all rows until a row": SHOWN.format(f"SUM(level) OVER ({BY})"),
    "the row of another stream before (ASOF JOIN)": """SELECT r.device, r.ts, r.level - m.least AS v
        FROM reading r ASOF JOIN mark m ON r.device = m.device AND r.ts >= m.ts""",
    "the mean of a day": """SELECT device, date_trunc('day', ts) AS ts, AVG(level) AS v
        FROM reading GROUP BY 1, 2""",
    "the mean of an hour": """SELECT device, date_trunc('hour', ts) AS ts, AVG(level) AS v
        FROM reading GROUP BY 1, 2""",
}


def write_data(folder: Path, rows: int) -> None:
    """Readings, and a hundredth as many marks, from a seed."""
    random = np.random.default_rng(1)
    names = pa.array([f"device-{n:03}" for n in range(300)])
    place = np.arange(rows)
    device = place % 100 * 3 + random.integers(0, 3, rows)
    columns = {
        "ts": pa.array(place // 100 * 1_000_000).cast(pa.timestamp("us")),
        "device": names.take(pa.array(device)),
        "level": random.integers(0, 100, rows),
    }
    pq.write_table(pa.table(columns), folder / "reading.parquet")
    count = rows // 100
    columns = {
        "ts": pa.array(np.arange(count) * 1_000_000).cast(pa.timestamp("us")),
        "device": names.take(pa.array(random.integers(0, 300, count))),
        "least": random.integers(0, 100, count),
    }
    pq.write_table(pa.table(columns), folder / "mark.parquet")
    listed = ", ".join(f'"{name}"' for name in names.to_pylist())
    (folder / "ontoweir.toml").write_text(PROJECT.replace("NAMES", listed), encoding="utf-8")


def ask_duckdb(folder: Path, query: str) -> None:
    """The answers by DuckDB."""
    with duckdb.connect(config={"threads": 1}) as base:
        for name in ("reading", "mark"):
            base.execute(f"CREATE VIEW {name} AS FROM '{folder / name}.parquet'")
        base.execute(f"COPY ({query}) TO '{folder}/duck.parquet' (FORMAT parquet)")


def count_differences(folder: Path) -> int:
    """The rows that only one has, but for those of the last time: of a bucket that is not over."""
    kept = "SELECT device, epoch_us(ts) AS ts, round(CAST(v AS DOUBLE), 9) AS v FROM"
    with duckdb.connect() as base:
        ours, duck = (f"{kept} '{folder}/{n}.parquet'" for n in ("ours", "duck"))
        last = f"(SELECT max(ts) FROM ({duck}))"
        query = f"FROM (({ours}) EXCEPT ALL ({duck}) UNION ALL (({duck}) EXCEPT ALL ({ours})))"
        found = base.execute(f"SELECT count(*) {query} WHERE ts < {last}").fetchone()
    assert found is not None
    return int(found[0])


def run(rows: int, only: str) -> None:
    """Print a line for each query."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, rows)
        for what, query in QUERIES.items():
            if only not in what:
                continue
            (folder / "asked.sql").write_text(query, encoding="utf-8")
            command = ["replay", name, "--sql", str(folder / "asked.sql"), "--quiet"]
            command += ["--engine", "driver", "--output", str(folder / "ours.parquet")]
            with redirect_stdout(StringIO()):
                mine = measure(partial(main, command))
            theirs = measure(partial(ask_duckdb, folder, query))
            wrong = count_differences(folder)
            print(
                f"{what}: ontoweir {mine:.2f} s, DuckDB {theirs:.2f} s, {mine / theirs:.1f} x"
                + (f"; {wrong:,} rows differ" if wrong else ""),
                flush=True,
            )


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, "".join(sys.argv[2:3]))
