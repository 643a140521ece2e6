"""Timestamps of a stream compared with columns of times: prices that are valid for a while, as
DuckDB answers the same SQL."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import event, given

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from tests.oracle.budget import SEEDS, budget

FILE = """
[project]

[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 9

[streams.s.columns]
item = { type = "int", min = 0, max = 2 }
n = "int"
seen = "timestamp"

[relations.price]
source = { format = "parquet", path = "price.parquet" }

[relations.price.columns]
item = "int"
amount = "decimal(6,2)"
since = "timestamp"
till = "timestamp"
"""
START = datetime(2026, 1, 1)
CONDITIONS = (
    "s.ts >= p.since AND s.ts < p.till",
    "s.ts BETWEEN p.since AND p.till",
    "p.since <= s.ts AND s.seen < p.till",
    "NOT (s.ts < p.since OR s.ts >= p.till)",
    "s.ts = p.since",
    "s.ts <> p.till AND s.seen <= s.ts",
)


def make_data(random: Random, folder: Path) -> None:
    def at(low: int, high: int) -> datetime | None:
        if random.random() < 0.1:
            return None
        return START + timedelta(seconds=30 * random.randint(2 * low, 2 * high))

    times = sorted(random.randint(0, 8) for _ in range(random.randint(0, 16)))
    stream = {
        "ts": pa.array([START + timedelta(minutes=t) for t in times], pa.timestamp("us")),
        "item": pa.array([random.randint(0, 2) for _ in times], pa.int64()),
        "n": pa.array([random.randint(-9, 9) for _ in times], pa.int64()),
        "seen": pa.array([at(0, 9) for _ in times], pa.timestamp("us")),
    }
    pq.write_table(pa.table(stream), folder / "s.parquet")
    rows = range(random.randint(0, 6))
    price = {
        "item": pa.array([random.randint(0, 2) for _ in rows], pa.int64()),
        "amount": pa.array([float(random.randint(0, 99)) for _ in rows]).cast(pa.decimal128(6, 2)),
        "since": pa.array([at(0, 6) for _ in rows], pa.timestamp("us")),
        "till": pa.array([at(2, 9) for _ in rows], pa.timestamp("us")),
    }
    pq.write_table(pa.table(price), folder / "price.parquet")


def check(seed: int) -> str:
    random = Random(seed)
    condition = random.choice(CONDITIONS)
    shown = random.choice(("s.n, p.amount", "s.ts, p.amount, p.since", "s.item, s.ts"))
    distinct = random.choice(("", "", "DISTINCT "))
    text = f"SELECT {distinct}{shown} FROM s, price p WHERE s.item = p.item AND {condition}"
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ontoweir.toml").write_text(FILE)
        (folder / "q.sql").write_text(text)
        make_data(random, folder)
        workspace = Workspace(load_project(folder, environ={}))
        compiled = workspace.compile_sql(folder / "q.sql")
        verdict = workspace.check(compiled)
        if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
            return verdict.name
        options = ReplayOptions(folder / "out.parquet", progress=False, engine="driver")
        replay_query(workspace, compiled, options)
        found = pq.read_table(folder / "out.parquet").to_pylist()
        base = duckdb.connect()
        base.execute("SET TimeZone = 'UTC'")
        for table in ("s", "price"):
            base.execute(f"CREATE VIEW {table} AS FROM read_parquet('{folder / table}.parquet')")
        wanted = [tuple(map(str, row)) for row in base.execute(text).fetchall() if None not in row]
        told = [
            tuple(_show(c) for n, c in row.items() if n not in ("at", "multiplicity"))
            for row in found
            for _ in range(row.get("multiplicity", 1))
        ]
        assert sorted(told) == sorted(wanted), text
        return verdict.name


def _show(cell: Any) -> str:
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    return str(cell)


@budget(0.5)
@given(seed=SEEDS)
def test_times_of_rows_are_compared_with_values(seed: int) -> None:
    event(check(seed))
