"""Replays by two checkouts, beside DuckDB: a table "before, now" of what people have.

    .venv/bin/python benchmarks/replay/compare_checkouts.py BEFORE NOW [--rows 0,1,…] [--repeat 5]
        [--cells nulls-10000000-filter,…] [--home FOLDER]

BEFORE and NOW are checkouts, each set up (`./ontoweir setup`) with its own environment; this one is
as good as any. Each row of the table is a query over data of matrix_data.py; `--cells` has others
in their place: shapes, rows and queries of it, over Parquet. Both checkouts and DuckDB take turns,
REPEAT times, each time in a new process that replays the same history twice (and before that once,
so that it is verified): the first of the two is what a command has to do besides
its imports, the second finds memory that is there. Printed are the least CPU milliseconds of both,
with those of processes that were started, and the least peak of memory above what the imports take,
in MB. Answers are compared: those of both
checkouts must be the same. Exits with 1 if they are not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
from matrix_data import BY_HAND, QUERIES, Case, make_case
from replay_matrix import _forget_peak, _peak, cpu_time

_UUIDS, _MANY = Case("parquet", "uuid", 2_000_000), Case("parquet", "uuid", 5_000_000)
_TEXT, _CSV = Case("parquet", "text", 2_000_000), Case("csv", "text", 2_000_000)
_MORE = {
    "site": "SELECT r.site AS site, count(*) AS n FROM readings a, register r "
    "WHERE a.device = r.device GROUP BY r.site",
    "rare": "SELECT device, value FROM readings WHERE value = 77 AND device IS NOT NULL",
    "rarest": "SELECT device, value FROM readings WHERE value = 77 AND level = 99 "
    "AND device IS NOT NULL",
}
ROWS: tuple[tuple[str, Case, str], ...] = (
    ("5 M rows, UUIDs, a register of a million: join in time, counted", _MANY, "join"),
    ("the same: count by site through the register", _MANY, "site"),
    ("2 M rows, UUIDs: a filter that one row in 100 keeps", _UUIDS, "filter"),
    ("the same: one row in 10,000", _UUIDS, "rare"),
    ("the same: one row in 1,000,000", _UUIDS, "rarest"),
    ("the same: join in time", _UUIDS, "join"),
    ("the same: count and maximum by device", _UUIDS, "aggregate"),
    ("2 M rows, 300 devices (text): join in time", _TEXT, "join"),
    ("the same: count and maximum by device", _TEXT, "aggregate"),
    ("the same as CSV: join in time", _CSV, "join"),
    ("the same as CSV: count and maximum by device", _CSV, "aggregate"),
)
GROUPED = ("join", "three", "site", "aggregate")
_TWICE = 2


def measure(way: str, folder: Path, query: str, output: Path) -> None:
    """In a process of its own: prints CPU seconds of each of two runs, and MB at most."""
    if way == "duckdb":
        sql = BY_HAND.get(query, _MORE.get(query, ""))

        def run() -> None:
            connection = duckdb.connect(config={"threads": 2})
            connection.execute(f"CREATE VIEW readings AS FROM '{next(folder.glob('readings.*'))}'")
            if query == "site":
                connection.execute(f"CREATE VIEW register AS FROM '{folder}/register.parquet'")
            connection.execute(f"COPY ({sql}) TO '{output}' (FORMAT parquet)")
    else:
        run = _prepare_replay(way, folder, query, output)
    _forget_peak()
    idle, work = _peak(), []
    for _ in range(_TWICE):
        used = cpu_time()
        run()
        work.append(cpu_time() - used)
    print(json.dumps({"cpu": work, "mb": (_peak() - idle) / 1024}))


def _prepare_replay(way: str, folder: Path, query: str, output: Path) -> Any:
    from importlib import import_module

    from ontoweir.cache.open_cache import open_cache
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.project.project import load_project
    from ontoweir.run.replay_query import ReplayOptions, replay_query

    import_module("ontoweir.runtime.replay.replay")

    def run() -> None:
        cache = open_cache(str(folder / f"cache-{way}"))
        workspace = Workspace(load_project(folder), partial=True, cache=cache)
        file = folder / f"{query}.sql"
        compiled = workspace.recall(file, sql=True) or workspace.compile_sql(file)
        options = ReplayOptions(output=output, progress=False, final=query in GROUPED)
        replay_query(workspace, compiled, options)

    return run


def main() -> None:
    """All rows; or, as a process of its own, one way of one row."""
    if sys.argv[1:2] == ["--child"]:
        way, folder, query, output = sys.argv[2:]
        measure(way, Path(folder), query, Path(output))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("now", type=Path)
    parser.add_argument("--rows", default=",".join(map(str, range(len(ROWS)))))
    parser.add_argument("--cells", default="")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "replay-matrix")
    given = parser.parse_args()
    python = {way: getattr(given, way) / ".venv" / "bin" / "python" for way in ("before", "now")}
    python["duckdb"] = Path(sys.executable)
    print("| CPU ms of a first and a second replay; MB | before | now | DuckDB |")
    print("| --- | --- | --- | --- |")
    differ = False
    cells = [_find_cell(cell) for cell in given.cells.split(",") if cell]
    for name, case, query in cells or [ROWS[int(n)] for n in given.rows.split(",")]:
        folder = make_case(case, given.home)
        (folder / f"{query}.sql").write_text(QUERIES.get(query) or _MORE[query])
        found: dict[str, list[dict[str, Any]]] = {way: [] for way in python}
        answers: dict[str, object] = {}
        for turn in range(given.repeat + 1):
            for way, program in python.items():
                output = folder / f"{way}-{query}.parquet"
                output.unlink(missing_ok=True)
                told = _run(program, way, folder, query, output)
                if turn:  # the first verifies
                    found[way].append(told)
                    answers[way] = _read(output)
        same = answers["before"] == answers["now"]
        differ |= not same
        shown = " | ".join(_show(found[way]) for way in python)
        print(f"| {name} | {shown} |{'' if same else ' ANSWERS DIFFER'}", flush=True)
    sys.exit(differ)


def _find_cell(cell: str) -> tuple[str, Case, str]:
    """A row of the table, of a cell's name."""
    shape, rows, query = cell.split("-")
    return f"{int(rows):,} rows, {shape}: {query}", Case("parquet", shape, int(rows)), query


def _run(program: Path, way: str, folder: Path, query: str, output: Path) -> dict[str, Any]:
    """A process of its own, which says what it took."""
    chosen = {} if way == "duckdb" else {"ARROW_DEFAULT_MEMORY_POOL": "jemalloc"}
    command = [str(program), __file__, "--child", way, str(folder), query, str(output)]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **chosen}
    )
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return told


def _read(output: Path) -> object:
    """How many answers there are, and a hash of all."""
    sql = f"SELECT count(*), sum(hash(t) >> 20)::HUGEINT FROM '{output}' t"
    return duckdb.execute(sql).fetchone()


def _show(told: list[dict[str, Any]]) -> str:
    first, second = (1000 * min(t["cpu"][n] for t in told) for n in range(_TWICE))
    return f"{first:,.0f}, {second:,.0f}; {min(t['mb'] for t in told):,.0f} MB"


if __name__ == "__main__":
    main()
