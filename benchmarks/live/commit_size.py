"""What a commit costs by the size of the state and of the change.

    .venv/bin/python benchmarks/live/commit_size.py [--keys 5000000] [--rows 100000] [--batches 8]

A count and a sum by key, of so many keys, in an intake of registered queries, without Spark: after
all keys have come, batches of so many rows with random keys. Of each batch the seconds of its
commit, as it is, and of one that writes the whole state; side by side, in turns. Prints JSON.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_live_run import check_live, prepare_run
from ontoweir.run.run_options import RunOptions
from ontoweir.runtime.live.checkpoint import table_changes
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.keep_commits import Commits
from ontoweir.runtime.live.intake.model import IntakeOptions, Member
from ontoweir.runtime.live.output.sinks.files import FileSink
from tests.runtime import intake_cycles

TOML = """
[streams.s]
source = {{ format = "parquet", path = "{0}/s" }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.s.columns]
k = {{ type = "int", min = 0, max = {1} }}
a = {{ type = "int", min = 0, max = 999 }}
"""
SQL = "SELECT k, COUNT(*) AS n, SUM(a) AS t FROM s GROUP BY k HAVING COUNT(*) > 1000000"


def write(folder: Path, number: int, keys: Any) -> None:
    """A file of one timestamp."""
    random = np.random.default_rng(number)
    table = pa.table(
        {
            "ts": np.full(len(keys), number * 1_000_000, dtype="datetime64[us]"),
            "k": keys,
            "a": random.integers(0, 1000, len(keys)),
        }
    )
    file = folder / "s" / f"{number:04d}.parquet"
    pq.write_table(table, file)
    os.utime(file, (1000 + number, 1000 + number))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=5_000_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batches", type=int, default=8)
    given = parser.parse_args()
    seconds: dict[str, list[float]] = {"whole": [], "changes": []}
    commit, large = Commits.commit, table_changes.LARGE

    def timed(self: Commits, *arguments: Any) -> Path:
        begun = time.perf_counter()
        place = commit(self, *arguments)
        kind = "changes" if large == table_changes.LARGE else "whole"
        seconds[kind].append(time.perf_counter() - begun)
        return place

    Commits.commit = timed  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory(prefix="ontoweir-commit-") as name:
        folder = Path(name)
        (folder / "s").mkdir()
        (folder / "ontoweir.toml").write_text(TOML.format(folder, given.keys - 1))
        (folder / "q.sql").write_text(SQL)
        workspace = Workspace(load_project(folder, environ={}))
        compiled = workspace.compile_sql(folder / "q.sql")
        verdict = check_live(workspace, compiled)
        spark: Any = object()
        prepared = prepare_run(workspace, [compiled], [verdict], spark, RunOptions(None, folder))
        intake_cycles.FORMATS = {"s": "parquet"}
        found: dict[str, Any] = {"keys": given.keys, "rows": given.rows}
        for kind in seconds:
            table_changes.LARGE = large if kind == "changes" else 1 << 62
            write(folder, 0, np.arange(given.keys))
            intake = Intake(IntakeOptions(folder / kind), spark)
            intake.restore(ticks=False)
            lister = intake_cycles.Lister(folder, intake, 1)
            sink, place = FileSink(folder / kind), folder / kind
            intake.join(Member("q", "q", prepared.fingerprint, prepared.job, sink, place))
            random = np.random.default_rng(7)
            for number in range(1, given.batches + 3):
                write(folder, number, random.integers(0, given.keys, given.rows))
            while lister.list():
                pass
            found[f"{kind}_ms"] = round(1000 * statistics.median(seconds[kind][3:]), 1)
            intake.close()
            for file in (folder / "s").iterdir():
                file.unlink()
        found["ratio"] = round(found["changes_ms"] / found["whole_ms"], 2)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
