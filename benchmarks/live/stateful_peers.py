"""An equality join and an aggregate, live: ours, Flink's, and Spark's stateful operators.

    .venv/bin/python benchmarks/live/stateful_peers.py [--rows 1000000 4000000] [--files 20]
        [--ways ours,spark,flink] [--python flink=PATH] [--queries join,groups] [--out FOLDER]

Readings of 1,000 sensors, and a hundredth as many calibrations, lie as CSV in FILES files each, in
the order of time. Each way takes them in to the end, in a process of its own with two threads:
`ontoweir run --once`, a query of Spark's with its stream-stream join or its streaming aggregate
(`availableNow`, a file of each stream a micro-batch), and Flink SQL in streaming mode (regular
join, group aggregate, mini-batches of a second, a checkpoint a second; the wheel reads no Parquet,
hence CSV). PATH is a Python with `apache-flink`, which wants other packages than ours.

None of these has a window: what a system holds in the end is what the query needs, or everything.
Prints for each size the seconds of the process with all that it starts, its CPU seconds, the most
memory of all its processes together (MB), and the state: rows where the system tells them, for
Flink the largest checkpoint (MB). Answers are compared; of changes the last ones.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

SENSORS, PER_SECOND, RATIO = 1_000, 1_000, 100
PROJECT = """
[project]
queries = []
[streams.readings]
source = {{ format = "csv", path = "readings", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.readings.columns]
sensor = {{ type = "int", min = 0, max = {last} }}
level = {{ type = "int", min = 0, max = 99 }}
[streams.calibrations]
source = {{ format = "csv", path = "calibrations", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.calibrations.columns]
sensor = {{ type = "int", min = 0, max = {last} }}
grade = {{ type = "int", min = 0, max = 9 }}
"""
QUERIES = {
    "join": """SELECT r.sensor AS sensor, r.level AS level, c.grade AS grade
FROM readings r JOIN calibrations c ON r.sensor = c.sensor WHERE c.ts < r.ts AND r.level > 95""",
    "groups": """SELECT sensor, COUNT(*) AS n, MAX(level) AS most FROM readings
WHERE level >= 0 GROUP BY sensor""",
}
COLUMNS = {"join": ("sensor", "level", "grade"), "groups": ("sensor", "n", "most")}
Way = Callable[[Path, str, Path], dict[str, Any]]


def write_data(folder: Path, rows: int, files: int) -> None:
    """The project, with a hundredth as many calibrations as readings. Last comes a row that no
    query wants, so that all times before it are over."""
    for name, count, value, values in (
        ("readings", rows, "level", 100),
        ("calibrations", rows // RATIO, "grade", 10),
    ):
        (folder / name).mkdir(parents=True)
        random = np.random.default_rng(count)
        seconds = np.arange(count) * (rows // PER_SECOND) // count
        times = np.datetime_as_string(np.datetime64("2026-01-01", "s") + seconds, unit="s")
        times = np.char.replace(times, "T", " ")
        sensors, drawn = random.integers(0, SENSORS, count), random.integers(0, values, count)
        cuts = np.searchsorted(seconds, np.linspace(0, seconds[-1] + 1, files + 1))
        for number, (start, stop) in enumerate(pairwise(cuts)):
            with (folder / name / f"{number:04d}.csv").open("w", newline="") as opened:
                opened.write(f"ts,sensor,{value}\n")
                part = (times[start:stop], sensors[start:stop], drawn[start:stop])
                csv.writer(opened).writerows(zip(*(p.tolist() for p in part), strict=True))
        with (folder / name / f"{files:04d}.csv").open("w") as opened:
            opened.write(f"ts,sensor,{value}\n2026-12-31 00:00:00,0,\n")
    (folder / "ontoweir.toml").write_text(PROJECT.format(last=SENSORS - 1))
    for name, query in QUERIES.items():
        (folder / f"{name}.sql").write_text(query)


# -- ways, each in a process of its own -----------------------------------------------------------


def by_ours(folder: Path, query: str, output: Path) -> dict[str, Any]:
    """`ontoweir run --once`; the rows of state are those that it reports."""
    from ontoweir.cli import main as command

    check = output.parent / "check"
    places = ["--project", str(folder), "--output", str(output), "--checkpoint", str(check)]
    status = command(["run", str(folder / f"{query}.sql"), *places, "--once", "--quiet"])
    assert status == 0, status
    lines = (output / "metrics.jsonl").read_text().splitlines()
    held = [json.loads(line)["queries"][query]["state_rows"] for line in lines]
    return {"state": f"{max(held):,} rows"}


def by_spark(folder: Path, query: str, output: Path) -> dict[str, Any]:
    """A streaming query of Spark's."""
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    def read(name: str, value: str) -> Any:
        schema = f"ts TIMESTAMP, sensor INT, {value} INT"
        reader = spark.readStream.schema(schema).option("header", True)
        return reader.option("maxFilesPerTrigger", 1).csv(str(folder / name))

    read("readings", "level").createOrReplaceTempView("readings")
    read("calibrations", "grade").createOrReplaceTempView("calibrations")
    writing = spark.sql(QUERIES[query]).writeStream.trigger(availableNow=True)
    writing = writing.option("checkpointLocation", str(output.parent / "check"))
    if query == "groups":
        asked = writing.format("memory").outputMode("complete").queryName("answers").start()
    else:
        asked = writing.format("csv").option("path", str(output)).start()
    asked.awaitTermination()
    held = max(sum(s["numRowsTotal"] for s in p["stateOperators"]) for p in asked.recentProgress)
    if query == "groups":
        spark.sql("SELECT * FROM answers").write.csv(str(output))
    spark.stop()
    return {"state": f"{held:,} rows"}


def by_flink(folder: Path, query: str, output: Path) -> dict[str, Any]:
    """Flink SQL in streaming mode."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    table = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, value in {
        "parallelism.default": "2",
        "taskmanager.memory.process.size": "4g",
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.dir": f"file://{output.parent / 'check'}",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.mini-batch.size": "100000",
    }.items():
        table.get_config().set(name, value)
    for name, value in (("readings", "level"), ("calibrations", "grade")):
        table.execute_sql(
            f"CREATE TABLE {name} (ts TIMESTAMP(0), sensor INT, {value} INT) WITH ("
            f"'connector' = 'filesystem', 'path' = 'file://{folder / name}', 'format' = 'csv', "
            "'csv.ignore-parse-errors' = 'true')"  # the header
        )
    if query == "groups":
        last: dict[int, tuple[int, ...]] = {}
        with table.execute_sql(QUERIES[query]).collect() as changes:
            for row in changes:
                if str(row.get_row_kind()) != "RowKind.UPDATE_BEFORE" and row[0] is not None:
                    last[row[0]] = tuple(row)
        output.mkdir()
        with (output / "0.csv").open("w", newline="") as opened:
            csv.writer(opened).writerows(last.values())
        return {}
    table.execute_sql(
        "CREATE TABLE answer (sensor INT, level INT, grade INT) WITH ("
        f"'connector' = 'filesystem', 'path' = 'file://{output}', 'format' = 'csv')"
    )
    table.sql_query(QUERIES[query]).execute_insert("answer").wait()
    return {}


WAYS: dict[str, Way] = {"ours": by_ours, "spark": by_spark, "flink": by_flink}


# -- what is measured -----------------------------------------------------------------------------


class Watch(threading.Thread):
    """Looks at all processes below one every tenth of a second: their memory together at most,
    their CPU seconds, and how large what is below a folder was at most."""

    def __init__(self, pid: int, checkpoints: Path) -> None:
        super().__init__(daemon=True)
        self.pid, self.checkpoints, self.over = pid, checkpoints, threading.Event()
        self.cpu: dict[int, float] = {}
        self.memory = self.largest = 0

    def run(self) -> None:
        """Look until it is over."""
        while not self.over.wait(0.1):
            held = 0
            for pid in _below(self.pid):
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                self.cpu[pid] = (int(fields[11]) + int(fields[12])) / 100
                held += int(fields[21]) * 4096
            self.memory = max(self.memory, held)
            for folder in self.checkpoints.glob("*/chk-*"):
                self.largest = max(self.largest, _size(folder))


def _below(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for process in found:
        try:
            for task in Path(f"/proc/{process}/task").glob("*/children"):
                found += [int(child) for child in task.read_text().split()]
        except OSError:
            continue  # it has ended
    return found


def _size(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size
        except OSError:
            continue  # it is gone
    return total


def measure(way: str, python: str, folder: Path, query: str) -> dict[str, Any]:
    """One way to its end, and a count of its answers by their values."""
    place = Path(tempfile.mkdtemp(prefix=f"peers-{way}-"))
    command = [python, __file__, "--run", way, query, str(folder), str(place / "out")]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        watch = Watch(process.pid, place / "check")
        watch.start()
        told, errors = process.communicate()
    watch.over.set()
    seconds = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{way} {query}: {errors.decode()[-2_000:]}")
    found = json.loads(told.decode().strip().splitlines()[-1])
    answers = read_answers(place / "out", query, way)
    shutil.rmtree(place, ignore_errors=True)
    state = found.get("state", f"{watch.largest / 1e6:.1f} MB")
    return {
        "seconds": round(seconds, 1),
        "cpu": round(sum(watch.cpu.values()), 1),
        "memory_mb": watch.memory >> 20,
        "state": state,
        "answers": answers,
    }


def read_answers(output: Path, query: str, way: str) -> Counter[tuple[int, ...]]:
    """The answers, or of those that change the last."""
    names = COLUMNS[query]
    if way != "ours":
        found: Counter[tuple[int, ...]] = Counter()
        for file in output.rglob("*"):
            if file.is_file() and not any(p.startswith(("_", ".crc")) for p in file.parts[-2:]):
                with file.open(newline="") as opened:
                    if file.suffix != ".crc":
                        found.update(tuple(int(v) for v in row) for row in csv.reader(opened))
        return found
    files = str(output / query / "*.parquet")
    chosen = ", ".join(f'"{n}"' for n in names)
    if query == "groups":
        text = f"""SELECT {chosen} FROM read_parquet('{files}')
            QUALIFY row_number() OVER (PARTITION BY sensor ORDER BY "at" DESC) = 1"""
        return Counter(_fetch(text))
    text = (
        f"""SELECT {chosen}, sum(multiplicity)::BIGINT FROM read_parquet('{files}') GROUP BY ALL"""
    )
    return Counter({tuple(row[:-1]): row[-1] for row in _fetch(text)})


def _fetch(text: str) -> list[tuple[Any, ...]]:
    import duckdb  # Flink's Python is without it

    return duckdb.connect().execute(text).fetchall()


def main() -> None:
    """Measure all ways over all sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 4_000_000])
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--ways", default="ours,spark,flink")
    parser.add_argument("--queries", default=",".join(QUERIES))
    parser.add_argument("--python", action="append", default=[], metavar="WAY=PATH")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        way, query, folder, output = given.run
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        print(json.dumps(WAYS[way](Path(folder), query, Path(output))))
        return
    pythons = dict(text.split("=", 1) for text in given.python)
    results, differ = [], False
    for rows in given.rows:
        folder = Path(tempfile.mkdtemp(prefix="peers-"))
        write_data(folder, rows, given.files)
        for query in given.queries.split(","):
            first: Counter[tuple[int, ...]] | None = None
            for way in given.ways.split(","):
                found = measure(way, pythons.get(way, sys.executable), folder, query)
                answers = found.pop("answers")
                first = answers if first is None else first
                same = answers == first
                differ |= not same
                results.append({"rows": rows, "query": query, "way": way, **found})
                print(
                    f"{rows:>10,} {query:7} {way:6} {found['seconds']:6.1f} s  "
                    f"CPU {found['cpu']:6.1f} s  {found['memory_mb']:6,} MB  "
                    f"state {found['state']:>16}  {answers.total():,} answers"
                    f"{'' if same else '  THEY DIFFER'}",
                    flush=True,
                )
        shutil.rmtree(folder, ignore_errors=True)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "stateful_peers.json").write_text(json.dumps(results, indent=1))
    sys.exit("the answers differ" if differ else 0)


if __name__ == "__main__":
    main()
