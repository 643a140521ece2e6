"""What a live micro-batch of a composed query costs over the rows in its windows.

    .venv/bin/python benchmarks/live/composed_state.py [--states 10000,100000] [--batch 100]
        [--only groups,rows] [--profile]

Queries of windows' groups that are joined with rows, groups, the latest of keys and a register run
live, in one process: nothing is read from disk, nothing written. First rows fill the windows, so
many of each stream as `--states` says, each with one of a tenth as many keys; then come
micro-batches of `--batch` rows of each stream, of one timestamp, while as many leave. Prints the
CPU milliseconds of one of these (the median of ROUNDS), and the changes that it tells.
"""

import argparse
import cProfile
import pstats
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import AskedFor, make_job
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.sources.read_source import BAD

ROUNDS = 9
COUNTED = (
    "(SELECT device, COUNT(*) AS n, SUM(level) AS total FROM {0} "
    "WHERE ts > NOW() - INTERVAL '{{w}}' SECOND GROUP BY device)"
)
CALLS, ANSWERS = COUNTED.format("calls"), COUNTED.format("answers")
LATEST = (
    "(SELECT device, level FROM answers "
    "QUALIFY RANK() OVER (PARTITION BY device ORDER BY ts DESC) = 1)"
)
SO_FAR = "(SELECT device, COUNT(*) AS n FROM {0} GROUP BY device)"
IN_TIME = "{0}.ts > NOW() - INTERVAL '{{w}}' SECOND"
ROWS_IN_TIME = IN_TIME.format("c")
CASES = {
    "groups": f"SELECT x.device, x.n, y.total FROM {CALLS} AS x JOIN {ANSWERS} AS y USING (device)",
    "computed": f"SELECT x.device, x.n - y.n AS more FROM {CALLS} AS x "
    f"LEFT JOIN {ANSWERS} AS y USING (device)",
    "rows": f"SELECT c.device, c.level, y.total FROM calls c JOIN {ANSWERS} AS y "
    f"ON y.device = c.device WHERE {ROWS_IN_TIME}",
    "filtered": f"SELECT c.device, c.level + y.n AS sum FROM calls c JOIN {ANSWERS} AS y "
    f"ON y.device = c.device WHERE {ROWS_IN_TIME} AND c.level > y.n",
    "exists": f"SELECT c.device, c.level FROM calls c WHERE {ROWS_IN_TIME} AND EXISTS (SELECT "
    "answers.device FROM answers WHERE answers.ts > NOW() - INTERVAL '{w}' SECOND AND "
    "answers.device = c.device GROUP BY answers.device HAVING COUNT(*) > 12)",
    "latest": f"SELECT x.device, x.n, l.level FROM {CALLS} AS x JOIN {LATEST} AS l "
    "ON l.device = x.device",
    "register": f"SELECT r.device, COALESCE(x.n, 0) AS n FROM places r LEFT JOIN {CALLS} AS x "
    "ON x.device = r.device",
    "regrouped": f"SELECT r.region, COUNT(*) AS devices, SUM(x.n) AS calls FROM {CALLS} AS x "
    "JOIN places r ON r.device = x.device GROUP BY r.region",
    "average": f"WITH x AS {CALLS} SELECT device, n FROM x WHERE n > (SELECT AVG(n) + 5 FROM x)",
    "so far": "SELECT device, AVG(level) AS v FROM calls GROUP BY device HAVING AVG(level) > 50",
    "median": "SELECT device, MEDIAN(level) AS v FROM calls GROUP BY device "
    "HAVING MEDIAN(level) > 50",
    "beside": f"SELECT x.device, x.n, y.n AS m FROM {SO_FAR.format('calls')} AS x "
    f"JOIN {SO_FAR.format('answers')} AS y USING (device)",
    "first": "SELECT device, COUNT(*) AS n FROM calls GROUP BY device "
    "ORDER BY n DESC, device LIMIT 10",
    "places": f"SELECT l.device, l.level, r.region FROM {LATEST} AS l "
    "JOIN places r ON r.device = l.device WHERE r.region < 50",
    "counted": f"SELECT level, COUNT(*) AS n FROM {LATEST} AS l GROUP BY level",
}
PROJECT = """
[project]
queries = []
[relations.places]
source = {{ format = "parquet", path = "places.parquet" }}
[relations.places.columns]
device = {{ type = "int", min = 0, max = {most} }}
region = {{ type = "int", min = 0, max = 99 }}
"""
STREAM = """
[streams.{name}]
source = {{ format = "parquet", path = "{name}" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 1000
[streams.{name}.columns]
device = {{ type = "int", min = 0, max = {most} }}
level = {{ type = "int", min = 0, max = 99 }}
"""


def open_job(sql: str, rows: int, batch: int, folder: Path) -> LiveJob:
    """The live job of a query whose windows have so many rows of each stream."""
    keys = rows // 10
    text = PROJECT.format(most=keys - 1)
    for name in ("calls", "answers"):
        text += STREAM.format(name=name, most=keys - 1)
    (folder / "ontoweir.toml").write_text(text)
    devices = np.arange(keys)
    pa.parquet.write_table(
        pa.table({"device": devices, "region": devices % 100}), folder / "places.parquet"
    )
    (folder / "q.sql").write_text(sql.replace("{w}", str(rows // batch)))
    workspace = Workspace(load_project(folder))
    compiled = workspace.compile_sql(folder / "q.sql")
    verdict = workspace.check(compiled)
    job, _ = make_job(workspace, compiled, verdict, Statistics(), AskedFor(emit="changes"))
    places = pa.parquet.read_table(folder / "places.parquet")
    read = {name: places for name in job.catalog.relations if name == "places"}
    return make_live_job([job], job.catalog, read, {})


class Feed:
    """Rows of both streams, so many of each second."""

    def __init__(self, keys: int, batch: int) -> None:
        self.random, self.keys, self.batch, self.now = np.random.default_rng(8), keys, batch, 0

    def rows(self, seconds: int) -> dict[str, pa.Table]:
        """The rows of the next seconds."""
        size, made = seconds * self.batch, {}
        times = (self.now + np.arange(size) // self.batch) * 1_000_000
        self.now += seconds
        for name in ("calls", "answers"):
            made[name] = pa.table(
                {
                    "ts": pa.array(times),
                    "device": pa.array(self.random.integers(0, self.keys, size)),
                    "level": pa.array(self.random.integers(0, 100, size)),
                    BAD: pa.nulls(size, pa.string()),
                }
            )
        return made


def measure(job: LiveJob, rows: int, batch: int, profile: cProfile.Profile | None) -> list[float]:
    """The CPU milliseconds of a micro-batch, and how many changes it tells."""
    feed = Feed(rows // 10, batch)
    state = advance_live(job, begin_live(job), feed.rows(rows // batch + 5), 0.0).state
    spent, told = [], []
    for number in range(ROUNDS + 2):
        came = feed.rows(1)
        if profile is not None and number == 2:
            profile.enable()
        begun = time.process_time()
        outcome = advance_live(job, state, came, 0.0)
        spent.append(1000 * (time.process_time() - begun))
        state = outcome.state
        told.append(sum(answers.num_rows for answers in outcome.answers))
    if profile is not None:
        profile.disable()
    return [statistics.median(spent[2:]), statistics.median(told[2:])]


def main() -> None:
    """Measure all queries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", default="10000,100000")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    for name in given.only.split(","):
        for rows in map(int, given.states.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                job = open_job(CASES[name], rows, given.batch, Path(folder))
            profile = cProfile.Profile() if given.profile else None
            spent, told = measure(job, rows, given.batch, profile)
            print(f"{name:10} {rows:8,} rows a window  {spent:9.1f} ms  {told:7.0f} changes")
            if profile is not None:
                pstats.Stats(profile).sort_stats("cumtime").print_stats(45)


if __name__ == "__main__":
    main()
