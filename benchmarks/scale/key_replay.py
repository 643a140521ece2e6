"""Replays with a large state, in one process and divided by key among several.

    python benchmarks/scale/key_replay.py [--rows 10000000] [--keys 1000000] [--parts 2]
        [--repeat 1]

Readings of many sensors: a fifth of the rows are calibrations, of which a hundredth fail. Every
replay is in a process of its own, as on the command line. Reported are the CPU seconds of the
replay, with all of the processes that it starts, and its seconds, those of the best of several
runs; the answers have to be the same, or the script exits with 1. Nothing is kept of what was
verified, so every row is held to its declarations.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import Engine, ReplayRequest

SECOND_ROWS = 2_000
"""Rows of a stream that share a timestamp."""
QUERIES = {
    "join": "SELECT C.sensor, C.result FROM R, C WHERE R.sensor = C.sensor AND R.ts < C.ts "
    "AND C.result > 990",
    "distinct": "SELECT DISTINCT R.sensor FROM R WHERE R.v > 900",
    "groups": "SELECT R.sensor, COUNT(*) AS n, MAX(R.v) AS most FROM R WHERE R.v > 900 "
    "GROUP BY R.sensor",
}


def generate(folder: Path, rows: int, keys: int, seed: int = 1) -> None:
    """A project with the streams R and C."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    start = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
    text = ""
    for name, value, share in (("R", "v", 4), ("C", "result", 1)):
        count = rows * share // 5
        steps = np.arange(count) // (SECOND_ROWS * share // 5)
        times = pa.array(start + steps * 1_000_000).cast(pa.timestamp("us"))
        columns = {
            "ts": times,
            "sensor": random.integers(0, keys, count),
            value: random.integers(0, 1_000, count),
        }
        pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=1 << 18)
        text += f"""
[streams.{name}]
source = {{ format = "parquet", path = "{name}.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ sensor = {{ type = "int", min = 0, max = {keys - 1} }}, {value} = "int" }}
"""
    (folder / "ontoweir.toml").write_text(text)


def make_job(folder: Path, sql: str) -> QueryJob:
    """A bounded query, ready to run."""
    catalog = load_project(folder, environ={}).catalog
    verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
    if verdict.plans is None or verdict.bound is None:
        sys.exit(f"not bounded: {sql}")
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    return QueryJob(
        "q",
        verdict.union,
        verdict.plans,
        catalog,
        verdict.bound.rows,
        verdict.declarations,
        parts,
    )


def measure(folder: Path, name: str, output: Path, parts: int) -> tuple[float, float]:
    """CPU seconds and seconds of a replay, in a process of its own."""
    asked = ["--folder", str(folder), "--query", name, "--parts", str(parts)]
    command = [sys.executable, __file__, *asked, "--output", str(output)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    cpu, seconds = json.loads(told)
    return cpu, seconds


def replay(job: QueryJob, output: Path, parts: int) -> tuple[float, float]:
    """CPU seconds of this process and of those that it starts, and seconds."""
    begun, before = time.perf_counter(), _cpu()
    engine: Engine = "driver" if parts == 1 else "auto"
    replay_history(job, ReplayRequest(output, "parquet", engine=engine, parts=parts))
    return _cpu() - before, time.perf_counter() - begun


def _cpu() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--query", choices=sorted(QUERIES))
    parser.add_argument("--folder", type=Path, help="keeps the data, and uses what is there")
    parser.add_argument("--output", type=Path, help="only replay, to this file")
    options = parser.parse_args(arguments)
    if options.output is not None:
        job = make_job(options.folder, QUERIES[options.query])
        print(json.dumps(replay(job, options.output, options.parts)))
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder = options.folder or Path(place, "data")
        if not (folder / "ontoweir.toml").exists():
            generate(folder, options.rows, options.keys)
        same = True
        for name in [options.query] if options.query else QUERIES:
            files = [Path(place, "one.parquet"), Path(place, "parts.parquet")]
            one, several, equal = [], [], True
            for _ in range(options.repeat):
                one.append(measure(folder, name, files[0], 1))
                several.append(measure(folder, name, files[1], options.parts))
                answers = [pq.read_table(file) for file in files]
                equal &= answers[0].equals(answers[1])
            same &= equal
            cpu_one, wall_one = (min(times) for times in zip(*one, strict=True))
            cpu_parts, wall_parts = (min(times) for times in zip(*several, strict=True))
            print(
                f"{name}: {cpu_one:.2f} s of CPU and {wall_one:.2f} s in one process, "
                f"{cpu_parts:.2f} and {wall_parts:.2f} s in {options.parts} "
                f"({cpu_parts / cpu_one:.2f}, {wall_parts / wall_one:.2f}); "
                f"{answers[0].num_rows:,} answers, {'equal' if equal else 'NOT EQUAL'}",
                flush=True,
            )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
