"""What a live micro-batch costs over the size of the state, and of the batch.

    .venv/bin/python benchmarks/live/state_size.py [--states 10000,100000,1000000]
        [--batches 10,1000]
        [--only join,group] [--keys int,text] [--profile]

Queries of each kind of plan run live, in one process: nothing is read from disk, nothing written.
First rows fill the state, so many as `--states` says; then come micro-batches of few rows. Prints
the CPU milliseconds of one of these (the median of ROUNDS), the rows of state, and how much more it
costs with the largest state than with the smallest.
"""

import argparse
import cProfile
import pstats
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
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

ROUNDS = 15
FILLING = 1 << 18
"""Rows of a micro-batch that fills the state."""
PER_SECOND = 10
"""Rows of a stream that share a timestamp, while the state is filled and later."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query over calls and answers; `{w}` is a window in seconds that has as many calls as the
    state is to have. `fills`: the share of the rows that fill the state which are calls."""

    sql: str
    emit: str | None = None


CASES = {
    "join": Case(
        "SELECT a.device, a.level, b.level AS other FROM calls a, answers b "
        "WHERE a.device = b.device AND a.ts < b.ts AND a.level > b.level"
    ),
    "counted": Case(
        "SELECT a.device, b.level FROM calls a, answers b WHERE a.device = b.device AND a.ts < b.ts"
    ),
    "in time": Case(
        "SELECT a.device, a.level, b.level AS other FROM calls a, answers b "
        "WHERE a.device = b.device AND a.ts < b.ts AND b.ts - a.ts <= INTERVAL '{w}' SECOND"
    ),
    "best": Case(
        "SELECT DISTINCT b.device, b.level FROM calls a, answers b "
        "WHERE a.device = b.device AND a.ts < b.ts AND a.level < b.level"
    ),
    "group": Case("SELECT device, COUNT(*) AS n, MAX(level) AS most FROM calls GROUP BY device"),
    "distinct": Case("SELECT DISTINCT device FROM calls WHERE level >= 0"),
    "absence": Case(
        "SELECT a.device, a.level FROM calls a WHERE NOT EXISTS (SELECT 1 FROM answers b "
        "WHERE b.device = a.device AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '{w}' SECOND)"
    ),
    "latest": Case(
        "SELECT device, level FROM calls "
        "QUALIFY RANK() OVER (PARTITION BY device ORDER BY ts DESC) = 1",
        "changes",
    ),
}
STREAM = """
[streams.{name}]
source = {{ format = "parquet", path = "{name}" }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.{name}.columns]
device = {{ type = "{kind}" }}
level = {{ type = "int", min = 0, max = 99 }}
"""


def open_job(case: Case, kind: str, keys: int, folder: Path) -> LiveJob:
    """The live job of a query; where it is not bounded, its state grows with the keys."""
    text = "[project]\nqueries = []\n"
    for name in ("calls", "answers"):
        text += STREAM.format(name=name, kind="string" if kind == "text" else "int")
    text = text.replace('"int" }', f'"int", min = 0, max = {keys - 1} }}')
    (folder / "ontoweir.toml").write_text(text)
    (folder / "q.sql").write_text(case.sql.replace("{w}", str(keys // PER_SECOND)))
    workspace = Workspace(load_project(folder))
    compiled = workspace.compile_sql(folder / "q.sql")
    verdict = workspace.check(compiled)
    asked = AskedFor(allow_unbounded=True, emit=case.emit)
    job, _ = make_job(workspace, compiled, verdict, Statistics(), asked)
    return make_live_job([job], job.catalog, {}, {})


class Feed:
    """Rows of both streams, each later than the one before."""

    def __init__(self, kind: str, keys: int) -> None:
        self.random, self.start = np.random.default_rng(8), 0
        names = pa.array(np.arange(keys))
        if kind == "text":
            names = pa.array([f"device-{n * 2654435761 % (1 << 32):010d}" for n in range(keys)])
        self.names, self.order = names, self.random.permutation(keys)

    def fill(self, rows: int) -> Iterator[dict[str, pa.Table]]:
        """Every device calls once; there are hardly any answers."""
        for first in range(0, rows, FILLING):
            devices = self.order[first : min(first + FILLING, rows)]
            calls = self._rows(devices, self.random.integers(0, 100, len(devices)))
            self.start += len(devices)
            yield {"calls": calls, "answers": self._rows(devices[:1], np.zeros(1, np.int64))}
            self.start += PER_SECOND

    def batch(self, rows: int) -> dict[str, pa.Table]:
        """Rows of some devices."""
        made = {}
        for name in ("calls", "answers"):
            devices = self.random.integers(0, len(self.names), max(rows // 2, 1))
            made[name] = self._rows(devices, self.random.integers(0, 100, len(devices)))
        self.start += max(rows // 2, PER_SECOND)
        return made

    def _rows(self, devices: np.ndarray, levels: np.ndarray) -> pa.Table:
        seconds = (self.start + np.arange(len(devices))) // PER_SECOND
        return pa.table(
            {
                "ts": pa.array(seconds * 1_000_000),
                "device": self.names.take(pa.array(devices)),
                "level": pa.array(levels),
                BAD: pa.nulls(len(devices), pa.string()),
            }
        )


def measure(job: LiveJob, feed: Feed, keys: int, sizes: list[int]) -> tuple[list[float], int]:
    """The CPU milliseconds of a micro-batch of each size, and the rows of state before them."""
    state: LiveState = begin_live(job)
    for rows in feed.fill(keys):
        state = advance_live(job, state, rows, 0.0).state
    held, found = sum(q.rows for q in state.queries) + state.waiting, []
    for size in sizes:
        spent = []
        for _ in range(ROUNDS + 2):
            rows = feed.batch(size)
            begun = time.process_time()
            state = advance_live(job, state, rows, 0.0).state
            spent.append(1000 * (time.process_time() - begun))
        found.append(statistics.median(spent[2:]))
    return found, held


def main() -> None:
    """Measure all queries, kinds of keys, states and batches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", default="10000,100000,1000000")
    parser.add_argument("--batches", default="10,1000")
    parser.add_argument("--keys", default="int,text")
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    sizes = [int(n) for n in given.batches.split(",")]
    for name in given.only.split(","):
        for kind in given.keys.split(","):
            rows: list[list[float]] = []
            for keys in map(int, given.states.split(",")):
                with tempfile.TemporaryDirectory() as folder:
                    job = open_job(CASES[name], kind, keys, Path(folder))
                profile = cProfile.Profile()
                if given.profile:
                    profile.enable()
                spent, held = measure(job, Feed(kind, keys), keys, sizes)
                profile.disable()
                rows.append(spent)
                shown = [f"{n:,}: {ms:8.2f} ms" for n, ms in zip(sizes, spent, strict=True)]
                print(f"{name:9} {kind:4} {held:9,} rows of state  ", *shown, sep="  ", flush=True)
                if given.profile:
                    pstats.Stats(profile).sort_stats("cumtime").print_stats(45)
            ratios = [
                f"{last / first:.1f} ×" for first, last in zip(rows[0], rows[-1], strict=True)
            ]
            print(f"{name:9} {kind:4} largest to smallest:", *ratios, flush=True)


if __name__ == "__main__":
    main()
