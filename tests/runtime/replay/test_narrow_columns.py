"""Columns that are read in fewer bits give the answers of others, also where row groups differ."""

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
from ontoweir.runtime.chunks import row_groups
from ontoweir.runtime.sources import identify_file

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = -9000000000000, max = 9000000000000 }
t = "string"
d = "decimal(12, 2)"
e = "decimal(12, 2)"
x = "double"
"""
GROUPS, ROWS = 4, 5_000
QUERIES = (
    "SELECT k, d, e FROM s WHERE k = 7 AND e > 1.5 AND d IS NOT NULL",
    "SELECT k, d, x FROM s WHERE d = -1.25 AND x >= 0 AND k IS NOT NULL",
    "SELECT d, t FROM s WHERE e IS NULL AND t IS NOT NULL AND d IS NOT NULL",
    "SELECT d, count(*) AS n, sum(e) AS a, max(e) AS b, min(k) AS c FROM s GROUP BY d",
    "SELECT t, k, count(*) AS n, avg(x) AS a FROM s WHERE k > 3 GROUP BY t, k",
    """SELECT count(*) AS n FROM s a, s b WHERE a.d = b.e AND a.ts < b.ts
        AND b.ts - a.ts <= INTERVAL '2' SECOND""",
)


def _write(file: Path) -> None:
    """Row groups of small whole numbers and great ones, with NULL and without, whose dictionaries
    were given up or not."""
    random = Random(4)
    schema = pa.schema(
        [
            ("ts", pa.timestamp("us")),
            ("k", pa.int64()),
            ("t", pa.string()),
            ("d", pa.decimal128(9, 2)),
            ("e", pa.decimal128(12, 2)),
            ("x", pa.float64()),
        ]
    )
    with pq.ParquetWriter(file, schema, dictionary_pagesize_limit=30_000) as writer:
        for group in range(GROUPS):
            far = 1 << 40 if group == 1 else 1
            many = 20_000 if group == 2 else 300

            def cells(make: Any, group: int = group) -> list[Any]:
                sparse = group == 3
                return [None if sparse and random.random() < 0.3 else make() for _ in range(ROWS)]

            columns = {
                "ts": [(group * ROWS + i) // 10 * 1_000_000 for i in range(ROWS)],
                "k": cells(lambda f=far: random.randrange(9) * (f if random.random() < 0.5 else 1)),
                "t": cells(lambda m=many: f"t{random.randrange(m)}"),
                "d": cells(lambda m=many: Decimal(random.randrange(-m, m)) / 4),
                "e": cells(lambda m=many: Decimal(random.randrange(-m, m)) / 4),
                "x": cells(lambda: random.randrange(-50, 50) / 8),
            }
            columns = {n: pa.array(c, schema.field(n).type) for n, c in columns.items()}
            writer.write_table(pa.table(columns, schema=schema))


def _replay(sql: str, folder: Path) -> list[tuple[Any, ...]]:
    """The answers of a replay that verifies nothing for others, of one that does, and of the next
    one, which are the same."""
    cache, found, output = Cache(folder / "cache"), [], folder / "o.parquet"
    cache.folder.mkdir(exist_ok=True)
    (folder / "q.sql").write_text(sql)
    final = "count(*)" in sql
    for known in (None, cache, cache):
        workspace = Workspace(load_project(folder, environ={}), cache=known)
        compiled = workspace.compile_sql(folder / "q.sql")
        options = ReplayOptions(
            output, progress=False, final=final, expand=not final, allow_unbounded=True
        )
        replay_query(workspace, compiled, options)
        found.append(_read(f"SELECT * EXCLUDE (\"at\") FROM '{output}'"))
    assert found[0] == found[1] == found[2]
    return found[0]


def _read(sql: str) -> list[tuple[Any, ...]]:
    rows = duckdb.execute(sql).fetchall()
    shown = [tuple(float(v) if isinstance(v, Decimal) else v for v in row) for row in rows]
    return sorted(shown, key=repr)


def test_row_groups_of_many_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB's answers, at the first replay and the second, of which the decimals are narrow."""
    _write(tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    monkeypatch.setattr(identify_file, "_SETTLED", 0)
    convert, narrow = vars(row_groups)["convert_table"], []

    def noted(*given: Any, **more: Any) -> pa.Table:
        made = convert(*given, **more)
        narrow.append({f.name for f in made.schema if pa.types.is_decimal64(f.type)})
        return made

    monkeypatch.setattr(row_groups, "convert_table", noted)
    duckdb.execute(f"CREATE OR REPLACE VIEW s AS FROM '{tmp_path}/s.parquet'")
    for sql in QUERIES:
        found = _replay(sql, tmp_path)
        assert found
        assert found == _read(sql), sql
    assert {"d", "e"} in narrow
    assert set() in narrow
