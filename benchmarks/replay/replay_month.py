"""The example's bounded queries over the real month, three ways, in one run.

    .venv/bin/python benchmarks/replay/replay_month.py [--query NAME] [--limit SECONDS]

- *ontoweir*: `ontoweir replay`, Spark included;
- *Spark SQL*: the join that `ontoweir rewrite --show sql` prints, as it is, on two threads;
- *DuckDB*: the hand-written SQL of tests/examples/expected, on two threads.

Answers are compared: ontoweir's with DuckDB's by count and checksum over sorted rows, Spark SQL's
by their number. Prints a table, and writes the figures as JSON. Exits with 1 if answers differ.
"""

import argparse
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "traffic"
TESTS = ROOT / "tests" / "examples"
CITYBENCH = ROOT.parent / "shared" / "data" / "citybench"
ONTOWEIR = [str(Path(sys.executable).parent / "ontoweir")]
ROAD = """
    SELECT POINT_1_STREET AS street, min(POINT_1_CITY) AS city, min(ROAD_TYPE) AS road_type,
           max(NDT_IN_KMH) AS normal_speed
    FROM sensor WHERE POINT_1_STREET IS NOT NULL GROUP BY POINT_1_STREET"""
ALLOWANCE = 60  # seconds for Spark to start, on top of the limit


@dataclass(frozen=True, slots=True)
class Answer:
    """What a way of evaluation answered, comparable: rows and matches, and a checksum of them."""

    rows: int
    matches: int
    checksum: str


@dataclass(slots=True)
class Outcome:
    """One query's figures. None: not finished within the limit, or failed (see `problem`)."""

    query: str
    tuples: int | None = None
    seconds: float | None = None
    wall_seconds: float | None = None
    tuples_per_second: float | None = None
    state_rows_max: int | None = None
    bound_rows: int | None = None
    rows: int | None = None
    matches: int | None = None
    duckdb_seconds: float | None = None
    spark_sql_seconds: float | None = None
    spark_sql_limit: bool = False
    agrees_with_duckdb: bool | None = None
    agrees_with_spark_sql: bool | None = None
    within_bound: bool | None = None
    problem: str | None = None


def run(command: list[str], limit: float | None = None) -> tuple[int, str, str]:
    """Exit code (-1: over the limit), stdout, stderr; over the limit, its process group ends."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return -1, out, err
    return process.returncode, out, err


def answer_of(database: duckdb.DuckDBPyConnection, relation: str) -> Answer:
    """The answer in a relation with the query's variables, `at`, and perhaps `multiplicity`."""
    described = database.execute(f"DESCRIBE {relation}").fetchall()
    columns = {str(row[0]): str(row[1]) for row in described}
    variables = sorted(c for c in columns if c != "multiplicity")
    cells = [
        f'epoch_us("{c}")' if columns[c].startswith("TIMESTAMP") else f'CAST("{c}" AS VARCHAR)'
        for c in variables
    ]
    weight = 'CAST(sum("multiplicity") AS BIGINT)' if "multiplicity" in columns else "1"
    select = f"SELECT {', '.join(cells)}, {weight} FROM {relation} GROUP BY ALL ORDER BY ALL"
    digest, rows, matches = hashlib.sha256(), 0, 0
    for row in database.execute(select).fetchall():
        digest.update(repr(row).encode())
        rows, matches = rows + 1, matches + row[-1]
    return Answer(rows, matches, digest.hexdigest())


def answer_by_duckdb(query: str, traffic: Path, sensors: Path) -> tuple[float, Answer]:
    """Seconds, reading included, and the answer of the hand-written SQL."""
    database = duckdb.connect()
    database.execute("SET threads = 2")
    source = traffic / "*.parquet" if traffic.is_dir() else traffic
    database.execute(f"CREATE VIEW traffic AS SELECT * FROM read_parquet('{source}')")
    database.execute(f"CREATE VIEW sensor AS SELECT * FROM read_csv('{sensors}')")
    database.execute(f"CREATE VIEW road AS {ROAD}")
    database.execute((TESTS / "macros.sql").read_text())
    sql = (TESTS / "expected" / f"{query}.sql").read_text()
    start = time.perf_counter()
    database.execute(f"CREATE TABLE answer AS {sql}")
    seconds = time.perf_counter() - start
    return seconds, answer_of(database, "answer")


def without_repeats(traffic: Path, folder: Path) -> Path:
    """The history without repeated deliveries (ontoweir rejects them, by the declared key), in the
    order of time: the same input for all three ways."""
    source = traffic / "*.parquet" if traffic.is_dir() else traffic
    clean = folder / "traffic.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT DISTINCT ON (id, ts) * FROM read_parquet('{source}') ORDER BY ts, id) "
        f"TO '{clean}' (FORMAT parquet)"
    )
    return clean


def replay(outcome: Outcome, settings: list[str], folder: Path) -> Answer | None:
    """Replay by ontoweir."""
    output = folder / f"{outcome.query}.parquet"
    command = [*ONTOWEIR, "replay", str(EXAMPLE), "--query", outcome.query, *settings]
    start = time.perf_counter()
    code, out, err = run([*command, "--output", str(output), "--summary", "json"])
    outcome.wall_seconds = time.perf_counter() - start
    if code != 0:
        outcome.problem = f"replay ended with {code}: {' '.join(err.split())[-400:]}"
        return None
    summary: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    for field in ("tuples", "seconds", "tuples_per_second", "state_rows_max", "bound_rows"):
        setattr(outcome, field, summary.get(field))
    state, bound = outcome.state_rows_max, outcome.bound_rows
    outcome.within_bound = None if state is None or bound is None else state <= bound
    source = output / "**" / "*.parquet" if output.is_dir() else output
    return answer_of(duckdb.connect(), f"(FROM read_parquet('{source}'))")


def join_in_spark(outcome: Outcome, settings: list[str], limit: float, folder: Path) -> int | None:
    """The plain join, in a process of its own; the number of its matches."""
    command = [*ONTOWEIR, "rewrite", str(EXAMPLE), "--query", outcome.query, *settings]
    code, sql, err = run([*command, "--show", "sql"])
    if code != 0:
        outcome.problem = f"rewrite ended with {code}: {' '.join(err.split())[-400:]}"
        return None
    if sql.startswith("-- selects nothing"):  # unsatisfiable: there is nothing to run
        outcome.spark_sql_seconds = 0.0
        return 0
    file = folder / f"{outcome.query}.sql"
    file.write_text(sql)
    this = [sys.executable, __file__, "--spark-sql", str(file), "--limit", str(limit)]
    code, out, err = run([*this, *settings], limit + ALLOWANCE)
    result = json.loads(out.strip().splitlines()[-1]) if code == 0 else None
    if result is None:
        if code == -1:
            outcome.spark_sql_limit = True
        else:
            outcome.problem = f"Spark SQL ended with {code}: {' '.join(err.split())[-400:]}"
        return None
    if result["seconds"] > limit:
        outcome.spark_sql_limit = True
    else:
        outcome.spark_sql_seconds = result["seconds"]
    return int(result["rows"])


def spark_sql_worker(file: Path, settings: list[str]) -> None:
    """In a process of its own: run the SQL over the project's tables, print seconds and rows."""
    from pyspark.sql import SparkSession

    from ontoweir.mappings.model.catalog import Relation, Stream
    from ontoweir.project.project import load_project

    catalog = load_project(EXAMPLE, overrides=settings).catalog
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in sorted(tables, key=lambda table: table.data.view is not None):
        if table.data.view is not None:
            frame = spark.sql(table.data.view)
        else:
            options = {**dict(table.data.options), "inferSchema": "true"}
            frame = spark.read.format(table.data.format).options(**options).load(table.data.path)
        frame.createOrReplaceTempView(table.name)
    sql = file.read_text().strip().rstrip(";")
    start = time.perf_counter()
    rows = spark.sql(f"SELECT count(*) FROM (\n{sql}\n)").collect()[0][0]
    print(json.dumps({"seconds": time.perf_counter() - start, "rows": rows}))


def measure(query: str, options: argparse.Namespace, settings: list[str], folder: Path) -> Outcome:
    """All three ways for one query."""
    outcome = Outcome(query)
    ours = replay(outcome, settings, folder)
    outcome.duckdb_seconds, theirs = answer_by_duckdb(query, options.traffic, options.sensors)
    outcome.rows, outcome.matches = theirs.rows, theirs.matches
    if ours is not None:
        outcome.agrees_with_duckdb = ours == theirs
    if options.limit > 0:
        matches = join_in_spark(outcome, settings, options.limit, folder)
        if matches is not None:
            outcome.agrees_with_spark_sql = matches == theirs.matches
    return outcome


def show(outcomes: list[Outcome], limit: float) -> Table:
    """The table a reader sees."""
    table = Table(title="Replay of the month", caption="seconds include reading the data")
    table.add_column("query", overflow="fold", min_width=24)
    names = ("tuples/s", "state rows", "bound", "seconds", "Spark SQL s", "DuckDB s")
    for name in (*names, "Spark/ours", "ours/DuckDB", "rows", "equal"):
        table.add_column(name, justify="right")

    def number(value: float | None, digits: int = 0) -> str:
        return "–" if value is None else f"{value:,.{digits}f}"

    def ratio(one: float | None, other: float | None) -> str:
        return "–" if one is None or not other else f"{one / other:,.1f}×"

    for o in outcomes:
        over = f">{limit:.0f}" if o.spark_sql_limit else number(o.spark_sql_seconds, 1)
        faster = ratio(limit if o.spark_sql_limit else o.spark_sql_seconds, o.seconds)
        equal = (o.agrees_with_duckdb, o.agrees_with_spark_sql, o.within_bound)
        table.add_row(
            o.query,
            number(o.tuples_per_second),
            number(o.state_rows_max),
            number(o.bound_rows),
            number(o.seconds, 1),
            over,
            number(o.duckdb_seconds, 2),
            f">{faster}" if o.spark_sql_limit and o.seconds else faster,
            ratio(o.seconds, o.duckdb_seconds),
            number(o.rows),
            "NO" if False in equal else "yes" if o.agrees_with_duckdb else "–",
        )
    return table


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--query", action="append", help="only this one (may be repeated)")
    parser.add_argument("--limit", type=float, default=120, help="seconds for Spark SQL; 0: skip")
    parser.add_argument("--traffic", type=Path, default=CITYBENCH / "traffic_2014_08.parquet")
    parser.add_argument("--sensors", type=Path, default=CITYBENCH / "traffic_sensor_static.csv")
    parser.add_argument(
        "--json", type=Path, default=ROOT / "benchmarks" / "out" / "replay_month.json"
    )
    parser.add_argument("--spark-sql", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--set", action="append", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.spark_sql is not None:
        spark_sql_worker(options.spark_sql, options.set)
        return 0

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    queries = options.query or sorted(file.stem for file in (TESTS / "expected").glob("*.sql"))
    console = Console(stderr=True)
    outcomes: list[Outcome] = []
    name = options.traffic.name
    with tempfile.TemporaryDirectory(prefix="ontoweir-benchmark-") as folder:
        options.traffic = without_repeats(options.traffic, Path(folder))
        settings = [
            "--set", f"streams.traffic.source.path={options.traffic}",
            "--set", f"relations.sensor.source.path={options.sensors.resolve()}",
        ]  # fmt: skip
        for i, query in enumerate(queries, start=1):
            with console.status(f"{i}/{len(queries)} {query}"):
                outcomes.append(measure(query, options, settings, Path(folder)))
            if outcomes[-1].problem:
                console.print(f"{query}: {outcomes[-1].problem}", style="red", markup=False)
    Console(width=None if sys.stdout.isatty() else 160).print(show(outcomes, options.limit))
    machine = {"processors": os.cpu_count(), "python": platform.python_version()}
    record = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "data": name,
        "spark_sql_limit_seconds": options.limit,
        "queries": [asdict(outcome) for outcome in outcomes],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(record, indent=2) + "\n")
    console.print(f"figures in {options.json}")
    good = all(
        o.problem is None
        and False not in (o.agrees_with_duckdb, o.agrees_with_spark_sql, o.within_bound)
        for o in outcomes
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
