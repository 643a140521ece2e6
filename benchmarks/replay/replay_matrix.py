"""Replay over data of many shapes, beside DuckDB, polars and Spark SQL: what finds the next hole.

    .venv/bin/python benchmarks/replay/replay_matrix.py [--rows 100000,2000000] [--formats …]
        [--shapes …]
        [--queries …] [--ways ours,duckdb,polars,spark] [--repeat 2] [--limit 120] [--home FOLDER]
        [--by seconds]

Formats, shapes and queries are those of matrix_data.py; all of them if not named. A way answers a
query in a process of its own, REPEAT times; the best counts. What ours verified of the files in
the first replay is known in the next ones, as `ontoweir replay` has it; so is the order of what was
unordered (`keep = true`); `kept` is ours with `keep = true` for all, and `imported` DuckDB with a
table of its own that the first run makes. Imports, and the start of
Spark, are not counted; the memory is the peak above what an idle process has with the same imports,
those of the runs included, which another process makes to know what they take. Ours
has the memory pool of Arrow's that the command line chooses. A way
that takes longer than LIMIT seconds is stopped, and shown so. Answers are compared, by count and
hash. Prints a line for each case (in brackets CPU seconds), and the ratios (others' seconds ÷ ours:
above 1 ours is faster; `--by cpu`: of CPU seconds, which other work on the machine changes less);
writes replay_matrix.json, and heat maps of the ratios to DuckDB,
replay-matrix.svg and replay-matrix-kept.svg, to --out. Exits with 1 if answers differ.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
from draw_matrix import draw_matrix
from matrix_data import ASKED, BY_HAND, FORMATS, MAPPED, SETTLED_S, SHAPES, Case, make_case

WAYS = ("ours", "kept", "duckdb", "imported", "polars", "spark")
OURS = ("ours", "kept")
GROUPED = ("join", "three", "aggregate", "iri_count")
Run = Callable[[Path], dict[str, float]]


# -- ways, each in a process of its own -----------------------------------------------------------


def ours(folder: Path, query: str, settings: Sequence[str] = ()) -> Run:
    """`ontoweir replay` as a library."""
    from ontoweir.cache.open_cache import open_cache
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.project.project import load_project
    from ontoweir.run.replay_query import ReplayOptions, replay_query

    import_module("ontoweir.runtime.replay.replay")  # what replay_query imports when it runs

    def run(output: Path) -> dict[str, float]:
        workspace = Workspace(
            load_project(folder, overrides=settings),
            partial=True,
            cache=open_cache(str(folder / "cache")),
        )
        file = folder / f"{query}.{'rq' if query in MAPPED else 'sql'}"
        compiled = workspace.recall(file, sql=query not in MAPPED)
        if compiled is None and query in MAPPED:
            compiled = workspace.compile(query)
        elif compiled is None:
            compiled = workspace.compile_sql(file)
        options = ReplayOptions(output=output, progress=False, final=query in GROUPED)
        summary = replay_query(workspace, compiled, options)
        return {"spark": summary["spark_start_seconds"]}

    return run


def kept(folder: Path, query: str) -> Run:
    """The same with `keep = true`: from the second replay on, rows are unpacked."""
    return ours(folder, query, ["streams.readings.source.keep=true"])


def by_duckdb(folder: Path, query: str, *, imported: bool = False) -> Run:
    """SQL by somebody who knows that the whole history is there."""

    def run(output: Path) -> dict[str, float]:
        connection = duckdb.connect(folder / "readings.duckdb" if imported else ":memory:")
        made = "TABLE IF NOT EXISTS" if imported else "VIEW"
        connection.execute(f"CREATE {made} readings AS FROM '{_find(folder)}'")
        connection.execute(f"COPY ({BY_HAND[query]}) TO '{output}' (FORMAT parquet)")
        connection.close()
        return {}

    return run


def imported(folder: Path, query: str) -> Run:
    """The same over a table of DuckDB's own, which the first run makes of the file."""
    return by_duckdb(folder, query, imported=True)


def by_polars(folder: Path, query: str) -> Run:
    """The same by polars, as lazy expressions."""
    import polars as pl

    file = _find(folder)
    scan = {".parquet": pl.scan_parquet, ".csv": pl.scan_csv, ".jsonl": pl.scan_ndjson}[file.suffix]

    def run(output: Path) -> dict[str, float]:
        rows = scan(file)  # type: ignore[operator]
        named = rows.filter(pl.col("level") == 99, pl.col("device").is_not_null())
        iri = pl.concat_str(pl.lit("http://example.org/device/"), pl.col("device")).alias("d")
        if query == "aggregate":
            made = rows.group_by("device").agg(n=pl.len(), most=pl.col("value").max())
        elif query == "filter":
            made = named.select("device", "level")
        elif query == "distinct":
            made = named.select("device").unique()
        elif query == "iris":
            made = named.select(iri)
        elif query == "iri_count":
            made = named.group_by("device").agg(n=pl.len()).select(iri, "n")
        else:
            made = _count_by_polars(rows.filter(pl.col("level").is_in([1, 99])), query)
        made.collect().write_parquet(output)
        return {}

    return run


def _count_by_polars(rows: Any, query: str) -> Any:
    """The matches of the join in time, or of the three-way one, counted."""
    import polars as pl

    def before(rows: Any, number: Any, name: str) -> Any:
        """With the sum of a number over earlier rows of the device."""
        each = rows.group_by("device", "ts").agg(number.sum().alias("m")).sort("ts")
        each = each.with_columns((pl.col("m").cum_sum() - pl.col("m")).over("device").alias(name))
        return rows.join(each.drop("m"), on=["device", "ts"])

    rows = rows.drop_nulls("device")
    rows = before(rows, (pl.col("level") == 99).cast(pl.Int64), "n")
    if query == "three":
        ones = pl.when(pl.col("level") == 1).then(pl.col("n")).otherwise(0)
        rows = before(rows, ones, "m3").filter(pl.col("level") == 99)
        return rows.select(n=pl.col("m3").sum())
    return rows.filter(pl.col("level") == 1).select(pl.col("n").sum())


def by_spark(folder: Path, query: str) -> Run:
    """The same SQL in Spark, two cores."""
    import pyarrow.parquet as pq

    from ontoweir.runtime.spark.start_session import start_session

    spark = start_session({"spark.master": "local[2]"})
    file = _find(folder)
    form = "json" if file.suffix == ".jsonl" else file.suffix[1:]
    schema = "ts TIMESTAMP, device STRING, level INT, value DOUBLE"
    sql = BY_HAND[query]
    if "EXCLUDE" in sql:  # Spark has no such frames, nor FILTER in a window
        sql = sql.replace("count(*) FILTER (level = 99)", "count_if(level = 99)")
        sql = sql.replace("sum(n) FILTER (level = 1)", "sum(if(level = 1, n, NULL))")
        sql = sql.replace(" EXCLUDE GROUP", "")
        sql = sql.replace("AND CURRENT ROW", "AND INTERVAL 1 MICROSECOND PRECEDING")

    def run(output: Path) -> dict[str, float]:
        reader = spark.read.option("header", "true")
        if form != "parquet":
            reader = reader.schema(schema)
        reader.format(form).load(str(file)).createOrReplaceTempView("readings")
        pq.write_table(spark.sql(sql).toArrow(), output)
        return {}

    return run


def _find(folder: Path) -> Path:
    return next(f for f in folder.glob("readings.*") if f.suffix in (".parquet", ".csv", ".jsonl"))


STARTS: dict[str, Callable[[Path, str], Run]] = {
    "ours": ours,
    "kept": kept,
    "duckdb": by_duckdb,
    "imported": imported,
    "polars": by_polars,
    "spark": by_spark,
}


def measure(way: str, folder: Path, query: str, output: Path, repeat: int) -> None:
    """In a process of its own: prints the seconds and CPU seconds of each run, and MB at most."""
    run = STARTS[way](folder, query)
    idle = _peak_now()
    seconds, work = [], []
    keeps = way == "kept" or "keep = true" in (folder / "ontoweir.toml").read_text()
    for number in range(repeat):
        if (
            number == 1 and keeps and way in OURS
        ):  # the order that was kept just now, else, is not known yet
            time.sleep(SETTLED_S)
        begun, used = time.perf_counter(), cpu_time()
        said = run(output)
        seconds.append(time.perf_counter() - begun - said.get("spark", 0.0))
        work.append(cpu_time() - used)
    most = _peak() - idle - (0 if way == "spark" else _weigh_imports(way, folder, query))
    print(json.dumps({"seconds": seconds, "cpu": work, "peak_mb": most / 1024}))


def cpu_time() -> float:
    """CPU seconds of this process, and of those that it has started and waited for."""
    return sum(os.times()[:4])


def _weigh_imports(way: str, folder: Path, query: str) -> int:
    """The memory of what this process has imported since it was idle, in kB."""
    command = [sys.executable, __file__, "--weigh", way, str(folder), query]
    names = json.dumps(list(sys.modules))
    ran = subprocess.run(command, input=names, capture_output=True, text=True, check=True)
    return int(ran.stdout.splitlines()[-1])


def weigh(way: str, folder: Path, query: str, names: Sequence[str]) -> None:
    """In a process of its own: prints what modules take beside those of one that is idle, in kB."""
    STARTS[way](folder, query)
    before = _peak_now()
    for name in names:
        with suppress(ImportError):
            import_module(name)
    print(_peak_now() - before)


def _peak_now() -> int:
    """The memory of this process, in kB."""
    _forget_peak()
    return _peak()


def _forget_peak() -> None:
    """The most memory so far, of which a process inherits its parent's, counts from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """The most memory of this process, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))


# -- all of them ----------------------------------------------------------------------------------


def main() -> None:
    """Run what was asked for, or, as a process of its own, one way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="100000,2000000")
    for name, known in (("formats", FORMATS), ("shapes", SHAPES), ("queries", ASKED)):
        parser.add_argument(f"--{name}", default=",".join(known))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--by", choices=("seconds", "cpu"), default="seconds")
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "replay-matrix")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[1] / "out")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--weigh", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.weigh is not None:
        weigh(given.weigh[0], Path(given.weigh[1]), given.weigh[2], json.load(sys.stdin))
        return
    if given.child is not None:
        way, folder, query, output = given.child
        measure(way, Path(folder), query, Path(output), given.repeat)
        return
    results: list[dict[str, Any]] = []
    for rows in map(int, given.rows.split(",")):
        for form in given.formats.split(","):
            for shape in given.shapes.split(","):
                if shape == "wide" and (rows > 2_000_000 or form == "jsonl"):
                    continue
                if rows > 2_000_000 and form != "parquet":
                    continue
                folder = make_case(Case(form, shape, rows), given.home)
                for query in given.queries.split(","):
                    results.append(run_cell(given, folder, query))
    given.out.mkdir(exist_ok=True)
    (given.out / "replay_matrix.json").write_text(json.dumps(results, indent=1))
    for mine, name in zip(OURS, ("replay-matrix.svg", "replay-matrix-kept.svg"), strict=True):
        if any(mine in cell["ways"] for cell in results):
            draw_matrix(results, given.out / name, ours=mine, by=given.by)
    summarise(results, given.by)
    sys.exit(any(r["differs"] for r in results))


def run_cell(given: argparse.Namespace, folder: Path, query: str) -> dict[str, Any]:
    """All ways for one query over one case."""
    cell: dict[str, Any] = {"case": folder.name, "query": query, "ways": {}}
    answers: dict[str, object] = {}
    for way in given.ways.split(","):
        output = folder / f"{way}-{query}.parquet"
        output.unlink(missing_ok=True)
        command = [sys.executable, __file__, "--repeat", str(given.repeat)]
        command += ["--child", way, str(folder), query, str(output)]
        chosen = {"ARROW_DEFAULT_MEMORY_POOL": "jemalloc"} if way in OURS else {}
        try:
            ran = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=given.limit,
                env={**os.environ, **chosen},
            )
        except subprocess.TimeoutExpired:
            cell["ways"][way] = {"problem": f"stopped after {given.limit:g} s"}
            continue
        if ran.returncode != 0:
            cell["ways"][way] = {"problem": ran.stderr.strip().splitlines()[-1][:200]}
            continue
        cell["ways"][way] = json.loads(ran.stdout.splitlines()[-1])
        answers[way] = read_answer(output, query)
    cell["differs"] = len(set(answers.values())) > 1
    print(show(cell), answers if cell["differs"] else "", flush=True)
    return cell


def read_answer(output: Path, query: str) -> object:
    """How many answers there are, and a hash of all."""
    names = {
        "filter": "device, level",
        "aggregate": "device, n, most::DOUBLE",
        "distinct": "device",
        "iris": "d",
        "iri_count": "d, n",
    }
    columns = names.get(query, "n::BIGINT")
    there = [row[0] for row in duckdb.execute(f"DESCRIBE FROM '{output}'").fetchall()]
    count = "multiplicity" if "multiplicity" in there else "1"
    texts = ", ".join(f"coalesce({c.strip()}::VARCHAR, '')" for c in columns.split(","))
    count_alone = query not in names  # where there is no match, ours has no row
    if count_alone and not duckdb.execute(f"FROM '{output}' WHERE n > 0").fetchall():
        return 0
    return duckdb.execute(
        f"SELECT sum({count})::HUGEINT, sum(({count}) * (hash({texts}) >> 20))::HUGEINT "
        f"FROM '{output}'"
    ).fetchone()


def show(cell: dict[str, Any]) -> str:
    """A line."""
    parts = [f"{cell['case']:26} {cell['query']:10}"]
    for way, made in cell["ways"].items():
        if "problem" in made:
            parts.append(f"{way}: {made['problem']}")
        else:
            best, work = min(made["seconds"]), min(made["cpu"])
            parts.append(f"{way} {best:7.3f} s ({work:.2f}) {made['peak_mb']:4.0f} MB")
    return "  ".join(parts) + ("  ANSWERS DIFFER" if cell["differs"] else "")


def ratio(cell: dict[str, Any], mine_is: str, other: str, by: str) -> float | None:
    """Another's seconds ÷ those of a way of ours."""
    mine, theirs = cell["ways"].get(mine_is, {}), cell["ways"].get(other, {})
    if by not in mine or by not in theirs:
        return None
    return float(min(theirs[by]) / min(mine[by]))


def summarise(results: list[dict[str, Any]], by: str) -> None:
    """The worst, and the median, against each peer."""
    for mine, other in product(OURS, [way for way in WAYS if way not in OURS]):
        ratios = sorted(
            (found, f"{r['case']} {r['query']}")
            for r in results
            if (found := ratio(r, mine, other, by)) is not None
        )
        if not ratios:
            continue
        middle = statistics.median(r for r, _ in ratios)
        print(f"\n{other} ÷ {mine}: median {middle:.2f}; the worst:")
        for found, name in ratios[:8]:
            print(f"  {found:6.2f}  {name}")


if __name__ == "__main__":
    main()
