"""Columns of all types that are read late give DuckDB's answers, and reject the same rows."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import Cache
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.runtime.parquet import open_filled
from ontoweir.runtime.parquet.pick_codes import CodedPages
from ontoweir.runtime.sources import identify_file

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
n = "int"
x = "int"
y = { type = "int", min = 3, max = 90 }
w = "timestamp"
d = "date"
z = "double"
b = "boolean"
s = "string"
m = "decimal(9, 2)"
"""
ROWS, FIRST = 9_000, datetime(2020, 1, 1, tzinfo=UTC)
QUERIES = {
    "SELECT x, y FROM s WHERE n = 7": "x y",
    "SELECT y, w, d, z, s, m FROM s WHERE n = 7": "y w d z s m",
    "SELECT y, s FROM s WHERE n = 7 AND b": "y s",
    "SELECT x, z FROM s WHERE n < 2 AND x IS NOT NULL": "x z",
    "SELECT DISTINCT d, s FROM s WHERE n = 3": "d s",
    "SELECT s, count(*) AS c, max(m) AS most FROM s WHERE n = 3 GROUP BY s": "s c most",
    "SELECT w, y FROM s WHERE n = 3 AND x IS NULL": "w y",
    "SELECT z, y, m FROM s WHERE n >= 1 AND b": "z y m",
}


def _write(file: Path) -> None:
    """Row groups whose dictionaries differ, with NULL in some columns; some values are not as
    declared: whole numbers that are none, and beyond their limits, and NaN."""
    random = Random(3)

    def draw(make: Any, missing: float = 0.0) -> list[Any]:
        return [None if random.random() < missing else make() for _ in range(ROWS)]

    below = random.randrange
    columns = {
        "ts": pa.array([n // 5 * 1_000_000 for n in range(ROWS)], pa.timestamp("us")),
        "n": pa.array(draw(lambda: below(40)), pa.int64()),
        "x": pa.array(draw(lambda: below(50) + 0.5 * (below(10) == 0), 0.2), pa.float64()),
        "y": pa.array(draw(lambda: below(100), 0.1), pa.int64()),
        "w": pa.array(draw(lambda: FIRST + timedelta(below(300))), pa.timestamp("ms", "UTC")),
        "d": pa.array(draw(lambda: date(2020, 1, 1) + timedelta(below(300)), 0.3), pa.date32()),
        "z": pa.array(draw(lambda: below(9) / 4 if below(9) else float("nan"), 0.05)),
        "b": pa.array(draw(lambda: below(2) == 0, 0.1), pa.bool_()),
        "s": pa.array(draw(lambda: f"é{below(40)}", 0.1), pa.string()),
        "m": pa.array(draw(lambda: Decimal(below(400)) / 100, 0.1), pa.decimal128(9, 2)),
    }
    pq.write_table(pa.table(columns), file, row_group_size=3_500, data_page_size=2_000)


def _read(table: pa.Table) -> list[str]:
    """The rows, sorted; times without their zone, and numbers as such."""
    plain = []
    for column in table.columns:
        values = column.to_pylist()
        values = [v.replace(tzinfo=None) if isinstance(v, datetime) else v for v in values]
        plain.append([float(v) if isinstance(v, Decimal | int) else v for v in values])
    return sorted(map(repr, zip(*plain, strict=True)))


def test_all_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first replay, which verifies; at the next ones, which read late; and verified anew."""
    _write(tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
    monkeypatch.setattr(open_filled, "_FEWEST", 1)
    picked, pick = set[str](), CodedPages.pick

    def noted(pages: CodedPages, rows: Any) -> pa.ChunkedArray:
        values = pick(pages, rows)
        picked.add(str(values.type))
        return values

    monkeypatch.setattr(CodedPages, "pick", noted)
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    cache, output = Cache(tmp_path / "cache"), tmp_path / "o.parquet"
    cache.folder.mkdir()
    for sql, names in QUERIES.items():
        (tmp_path / "q.sql").write_text(sql)
        shown, grouped = names.split(), "count(*)" in sql
        whole = "(x IS NULL OR x = floor(x)) AND" if re.search(r"\bx\b", sql) else ""
        database.execute(
            f"CREATE OR REPLACE VIEW s AS FROM '{tmp_path}/s.parquet' "
            f"WHERE {whole} (y IS NULL OR y BETWEEN 3 AND 90) AND (z IS NULL OR NOT isnan(z))"
        )
        filled = "" if grouped else " WHERE " + " AND ".join(f"{c} IS NOT NULL" for c in shown)
        relation = database.sql(f"SELECT * FROM ({sql}){filled}")
        assert relation is not None
        wanted = _read(relation.to_arrow_table())
        rejected = set[int]()
        for known, verify in ((None, False), (cache, False), (cache, False), (cache, True)):
            workspace = Workspace(load_project(tmp_path, environ={}), cache=known)
            options = ReplayOptions(
                output,
                progress=False,
                final=grouped,
                expand=not grouped,
                verify=verify,
                allow_unbounded=True,
            )
            summary = replay_query(workspace, workspace.compile_sql(tmp_path / "q.sql"), options)
            found = pq.read_table(output, columns=shown)
            assert _read(found) == wanted, sql
            rejected.add(summary["rejected"])
        assert len(rejected) == 1
    assert len(picked) >= 6
