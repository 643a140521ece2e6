"""What a lateness costs a replay: CPU seconds over a history in order, and over the same history
shuffled within its lateness; and what sorting it costs instead.

    python benchmarks/arrival/lateness_speed.py [--rows 2000000] [--repeat 3]

Answers are compared. The least of some runs is told, each with files in memory: of first replays,
and of those that know what a first one has found of the files, as later ones do. Readings are of
300 devices, 100 a second, from a seed; ten steps are open. Shuffled: by whole seconds, so that rows
of a second that come at one time are in order; mixed: by microseconds.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.cache.open_cache import Cache
from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.verified.verification import begin_verification

OPEN = 10
SECOND = 1_000_000
SETTLED = 3
"""Seconds after which what is found of files is kept."""
QUERIES = {
    "filter": "SELECT device, value FROM readings WHERE level > 90",
    "join in time": "SELECT y.device, y.value FROM readings x JOIN readings y ON "
    "x.device = y.device AND x.ts < y.ts WHERE x.level = 99 AND y.level = 0",
    "count by device": "SELECT device, COUNT(*) AS n FROM readings GROUP BY device",
}
SOURCES = {
    "in order": ("sorted", "", ""),
    "in order, with a lateness": ("sorted", "", f', lateness = "{OPEN} seconds"'),
    "shuffled, with a lateness": ("shuffled", "", f', lateness = "{OPEN} seconds"'),
    "mixed, with a lateness": ("mixed", "", f', lateness = "{OPEN} seconds"'),
    "shuffled, sorted": ("shuffled", ", sort = true", ""),
}
CATALOG = """
[streams.readings]
source = {{ format = "parquet", path = "{file}.parquet"{sort} }}
timestamp = {{ column = "ts", unit = "1 second"{lateness} }}
max_per_timestamp = 100
[streams.readings.columns]
device = {{ type = "int", min = 0, max = 299 }}
level = {{ type = "int", min = 0, max = 99 }}
value = "double"
"""


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _generate(folder, options.rows)
        for name, sql in QUERIES.items():
            jobs = {}
            found: set[tuple[int, ...]] = set()
            for source, (file, sort, lateness) in SOURCES.items():
                text = CATALOG.format(file=file, sort=sort, lateness=lateness)
                (folder / "ontoweir.toml").write_text(text, encoding="utf-8")
                jobs[source] = _make_job(folder, sql)
            for again in (False, True):
                told: dict[str, list[float]] = {source: [] for source in jobs}
                for _ in range(options.repeat):  # in turn, as other work comes and goes
                    for source, job in jobs.items():
                        told[source].append(_replay(job, folder, found, again=again))
                base = min(told["in order"])
                shown = "; ".join(
                    f"{s} {min(t):.3f} s ({min(t) / base:.2f})" for s, t in told.items()
                )
                wrong = "" if len(found) == 1 else "; NOT THE SAME ANSWERS"
                print(f"{name}, {'again' if again else 'first'}: {shown}{wrong}", flush=True)
    return 0


def _generate(folder: Path, rows: int) -> None:
    draw = np.random.default_rng(1)
    seconds = np.arange(rows) // 100
    table = pa.table(
        {
            "ts": pa.array(seconds * SECOND, pa.timestamp("us", "UTC")),
            "device": draw.integers(0, 300, rows),
            "level": draw.integers(0, 100, rows),
            "value": draw.normal(size=rows),
        }
    )
    pq.write_table(table, folder / "sorted.parquet", row_group_size=250_000)
    order = np.argsort(seconds + draw.integers(0, OPEN + 1, rows), kind="stable")
    pq.write_table(table.take(pa.array(order)), folder / "shuffled.parquet", row_group_size=250_000)
    order = np.argsort(seconds * SECOND + draw.integers(0, OPEN * SECOND + 1, rows))
    pq.write_table(table.take(pa.array(order)), folder / "mixed.parquet", row_group_size=250_000)
    time.sleep(SETTLED)


def _make_job(folder: Path, sql: str) -> QueryJob:
    catalog = load_project(folder, environ={}).catalog
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    if verdict.plans is None:
        sys.exit(f"{sql} is not bounded: nothing to measure")
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    return QueryJob("q", union, verdict.plans, catalog, None, verdict.declarations, parts)


def _replay(job: QueryJob, folder: Path, found: set[tuple[int, ...]], *, again: bool) -> float:
    """The CPU seconds of a run, a first one or one `again`; `found`: of the answers, how many, and
    sums."""
    output = folder / "answers.parquet"
    cache = Cache(folder)
    verification = begin_verification(cache, job.catalog, job.catalog.streams, again=not again)
    begun = time.process_time()  # os.times counts hundredths only
    replay_history(
        job, ReplayRequest(output, "parquet", engine="driver", verification=verification)
    )
    taken = time.process_time() - begun
    rows = pq.read_table(output)
    sums = (pc.sum(rows.column(name).cast(pa.int64())).as_py() for name in ("device", "at"))
    found.add((rows.num_rows, *sums))
    return taken


if __name__ == "__main__":
    sys.exit(main())
