"""Live micro-batches over large state: in the driver, and divided among Spark's executors.

    .venv/bin/python benchmarks/live/live_parts.py [--keys 5000000] [--rows 100000] [--rounds 20]

A calibration of each of KEYS sensors comes first, then files of ROWS readings, one a micro-batch;
the query joins both, whenever they come, so that its state has KEYS rows. Prints the seconds of a
micro-batch, from its rows being asked for to its answers being published (median, 95th percentile),
and how much memory the driver and the processes that advance parts have. The answers are compared.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PROJECT = """
[project]
queries = []
[streams.readings]
source = {{ format = "parquet", path = "{folder}/readings", options = {{ maxFilesPerTrigger = "1" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.readings.columns]
sensor = {{ type = "int", min = 0, max = {last} }}
level = "int"
[streams.calibrations]
source = {{ format = "parquet", path = "{folder}/calibrations", options = {{ maxFilesPerTrigger = "1" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.calibrations.columns]
sensor = {{ type = "int", min = 0, max = {last} }}
grade = {{ type = "int", min = 0, max = 9 }}
"""  # noqa: E501
QUERY = """SELECT r.sensor, r.level FROM calibrations c, readings r
WHERE c.sensor = r.sensor AND c.ts < r.ts AND c.grade < r.level"""
_DAY = 86_400


def write_project(folder: Path, keys: int, rows: int, rounds: int) -> None:
    """The project and its files: those of calibrations, then of readings."""
    random = np.random.default_rng(3)
    (folder / "ontoweir.toml").write_text(PROJECT.format(folder=folder, last=keys - 1))
    (folder / "q.sql").write_text(QUERY)
    _write(folder / "calibrations" / "0000.parquet", _DAY, keys, random.permutation(keys), "grade")
    # each stream passes what the other has, so that every file of readings finishes the one before
    last = _DAY + (rounds + 1) * _DAY
    _write(folder / "calibrations" / "0001.parquet", last, 1, np.zeros(1, np.int64), "grade")
    for number in range(rounds):
        sensors = random.integers(0, keys, rows)
        file = folder / "readings" / f"{number:04d}.parquet"
        _write(file, _DAY * (number + 2), rows, sensors, "level")


def _write(
    file: Path,
    start: int,
    rows: int,
    sensors: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    name: str,
) -> None:
    file.parent.mkdir(exist_ok=True)
    times = (start + np.arange(rows) * (_DAY - 1) // rows) * 1_000_000
    values = (np.arange(rows) * 7) % 10
    table = {"ts": pa.array(times, pa.timestamp("us")), "sensor": sensors, name: values}
    pq.write_table(pa.table(table), file)
    when = 1_000 + start
    os.utime(file, (when, when))


def run_engine(folder: Path, engine: str, parts: int) -> None:
    """A run to its end; prints the memory of the processes that advance parts."""
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.project.project import load_project
    from ontoweir.run.run_options import RunOptions
    from ontoweir.run.run_queries import run_queries
    from ontoweir.runtime.spark.start_session import start_session

    workspace = Workspace(load_project(folder, environ={}))
    compiled = [workspace.compile_sql(folder / "q.sql")]
    place = folder / engine
    chosen = {"engine": "spark", "parts": parts} if engine == "spark" else {"engine": "driver"}
    options = RunOptions(place / "check", place / "out", once=True, progress=False, **chosen)  # type: ignore[arg-type]
    spark = start_session({})
    summary = run_queries(workspace, compiled, options, spark)
    workers = spark.sparkContext.parallelize(range(16), 16).map(lambda _: _peak()).collect()
    spark.stop()
    mine = _peak()
    print(json.dumps({"engines": summary["engines"], "driver": mine[1], "workers": dict(workers)}))


def _peak() -> tuple[int, int]:
    """This process, and the most memory that it had (MB)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return os.getpid(), int(peak.split()[1]) // 1024


def main() -> None:
    """Measure both engines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=5_000_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--run", nargs=2, metavar=("FOLDER", "ENGINE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run_engine(Path(given.run[0]), given.run[1], given.parts)
        return
    folder = Path(tempfile.mkdtemp(prefix="live-parts-"))
    try:
        write_project(folder, given.keys, given.rows, given.rounds)
        answers = []
        for engine in ("driver", "spark"):
            command = [sys.executable, __file__, "--run", str(folder), engine]
            command += ["--parts", str(given.parts)]
            ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            told = json.loads(ran.stdout.strip().splitlines()[-1])
            lines = (folder / engine / "out" / "metrics.jsonl").read_text().splitlines()
            records = [json.loads(line) for line in lines]
            seconds = [r["seconds"] for r in records if 0 < r["tuples"] <= given.rows][2:]
            middle, late = statistics.median(seconds), np.quantile(seconds, 0.95)
            held = max(r["queries"]["q"]["state_rows"] for r in records)
            print(
                f"{engine:7} p50 {middle * 1000:5.0f} ms  p95 {late * 1000:5.0f} ms  "
                f"{held:,} rows of state  driver {told['driver']:,} MB  workers "
                f"{', '.join(f'{m:,} MB' for m in told['workers'].values())}; {told['engines']['q']}",  # noqa: E501
                flush=True,
            )
            files = folder / engine / "out" / "q" / "*.parquet"
            answers.append(_digest(files))
        if answers[0] != answers[1]:
            sys.exit("the answers differ")
        print(f"{answers[0][0]:,} answers, equal")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _digest(files: Path) -> tuple[int, int]:
    """How many rows there are, and a hash of them as a bag."""
    found = duckdb.sql(
        f"SELECT count(*), sum(hash(sensor, level, \"at\")::HUGEINT) FROM read_parquet('{files}')"
    ).fetchall()
    return int(found[0][0]), int(found[0][1])


if __name__ == "__main__":
    main()
