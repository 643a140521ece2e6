"""Aggregate queries in one range and in several: what side by side would cost.

    python benchmarks/replay/aggregate_ranges.py [--tuples 10000000] [--ranges 1,2,4,8]

The tasks of every pass run one after the other in this process, so that the number of cores, and
what else they do, matter little. The longest path is the CPU seconds of the slowest task of every
pass, and the driver's: what a cluster with a core for each range would wait for. The answers have
to be those of one range, or it exits with 1. Streams are those of Q (replay_speed.py), seeded, with
bounded keys.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
from replay_speed import generate

from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay import replay
from ontoweir.runtime.replay.ranges.replay_range import (
    RangeOutcome,
    RangeTask,
    prepare_work,
    run_task,
)
from ontoweir.runtime.replay.replay_request import ReplayRequest

QUERIES = {
    "three streams": "SELECT T.b, COUNT(*) AS n, MAX(U.e) AS high FROM S, T, U "
    "WHERE S.ts < T.ts AND T.ts <= S.ts + INTERVAL '10' SECOND AND T.b = U.d "
    "AND T.ts < U.ts AND U.ts <= T.ts + INTERVAL '10' SECOND GROUP BY T.b",
    "two streams": "SELECT T.b, COUNT(*) AS n, SUM(U.e) AS s, MAX(U.e) AS high FROM T, U "
    "WHERE T.b = U.d AND T.ts < U.ts AND U.ts <= T.ts + INTERVAL '60' SECOND GROUP BY T.b",
    "one stream": "SELECT T.b, COUNT(*) AS n, SUM(T.c) AS s, MIN(T.c) AS low FROM T GROUP BY T.b",
}
KEYS = '{ type = "int", min = 0, max = 199 }'


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tuples", type=int, default=10_000_000)
    parser.add_argument("--ranges", default="1,2,4,8")
    options = parser.parse_args()
    counts = [int(n) for n in options.ranges.split(",")]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "q")
        generate(folder, options.tuples)
        project = folder / "ontoweir.toml"
        text = project.read_text()
        for key in ("b", "d"):
            text = text.replace(f'{key} = "int"', f"{key} = {KEYS}")
        project.write_text(text)
        equal = [_measure(folder, name, counts) for name in QUERIES]
    return 0 if all(equal) else 1


def _measure(folder: Path, name: str, counts: Sequence[int]) -> bool:
    """One query; whether its answers are the same in all ranges."""
    catalog = load_project(folder, environ={}).catalog
    union = parse_sql(QUERIES[name], catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    if verdict.plans is None or verdict.bound is None:
        sys.exit(f"{name} is not bounded: nothing to measure")
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    job = QueryJob(
        "q", union, verdict.plans, catalog, verdict.bound.rows, verdict.declarations, parts
    )
    first, same = None, True
    for count in counts:
        passes: list[list[float]] = []
        replay._runner = lambda work, *_, passes=passes: _timed(work, passes)
        output, begun = folder / "answers.parquet", time.process_time()
        summary = replay.replay_history(
            job,
            ReplayRequest(output, "parquet", engine="spark", ranges=count, rows_per_range=100_000),
            spark=SimpleNamespace(),  # no task goes to Spark
        )
        whole = time.process_time() - begun
        path = whole - sum(map(sum, passes)) + sum(map(max, passes))
        answers = pq.read_table(output)
        first = answers if first is None else first
        same &= answers.equals(first)
        print(
            f"{name}: {summary.ranges} ranges, longest path {path:.2f} s, all {whole:.2f} s of "
            f"CPU; {summary.tuples:,} tuples, {summary.results:,} updates",
            flush=True,
        )
    print(f"{name}: answers are {'equal' if same else 'NOT EQUAL'}", flush=True)
    return same


@contextmanager
def _timed(
    work: ExecutionContext, passes: list[list[float]]
) -> Iterator[Callable[[Sequence[RangeTask], Callable[[], None]], list[RangeOutcome]]]:
    """Runs tasks here, and notes the CPU seconds of each."""
    prepared = prepare_work(work)

    def run(tasks: Sequence[RangeTask], look: Callable[[], None]) -> list[RangeOutcome]:
        outcomes: list[Any] = []
        passes.append([])
        for task in tasks:
            begun = time.process_time()
            outcomes.append(run_task(prepared, task, lambda: None))
            passes[-1].append(time.process_time() - begun)
        return outcomes

    yield run


if __name__ == "__main__":
    sys.exit(main())
