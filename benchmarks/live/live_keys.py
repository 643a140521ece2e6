"""A live micro-batch with text keys beside one with whole numbers: what the keys cost.

    .venv/bin/python benchmarks/live/live_keys.py [--rows 100000] [--keys 300,20000] [--rounds 8]

Streams have the same rows, once with a whole number as the key, once with a text: a device's name,
or a UUID. The same queries run over all, live, micro-batch after micro-batch of ROWS rows, in one
process: nothing is read from disk, nothing written. Prints the CPU seconds of a micro-batch (the
least of ROUNDS, in turn), and the ratios. Exits with 1 if a text key costs more than 1.5 × as much
as a whole number.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import AskedFor, make_job
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.sources.read_source import BAD

MOST = 1.5
PER_SECOND = 1_000
NEAR = "a.ts < b.ts AND b.ts - a.ts <= INTERVAL '5' SECOND"
QUERIES = {
    "filter": "SELECT device, level FROM readings WHERE level > 90",
    "join": f"""SELECT a.device, a.level FROM readings a, readings b
        WHERE a.device = b.device AND {NEAR} AND a.level = 99 AND b.level = 1""",
    "aggregate": "SELECT device, COUNT(*) AS n, MAX(level) AS most FROM readings GROUP BY device",
    "distinct": f"""SELECT DISTINCT a.device FROM readings a, readings b
        WHERE a.device = b.device AND {NEAR} AND a.level = 99 AND b.level < 50""",
}
PROJECT = """
[project]
queries = []
[streams.readings]
source = {{ format = "parquet", path = "readings" }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.readings.columns]
device = "{kind}"
level = {{ type = "int", min = 0, max = 99 }}
"""


def name_keys(kind: str, count: int) -> pa.Array:
    """The keys of a kind."""
    if kind == "int":
        return pa.array(np.arange(count))
    random = np.random.default_rng(7)
    if kind == "name":
        return pa.array([f"device-{n:06d}" for n in range(count)])
    text = random.integers(0, 256, (count, 16), dtype=np.uint8).tobytes().hex()
    parts = [text[32 * n : 32 * n + 32] for n in range(count)]
    return pa.array([f"{p[:8]}-{p[8:12]}-{p[12:16]}-{p[16:20]}-{p[20:]}" for p in parts])


def make_batches(keys: pa.Array, rows: int) -> Iterator[pa.Table]:
    """Micro-batches without end, each later than the one before."""
    random = np.random.default_rng(8)
    start = 0
    while True:
        seconds = (start + np.arange(rows)) // PER_SECOND
        yield pa.table(
            {
                "ts": pa.array(seconds * 1_000_000),
                "device": keys.take(pa.array(random.integers(0, len(keys), rows))),
                "level": pa.array(random.integers(0, 100, rows)),
                BAD: pa.nulls(rows, pa.string()),
            }
        )
        start += rows


def open_job(kind: str, query: str, folder: Path) -> LiveJob:
    """The live job of a query; where it is not bounded, its state grows with the keys."""
    (folder / "ontoweir.toml").write_text(PROJECT.format(kind="int" if kind == "int" else "string"))
    (folder / "q.sql").write_text(QUERIES[query])
    workspace = Workspace(load_project(folder))
    compiled = workspace.compile_sql(folder / "q.sql")
    verdict = workspace.check(compiled)
    job, _ = make_job(workspace, compiled, verdict, Statistics(), AskedFor(allow_unbounded=True))
    return make_live_job([job], job.catalog, {}, {})


class Run:
    """A live run: its state, and the least CPU seconds of a micro-batch."""

    def __init__(self, kind: str, query: str, count: int, rows: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.job = open_job(kind, query, Path(folder))
        self.batches = make_batches(name_keys(kind, count), rows)
        self.state: LiveState = begin_live(self.job)
        self.best = float("inf")
        self.answers = 0

    def advance(self) -> None:
        """One micro-batch more."""
        batch = next(self.batches)
        begun = time.process_time()
        outcome = advance_live(self.job, self.state, {"readings": batch}, 0.0)
        self.best = min(self.best, time.process_time() - begun)
        self.state = outcome.state
        self.answers += outcome.answers[0].num_rows


def main() -> None:
    """Measure all queries and kinds of keys."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--keys", default="300,20000")
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    worst = 0.0
    for count in map(int, given.keys.split(",")):
        for query in QUERIES:
            runs = {k: Run(k, query, count, given.rows) for k in ("int", "name", "uuid")}
            for _ in range(given.rounds):
                for run in runs.values():
                    run.advance()
            if len({run.answers for run in runs.values()}) > 1:
                sys.exit(f"{query}: the answers differ")
            shown = [f"{kind} {run.best * 1000:6.1f} ms" for kind, run in runs.items()]
            ratios = [run.best / runs["int"].best for run in runs.values()][1:]
            worst = max(worst, *ratios)
            shown += [f"{ratio:5.2f} ×" for ratio in ratios]
            print(f"{count:7,} keys  {query:10}", *shown, sep="  ", flush=True)
    print(f"text keys cost at most {worst:.2f} × as much as whole numbers")
    sys.exit(worst > MOST)


if __name__ == "__main__":
    main()
