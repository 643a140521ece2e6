"""CPU seconds of rows with the version of their own time, and of the latest row of each key, beside
DuckDB: `python -m benchmarks.windows.versions_speed [ROWS]`.

A stream of so many rows meets 1 % as many versions of 1,000 keys. DuckDB reads the same Parquet
files, by ASOF JOIN, and by ROW_NUMBER() = 1 over the whole history (of which a replay writes every
change); both write Parquet.
"""

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.cli import main

KEYS = 1_000
PROJECT = """
[project]
ontology = []

[streams.sale]
source = { format = "parquet", path = "sale.parquet" }
timestamp = { column = "ts", unit = "1 millisecond" }
keys = [["item", "ts"]]
columns = { item = { type = "int", min = 0, max = 999 }, amount = "int" }

[streams.price_update]
source = { format = "parquet", path = "price_update.parquet" }
timestamp = { column = "ts", unit = "1 millisecond" }
keys = [["item", "ts"]]
columns = { item = { type = "int", min = 0, max = 999 }, price = "int" }

[relations.price]
versions = { stream = "price_update", key = ["item"] }
"""
AS_OF = """SELECT s.item, s.amount, p.price
FROM sale AS s JOIN price FOR SYSTEM_TIME AS OF s.ts AS p ON p.item = s.item"""
DUCK_AS_OF = """SELECT s.item, s.amount, p.price, s.ts
FROM 'sale.parquet' AS s ASOF JOIN 'price_update.parquet' AS p ON p.item = s.item AND p.ts <= s.ts
ORDER BY s.ts"""
LATEST = """SELECT item, amount FROM sale
QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) = 1"""
DUCK_LATEST = LATEST.replace("FROM sale", "FROM 'sale.parquet'")


def write_data(folder: Path, rows: int) -> None:
    """Rows a millisecond apart, and versions a tenth of a second apart."""
    random = np.random.default_rng(1)
    for name, count, step, value in (
        ("sale", rows, 1_000, "amount"),
        ("price_update", rows // 100, 100_000, "price"),
    ):
        columns = {
            "ts": pa.array(np.arange(count) * step).cast(pa.timestamp("us")),
            "item": random.integers(0, KEYS, count),
            value: random.integers(0, 1_000_000, count),
        }
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def measure(work: Callable[[], object]) -> float:
    """CPU seconds, the least of three."""
    seconds = []
    for _ in range(3):
        begun = process_time()
        work()
        seconds.append(process_time() - begun)
    return min(seconds)


def run(rows: int) -> None:
    """Print a line for each query."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "ontoweir.toml").write_text(PROJECT)
        write_data(place, rows)
        for name, ours, duck in (
            ("as of the row's time", AS_OF, DUCK_AS_OF),
            ("the latest of each", LATEST, DUCK_LATEST),
        ):
            (place / "asked.sql").write_text(ours)
            output = place / "answers.parquet"
            command = ["replay", folder, "--sql", str(place / "asked.sql"), "--quiet"]
            command += ["--engine", "driver", "--output", str(output)]

            def ask(text: str = duck) -> None:
                with duckdb.connect() as base:
                    base.execute("SET threads = 1")
                    base.execute(f"SET file_search_path = '{folder}'")
                    base.execute(f"COPY ({text}) TO '{folder}/duck.parquet' (FORMAT parquet)")

            mine, theirs = measure(partial(main, command)), measure(ask)
            answers = pq.ParquetFile(output).metadata.num_rows
            print(f"{name}: {rows:,} rows, {answers:,} rows written")
            print(f"  ontoweir {mine:.2f} s, DuckDB {theirs:.2f} s, {mine / theirs:.1f} x")


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
