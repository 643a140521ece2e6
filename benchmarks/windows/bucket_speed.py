"""Aggregates by buckets of time: CPU seconds of replays in this process, and of DuckDB's answer to
the same SQL over the same Parquet.

    python benchmarks/windows/bucket_speed.py [--rows 2000000] [--repeat 3] [--only TEXT]
        [--profile]

Answers are compared: groups of buckets that the history covers to the end; of sliding windows, what
holds at the end. DuckDB answers sliding windows by window functions, for each reading, and does not
say when a group changes because a reading leaves the window. The least of some runs is told, each
with files in memory. Readings are of 300 devices, 100 a second, from a seed.
"""

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.windows.choose_emit import choose_emit
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest

MINUTE = "date_trunc('minute', ts)"
LAST = "HOP(ts, INTERVAL '1' SECOND, INTERVAL '10' SECOND)"
HOUR = "HOP(ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)"
QUERIES = {
    "minutes by device": f"SELECT device, {MINUTE} AS m, COUNT(*) AS n, SUM(level) AS s, "
    f"AVG(level) AS a FROM readings GROUP BY device, {MINUTE}",
    "minutes by device, doubles": f"SELECT device, {MINUTE} AS m, COUNT(*) AS n, SUM(value) AS s, "
    f"AVG(value) AS a FROM readings GROUP BY device, {MINUTE}",
    "minutes, least and greatest": f"SELECT {MINUTE} AS m, MIN(level) AS x, MAX(level) AS y "
    f"FROM readings GROUP BY {MINUTE}",
    "minutes by device as text": f"SELECT name, {MINUTE} AS m, COUNT(*) AS n, SUM(level) AS s "
    f"FROM readings GROUP BY name, {MINUTE}",
    "the last ten seconds, every second, greatest by device": f"SELECT device, {LAST} AS m, "
    f"MAX(level) AS x FROM readings GROUP BY device, {LAST}",
    "the last hour, every five minutes, by device": f"SELECT device, {HOUR} AS m, COUNT(*) AS n, "
    f"AVG(level) AS a FROM readings GROUP BY device, {HOUR}",
}
WIDTHS = {LAST: 10, HOUR: 3600}
OVER = (
    "OVER (PARTITION BY device ORDER BY ts RANGE BETWEEN INTERVAL 9 SECONDS PRECEDING "
    "AND CURRENT ROW)"
)
SLIDING = {
    "a window of ten seconds, greatest by device": "MAX(level) AS x",
    "a window of ten seconds, number and sum by device": "COUNT(*) AS n, SUM(level) AS s",
}
CATALOG = """
[streams.readings]
source = { format = "parquet", path = "readings.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 200
columns = { device = "int", name = "string", level = "int", value = "double" }
"""


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="queries whose names have this text")
    parser.add_argument("--profile", action="store_true", help="where the time of replays goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        generate(folder, options.rows)
        for name, sql in QUERIES.items():
            if options.only in name:
                _compare(folder, name, sql, options)
        for name, aggregates in SLIDING.items():
            if options.only in name:
                _compare_sliding(folder, name, aggregates, options)
    return 0


def generate(folder: Path, rows: int) -> None:
    """The project: a catalog, and the readings."""
    draw = np.random.default_rng(1)
    device = draw.integers(0, 300, rows)
    names = pa.array([f"device-{i:04}" for i in range(300)])
    table = pa.table(
        {
            "ts": pa.array(np.arange(rows) // 100 * 1_000_000, pa.timestamp("us", "UTC")),
            "device": device,
            "name": names.take(pa.array(device)),
            "level": draw.integers(0, 100, rows),
            "value": draw.normal(size=rows),
        }
    )
    pq.write_table(table, folder / "readings.parquet", row_group_size=250_000)
    (folder / "ontoweir.toml").write_text(CATALOG, encoding="utf-8")


def _make_job(folder: Path, sql: str) -> QueryJob:
    catalog = load_project(folder, environ={}).catalog
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    if verdict.plans is None or verdict.bound is None:
        sys.exit(f"{sql} is not bounded: nothing to measure")
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    rows, emit = verdict.bound.rows, choose_emit(union)
    return QueryJob(
        "q", union, verdict.plans, catalog, rows, verdict.declarations, parts, emit=emit
    )


def _compare_sliding(folder: Path, name: str, aggregates: str, options: argparse.Namespace) -> None:
    where = "WHERE ts > NOW() - INTERVAL '10' SECOND"
    job = _make_job(folder, f"SELECT device, {aggregates} FROM readings {where} GROUP BY device")
    output = folder / "answers.parquet"

    def replay() -> None:
        replay_history(job, ReplayRequest(output, "parquet", engine="driver"))

    base = duckdb.connect(config={"threads": 1})
    base.execute(f"CREATE VIEW readings AS FROM '{folder / 'readings.parquet'}'")
    over = aggregates.replace(" AS", f" {OVER} AS")

    def ask() -> None:
        query = f"SELECT device, ts, {over} FROM readings"
        base.execute(f"COPY ({query}) TO '{folder / 'duckdb.parquet'}'")

    ours, theirs = _measure(replay, options.repeat), _measure(ask, options.repeat)
    columns = [c for c in pq.read_schema(output).names if c not in ("op", "at")]
    shown = ", ".join(columns)
    signs = "SUM(CASE op WHEN '+' THEN 1 ELSE -1 END)"
    held = base.execute(
        f"SELECT {shown} FROM '{output}' GROUP BY ALL HAVING {signs} = 1 ORDER BY device"
    ).fetchall()
    last = "ts > (SELECT MAX(ts) FROM readings) - INTERVAL '10' SECOND"
    wanted = base.execute(
        f"SELECT device, {aggregates} FROM readings WHERE {last} GROUP BY 1 ORDER BY 1"
    ).fetchall()
    print(
        f"{name}: {ours:.2f} s, DuckDB {theirs:.2f} s of CPU, {ours / theirs:.1f} times; "
        f"{pq.read_metadata(output).num_rows:,} changes{'' if held == wanted else ', NOT RIGHT'}",
        flush=True,
    )
    _profile(replay, options)


def _profile(replay: Callable[[], None], options: argparse.Namespace) -> None:
    if options.profile:
        with cProfile.Profile() as profile:
            replay()
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)


def _compare(folder: Path, name: str, sql: str, options: argparse.Namespace) -> None:
    job = _make_job(folder, sql)
    union, catalog, output = job.union, job.catalog, folder / "answers.parquet"

    def replay() -> None:
        replay_history(job, ReplayRequest(output, "parquet", engine="driver"))

    base = duckdb.connect(config={"threads": 1})
    base.execute(f"CREATE VIEW readings AS FROM '{folder / 'readings.parquet'}'")
    width = next((w for call, w in WIDTHS.items() if call in sql), None)
    if width is not None:  # DuckDB has no HOP
        sql = print_sql(union, catalog, dialect="duckdb", comments=False)

    def ask() -> None:
        base.execute(f"COPY ({sql}) TO '{folder / 'duckdb.parquet'}'")

    ours, theirs = _measure(replay, options.repeat), _measure(ask, options.repeat)
    found, wanted = pq.read_table(output), pq.read_table(folder / "duckdb.parquet")
    seconds = options.rows // 100
    last = seconds // 60 * 60 - 60 if width is None else seconds - width  # that the last one begins
    starts = wanted["m"].cast(pa.timestamp("us"))
    kept = wanted.filter(pc.less_equal(starts, pa.scalar(last * 1_000_000, pa.timestamp("us"))))
    same = found.num_rows == kept.num_rows
    print(
        f"{name}: {ours:.2f} s, DuckDB {theirs:.2f} s of CPU, {ours / theirs:.1f} times; "
        f"{found.num_rows:,} groups{'' if same else f', NOT {kept.num_rows:,}'}",
        flush=True,
    )
    _profile(replay, options)


def _measure(run: Callable[[], Any], times: int) -> float:
    """The CPU seconds of this process that the fastest of some runs takes, all threads together."""
    taken = []
    for _ in range(times):
        begun = os.times()
        run()
        ended = os.times()
        taken.append(ended.user + ended.system - begun.user - begun.system)
    return min(taken)


if __name__ == "__main__":
    sys.exit(main())
