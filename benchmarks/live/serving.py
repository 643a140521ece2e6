"""Many registered queries on one set of streams: latency, CPU, memory, threads.

    .venv/bin/python benchmarks/live/serving.py [--queries 1 10 30 100] [--rate 3] [--seconds 30]

Three streams, 1,000 tuples for each timestamp, a Parquet file of each stream; a process of its own
moves the files in by renaming, `rate` timestamps a second. N queries of five kinds (filter, join,
join of three, count by key, DISTINCT), with different constants, are registered and served by
`ontoweir run`. A timestamp is finished when the next has arrived in all streams: that rename is the
marker's arrival. A result is there when its Parquet file is in the sink (the file's time). For each
N, after a warm-up: milliseconds from arrival to result, CPU (of a core, Python and Java, and of
which threads), their memory, threads, and the stages of steps (medians, ms). Then `--idle` seconds
without input: CPU.
`--texts`: the columns a, b and d are texts. `--archive`: files that are read are moved away.
Prints the figures as JSON.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from live_latency import STREAM, STREAMS, make_files, produce

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.register_query import QueryText, register_query

WARM_UP = 15.0
KINDS = (
    "SELECT S.a FROM S WHERE S.a = {0}",
    "SELECT T.b, T.c FROM S, T WHERE S.ts < T.ts AND S.a = T.b AND T.b BETWEEN {0} AND {1}",
    "SELECT T.b, U.e FROM S, T, U WHERE S.ts < T.ts AND T.ts < U.ts AND T.b = U.d AND T.b < {1}",
    "SELECT T.b, COUNT(*) AS n FROM T WHERE T.c > {0} GROUP BY T.b",
    "SELECT DISTINCT U.d FROM T, U WHERE T.ts < U.ts AND T.b = U.d AND U.e > {0}",
)


TEXT_KINDS = (
    "SELECT S.a FROM S WHERE S.a = 'k{0}'",
    "SELECT T.b, T.c FROM S, T WHERE S.ts < T.ts AND S.a = T.b AND S.a IN ('k{0}', 'k{1}', 'k7')",
    "SELECT T.b, U.e FROM S, T, U WHERE S.ts < T.ts AND T.ts < U.ts AND T.b = U.d AND T.b = 'k{1}'",
    "SELECT T.b, COUNT(*) AS n FROM T WHERE T.c > {0} AND T.b <> 'k{0}' GROUP BY T.b",
    "SELECT DISTINCT U.d FROM T, U WHERE T.ts < U.ts AND T.b = U.d AND U.e > {0}",
)
TEXTS = ("a", "b", "d")
_GROUPS = """(SELECT {1} AS k, COUNT(*) AS n, SUM({2}) AS total FROM {0}
WHERE {0}.ts > NOW() - INTERVAL '20' SECOND AND {2} > {{0}} GROUP BY {1})"""
_X, _Y = _GROUPS.format("T", "b", "c"), _GROUPS.format("U", "d", "e")
COMPOSED_KINDS = (
    f"SELECT x.k, x.n, y.total FROM {_X} AS x JOIN {_Y} AS y ON y.k = x.k WHERE x.n > 10",
    f"SELECT x.k, x.n - y.n AS m FROM {_X} AS x LEFT JOIN {_Y} AS y ON y.k = x.k WHERE x.n < 3",
    f"""SELECT r.b, r.c, y.total FROM T r JOIN {_Y} AS y ON y.k = r.b
WHERE r.ts > NOW() - INTERVAL '20' SECOND AND r.c > 195""",
    f"WITH x AS {_X} SELECT k, n FROM x WHERE n > (SELECT AVG(n) + 8 FROM x)",
    f"""WITH x AS {_X}, y AS {_Y} SELECT k, n FROM x WHERE n > 20
UNION ALL SELECT k, n FROM y WHERE n > 20""",
)
"""Queries of groups of windows that are joined, and united."""


def write_texts(folder: Path) -> None:
    """Make texts of some columns of the files that will arrive."""
    for file in folder.glob("*.staged/*.parquet"):
        table = pq.read_table(file)
        for name in set(TEXTS) & set(table.column_names):
            numbers = table.column(name).cast("string").to_pylist()
            place = table.column_names.index(name)
            table = table.set_column(place, name, pa.array([f"k{n}" for n in numbers]))
        pq.write_table(table, file)


def column_types(columns: Sequence[str], *, texts: bool) -> str:
    """The declarations of columns."""
    number = '{ type = "int", min = 0, max = 199 }'
    named = f'{{ type = "string", enum = {[f"k{n}" for n in range(200)]} }}'
    return "".join(f"{c} = {named if texts and c in TEXTS else number}\n" for c in columns)


def prepare(
    folder: Path,
    count: int,
    markers: int,
    *,
    texts: bool = False,
    archive: bool = False,
    composed: bool = False,
) -> None:
    """A project with so many registered queries, and files that will arrive; with archives for
    those that are read, or without; of groups of windows that are joined (`composed`), or not."""
    folder.mkdir(parents=True)
    make_files(folder, markers)
    number = '{ type = "int", min = 0, max = 199 }'
    named = f'{{ type = "string", enum = {[f"k{n}" for n in range(200)]} }}'
    text = ""
    for name, columns in STREAMS.items():
        moved = f', archive = "{folder}/archive/{name}"' if archive else ""
        text += STREAM.format(name, folder, moved)
        for c in columns:
            text += f"{c} = {named if texts and c in TEXTS else number}\n"
    if texts:
        write_texts(folder)
    (folder / "ontoweir.toml").write_text(text)
    workspace = Workspace(load_project(folder, environ={}))
    for number in range(count):
        low = 3 * (number // len(KINDS)) % 100
        kinds = COMPOSED_KINDS if composed else TEXT_KINDS if texts else KINDS
        sql = kinds[number % len(KINDS)].format(low, low + 20)
        query = QueryText(f"q{number:03d}", "sql", sql, f"q{number:03d}.sql")
        register_query(workspace, folder / "registry", query)


def processes(root: int) -> list[int]:
    """A process and all below it."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def look(root: int) -> dict[str, float]:
    """CPU seconds, memory (MB) and threads of a process and those below it."""
    ticks = threads = pages = 0
    for pid in processes(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
        threads += int(fields[17])
        pages += int(fields[21])
    return {
        "cpu": ticks / os.sysconf("SC_CLK_TCK"),
        "mb": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        "threads": threads,
    }


SHARES = {"stream execut": "spark_stream", "C1 Compiler": "compilers", "C2 Compiler": "compilers"}
"""How Java's threads of note are called, and in the figures."""


def look_at_threads(root: int) -> dict[str, float]:
    """CPU milliseconds of Python, of Spark's thread of the query, of Java's compilers, and of its
    other threads; those of threads that have ended are not known."""
    spent = {"python": 0.0, "spark_stream": 0.0, "compilers": 0.0, "other_java": 0.0}
    for pid in processes(root):
        for task in Path(f"/proc/{pid}/task").glob("*"):
            try:
                program = Path(f"/proc/{pid}/comm").read_text()
                name = (task / "comm").read_text()
                nanoseconds = int((task / "schedstat").read_text().split()[0])
            except OSError:
                continue
            named = (kind for start, kind in SHARES.items() if name.startswith(start))
            kind = next(named, "other_java") if program.startswith("java") else "python"
            spent[kind] += nanoseconds / 1e6
    return spent


def measure(folder: Path, count: int, given: argparse.Namespace) -> dict[str, Any]:
    """Serve so many queries."""
    rate, seconds = given.rate, given.seconds
    markers = int((seconds + WARM_UP) * rate) + 2
    prepare(folder, count, markers, texts=given.texts, archive=given.archive)
    produce(folder, 0, 1, rate)
    command = [sys.executable, "-m", "ontoweir", "run", str(folder), "--output", f"{folder}/out"]
    command += ["--registry", f"{folder}/registry"]
    producing = [sys.executable, __file__, "--produce", str(folder), str(markers), str(rate)]

    def send() -> "subprocess.Popen[str]":
        return subprocess.Popen(producing, stdout=subprocess.PIPE, text=True)

    return watch_server(command, folder, count, given, send)


def watch_server(
    command: Sequence[str],
    folder: Path,
    count: int,
    given: argparse.Namespace,
    send: "Callable[[], subprocess.Popen[str]]",
) -> dict[str, Any]:
    """The figures of a server.

    Args:
        command: what starts it.
        folder: of its project.
        count: how many queries are registered.
        given: `rate` (timestamps a second), `seconds` to watch it, and `idle` seconds after it.
        send: starts what sends rows, and prints when each timestamp came.
    """
    rate, seconds, idle = given.rate, given.seconds, given.idle
    said = (folder / "server.txt").open("w")
    server = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        while not all_running(folder, count):
            if server.poll() is not None:
                raise SystemExit((folder / "server.txt").read_text())
            time.sleep(0.2)
        begun = time.time()
        with send() as producer:
            time.sleep(WARM_UP)
            first, threads = look(server.pid), look_at_threads(server.pid)
            time.sleep(seconds)
            last, after_threads = look(server.pid), look_at_threads(server.pid)
            assert producer.stdout is not None
            arrived = dict(json.loads(line) for line in producer.stdout)
        time.sleep(3)
        quiet = look(server.pid)
        time.sleep(idle)
        after = look(server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    late = latencies(folder / "out", arrived, begun + WARM_UP)
    return {
        "queries": count,
        "results": len(late),
        "p50_ms": round(statistics.median(late), 1),
        "p95_ms": round(statistics.quantiles(late, n=20)[-1], 1),
        "cpu_ms_per_marker": round(1000 * (last["cpu"] - first["cpu"]) / (seconds * rate), 1),
        "cpu_ms_of": {
            kind: round((after_threads[kind] - spent) / (seconds * rate), 1)
            for kind, spent in threads.items()
        },
        "mb": round(last["mb"]),
        "threads": int(last["threads"]),
        "stages": stages(folder),
        "idle_cores": round((after["cpu"] - quiet["cpu"]) / idle, 3) if idle else None,
    }


def all_running(folder: Path, count: int) -> bool:
    """Whether all queries run, and have read the first files."""
    there = 0
    for file in (folder / "registry").glob("*/status.json"):
        try:
            held = json.loads(file.read_text())
        except ValueError:
            return False
        there += held["state"] == "running" and held["tuples"] > 0
    return there == count


def stages(folder: Path) -> dict[str, float]:
    """Milliseconds of each stage of steps, medians."""
    file = next((folder / "registry").glob("*/metrics.jsonl"))
    held = [json.loads(line)["stages"] for line in file.read_text().splitlines()]
    return {n: round(1000 * statistics.median(h[n] for h in held), 1) for n in held[0]}


def latencies(output: Path, arrived: dict[int, float], since: float) -> list[float]:
    """Milliseconds from a marker's arrival to its results, of each query and marker."""
    found = []
    for file in output.glob("q*/part-*.parquet"):
        published = file.stat().st_ctime
        if published < since:
            continue
        times = {t // 1_000_000 for t in pq.read_table(file)["at"].cast("int64").to_pylist()}
        found += [1000 * (published - arrived[t + 1]) for t in times if t + 1 in arrived]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[1, 10, 30, 100])
    parser.add_argument("--rate", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--idle", type=float, default=10.0)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--archive", action="store_true")
    parser.add_argument("--produce", nargs=3, metavar=("FOLDER", "MARKERS", "RATE"))
    given = parser.parse_args()
    if given.produce:
        folder, markers, rate = given.produce
        produce(Path(folder), 1, int(markers), float(rate))
        return
    shown = []
    with tempfile.TemporaryDirectory(prefix="ontoweir-serving-") as name:
        for count in given.queries:
            place = Path(name) / str(count)
            shown.append(measure(place, count, given))
            print(json.dumps(shown[-1]), file=sys.stderr)
    machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
    print(json.dumps({"machine": machine, "served": shown}, indent=1))


if __name__ == "__main__":
    main()
