"""How long a live answer takes: from a marker's arrival to its result in the sink.

    .venv/bin/python benchmarks/live/live_latency.py [--seconds 30] [--rate 10] [--profile]

The reference query Q over three streams, 1,000 tuples for each timestamp, a Parquet file of each
stream. A process of its own moves the files in by renaming, `rate` timestamps a second. A timestamp
is finished when the next has arrived in all three streams: that rename is the marker's arrival. The
result is there when its Parquet file is renamed into the sink. Then the same data as a backlog:
markers a second, one in a micro-batch (maxFilesPerTrigger = 1) and as by default. Prints a table,
and the figures as JSON. `--profile` prints where the time of a micro-batch goes.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live import await_live as waiting
from ontoweir.runtime.live import process_batches as take_batches

TUPLES = 1000
WARM_UP = 15.0
STREAMS = {"S": ("a",), "T": ("b", "c"), "U": ("d", "e")}
STREAM = """
[streams.{0}]
source = {{ format = "parquet", path = "{1}/{0}"{2} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 400
[streams.{0}.columns]
"""
SQL = """SELECT T.b, U.e FROM S, T, U
WHERE S.ts < T.ts AND T.ts < U.ts AND T.b = U.d AND T.b BETWEEN 0 AND 99"""


def make_files(folder: Path, markers: int) -> None:
    """Files of every timestamp, beside where they will arrive."""
    random = np.random.default_rng(7)
    for name, columns in STREAMS.items():
        (folder / f"{name}.staged").mkdir(parents=True)
        (folder / name).mkdir()
        for marker in range(markers):
            rows = TUPLES // 3 + (name == "S")
            cells = {c: random.integers(0, 200, rows) for c in columns}
            cells["ts"] = np.full(rows, marker * 1_000_000, dtype="datetime64[us]")
            pq.write_table(pa.table(cells), folder / f"{name}.staged" / f"{marker:06d}.parquet")


def open_query(folder: Path, options: str = "") -> tuple[Workspace, list[CompiledQuery]]:
    text = ""
    for name, columns in STREAMS.items():
        text += STREAM.format(name, folder, options)
        text += "".join(f'{c} = {{ type = "int", min = 0, max = 199 }}\n' for c in columns)
    (folder / "ontoweir.toml").write_text(text)
    (folder / "q.sql").write_text(SQL)
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, [workspace.compile_sql(folder / "q.sql")]


def produce(folder: Path, first: int, last: int, rate: float) -> None:
    """Move in the files of timestamps first … last - 1, `rate` a second; their times on stdout."""
    begun = time.time()
    for number, marker in enumerate(range(first, last)):
        wait = begun + number / rate - time.time()
        if wait > 0:
            time.sleep(wait)
        for name in STREAMS:
            file = folder / f"{name}.staged" / f"{marker:06d}.parquet"
            now = time.time()
            os.utime(file, (now, now))
            os.rename(file, folder / name / file.name)
        print(json.dumps([marker, time.time()]), flush=True)


def measure_latency(folder: Path, seconds: float, rate: float) -> dict[str, Any]:
    """Milliseconds from arrival to result, after a warm-up."""
    folder.mkdir(parents=True, exist_ok=True)
    markers = int((seconds + WARM_UP) * rate) + 2
    folder.mkdir(parents=True, exist_ok=True)
    make_files(folder, markers)
    workspace, compiled = open_query(folder)
    published: list[tuple[float, int]] = []
    producing: list[subprocess.Popen[str]] = []
    stop = threading.Event()
    last_finished = (markers - 1) * 1_000_000 - 1
    commit = take_batches.write_metrics

    def told(place: Path, record: dict[str, Any], *more: Any) -> None:
        # called when the answers of a micro-batch have been published
        finished = np.datetime64(record["finished"] or "1970-01-01", "us").astype(int)
        published.append((time.time(), int(finished)))
        commit(place, record, *more)
        if not producing:
            producing.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        if finished >= last_finished:
            stop.set()

    take_batches.write_metrics = told  # type: ignore[assignment]
    command = [sys.executable, __file__, "--produce", str(folder), f"{markers}", str(rate)]
    options = RunOptions(folder / "check", folder / "out", progress=False)
    produce(folder, 0, 1, rate)  # the first timestamp is there when the run begins
    give_up = threading.Timer(WARM_UP + seconds + 60, stop.set)
    give_up.start()
    run_queries(workspace, compiled, options, stop=stop)
    give_up.cancel()
    with producing[0] as producer:
        producer.terminate()  # in case the run gave up
        assert producer.stdout is not None
        arrived = dict(json.loads(line) for line in producer.stdout)
    take_batches.write_metrics = commit
    found = []
    for marker in range(int(WARM_UP * rate), markers - 1):
        there = next((t for t, f in published if f >= marker * 1_000_000), None)
        if there is not None:
            found.append(1000 * (there - arrived[marker + 1]))
    records = [json.loads(x) for x in (folder / "out" / "metrics.jsonl").open()]
    inside = [1000 * r["seconds"] for r in records[len(records) // 3 :]]
    return {
        "markers": len(found),
        "missing": markers - 1 - int(WARM_UP * rate) - len(found),
        "p50_ms": round(statistics.median(found), 1),
        "p95_ms": round(statistics.quantiles(found, n=20)[-1], 1),
        "max_ms": round(max(found), 1),
        "micro_batches": len(records),
        "of_which_ours_p50_ms": round(statistics.median(inside), 1),
    }


def measure_backlog(folder: Path, markers: int, options: str) -> dict[str, Any]:
    """Markers a second of what is already there."""
    folder.mkdir(parents=True, exist_ok=True)
    make_files(folder, markers)
    for marker in range(markers):
        for name in STREAMS:
            file = folder / f"{name}.staged" / f"{marker:06d}.parquet"
            os.utime(file, (1000 + marker, 1000 + marker))
            os.rename(file, folder / name / file.name)
    workspace, compiled = open_query(folder, options)
    run = RunOptions(folder / "check", folder / "out", once=True, progress=False)
    run_queries(workspace, compiled, run)
    records = [json.loads(x) for x in (folder / "out" / "metrics.jsonl").open()]
    part = records[len(records) // 3 :]
    times = [np.datetime64(r["time"], "us") for r in (part[0], part[-1])]
    seconds = float((times[1] - times[0]) / np.timedelta64(1, "s"))
    done = sum(r["markers"] for r in part[1:])
    return {"markers": done, "seconds": round(seconds, 2), "per_second": round(done / seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--backlog", type=int, default=400, metavar="MARKERS")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ontoweir-live-") as name:
        folder = Path(name)
        if given.profile:
            profile_run(folder / "profile", given.seconds, given.rate)
            return
        found = {
            "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[0]},
            "python": platform.python_version(),
            "latency": measure_latency(folder / "live", given.seconds, given.rate),
        }
        if given.backlog:
            one = ', options = { maxFilesPerTrigger = "1" }'
            found["one_marker_a_batch"] = measure_backlog(folder / "one", given.backlog, one)
            found["by_default"] = measure_backlog(folder / "many", 4 * given.backlog, "")
    print(json.dumps(found, indent=1))


OURS = ("open_batch", "advance_live", "commit_batch", "publish", "measure_batch", "write_metrics")


def profile_run(folder: Path, seconds: float, rate: float) -> None:
    """Where the time goes: Spark's phases of a micro-batch, and ours, milliseconds."""
    spent: dict[str, list[float]] = {}
    await_live = waiting.await_live

    def awaited(run: Any, *arguments: Any, **named: Any) -> None:
        # no listener: with one, Spark reads the rows itself
        try:
            await_live(run, *arguments, **named)
        finally:
            for progress in run.query.recentProgress[-100:]:
                for phase, took in progress["durationMs"].items():
                    spent.setdefault(phase, []).append(took)

    waiting.await_live = awaited

    def timed(name: str, function: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            found = function(*arguments, **named)
            spent.setdefault(f"ours: {name}", []).append(1000 * (time.perf_counter() - begun))
            return found

        return call

    for name in OURS:
        for owner in (take_batches, take_batches.BatchProcessor):
            if hasattr(owner, name):
                setattr(owner, name, timed(name, getattr(owner, name)))
    taker = take_batches.BatchProcessor
    taker.take = timed("all of it", taker.take)  # type: ignore[method-assign]
    print(json.dumps(measure_latency(folder, seconds, rate)))
    for phase, took in sorted(spent.items()):
        late = statistics.quantiles(took[-100:], n=20)[-1]
        print(f"{phase:24} p50 {statistics.median(took[-100:]):7.1f} ms  p95 {late:7.1f} ms")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--produce"]:
        produce(Path(sys.argv[2]), 1, int(sys.argv[3]), float(sys.argv[4]))
    else:
        main()
