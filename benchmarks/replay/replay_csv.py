"""A replay of CSV from the shell, the whole process, beside DuckDB on the same file.

    .venv/bin/python benchmarks/replay/replay_csv.py FOLDER [ROWS]

The file (2 million rows are 100 MB) is made with a fixed seed. Prints seconds, the peak of memory,
and how many answers each found, which must be the same.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv

PROJECT = """
[streams.reading]
source = {{ format = "csv", path = "{file}", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 400
keys = [["device", "ts"]]
[streams.reading.columns]
device = {{ type = "string", enum = [{devices}] }}
level = {{ type = "int", min = 0, max = 100 }}
value = "double"
"""
DEVICES = [f"dev-{n:04d}" for n in range(300)]
QUERIES = {
    "join": """SELECT a.device, b.value FROM reading a, reading b
        WHERE a.device = b.device AND a.level = 99 AND b.level = 1
        AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '1' MINUTE""",
    "aggregate": "SELECT device, COUNT(*) AS n, MAX(value) AS most FROM reading GROUP BY device",
}


def make_file(file: Path, rows: int) -> None:
    """Readings in the order of time, 100 a second."""
    random = np.random.default_rng(16)
    second = np.arange(rows) // 100
    times = pa.array((1_400_000_000 + second) * 1_000_000, pa.timestamp("us"))
    # 100 different ones of the 300 in each second
    device = (np.arange(rows) % 100) * 3 + random.integers(0, 3, rows)
    table = pa.table(
        {
            "ts": times.cast(pa.timestamp("s")),
            "device": pa.array(np.array(DEVICES)[device]),
            "level": random.integers(0, 101, rows),
            "value": random.random(rows) * 100,
        }
    )
    pcsv.write_csv(table, file, pcsv.WriteOptions(quoting_style="none"))


def run_ours(folder: Path, name: str) -> None:
    """`ontoweir replay`, as from a shell."""
    output = folder / f"{name}.parquet"
    command = [str(Path(sys.executable).with_name("ontoweir")), "replay", str(folder)]
    command += ["--sql", str(folder / f"{name}.sql"), "--output", str(output), "--quiet"]
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    if name == "join":
        found = "SELECT sum(multiplicity) FROM '{0}'"
    else:
        found = "SELECT count(*) FROM (SELECT DISTINCT device FROM '{0}')"
    answers = duckdb.execute(found.format(output)).fetchone()
    print(f"{name:10} ours   {seconds:6.2f} s  {peak} MB  {answers}")


def run_duckdb(file: Path, folder: Path, name: str) -> None:
    """The same SQL in DuckDB, answers to Parquet."""
    sql = QUERIES[name].replace("reading", f"read_csv('{file}')")
    begun = time.perf_counter()
    duckdb.execute(f"COPY ({sql}) TO '{folder / 'duckdb.parquet'}' (FORMAT parquet)")
    seconds = time.perf_counter() - begun
    answers = duckdb.execute(f"SELECT count(*) FROM '{folder / 'duckdb.parquet'}'").fetchone()
    print(f"{name:10} DuckDB {seconds:6.2f} s          {answers}")


def main() -> None:
    """Make the project, run both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=int, nargs="?", default=2_000_000)
    given = parser.parse_args()
    folder, rows = given.folder, given.rows
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "reading.csv"
    make_file(file, rows)
    print(f"{rows:,} rows, {file.stat().st_size / 1e6:.0f} MB")
    devices = ", ".join(f'"{d}"' for d in DEVICES)
    (folder / "ontoweir.toml").write_text(PROJECT.format(file=file, devices=devices))
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)
        for _ in range(2):
            run_ours(folder, name)
        run_duckdb(file, folder, name)


if __name__ == "__main__":
    main()
