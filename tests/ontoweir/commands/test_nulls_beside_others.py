"""Rows whose aggregated column is NULL, where an OR is split or an occurrence is removed: as DuckDB
answers the same SQL."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

PROJECT = """
[project]
[streams.t]
source = { format = "parquet", path = "t.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.t.columns]
a = { type = "int", min = 0, max = 9 }
c = { type = "int", min = -9, max = 9 }
d = { type = "string", enum = ["A", "B"] }
"""
ROWS = [(5, 5, "A"), (None, -1, "A"), (7, None, "B"), (None, None, "A"), (0, 0, "B"), (2, 2, None)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    times = pa.array(range(len(ROWS)), pa.int64()).cast(pa.timestamp("s"))
    cells = dict(zip("acd", zip(*ROWS, strict=True), strict=True))
    pq.write_table(pa.table({"ts": times, **cells}), tmp_path / "t.parquet")
    return tmp_path


def _answers(project: Path, sql: str, run: Run) -> tuple[list[object], list[object]]:
    (project / "q.sql").write_text(sql)
    output = project / "out.parquet"
    ran = run("replay", project, "--sql", project / "q.sql", "--output", output, "--final", "-q")
    assert ran.code == 0, ran.err
    db = duckdb.connect()
    db.execute(f"CREATE VIEW t AS SELECT * FROM '{project / 't.parquet'}'")
    found = db.execute(f"SELECT * EXCLUDE (\"at\") FROM '{output}'").fetchall()
    return sorted(found, key=str), sorted(db.execute(sql).fetchall(), key=str)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MAX(x.a) AS m, MIN(x.c) AS n FROM t x, t y",  # y is redundant
        "SELECT x.d, MAX(x.a) AS m, COUNT(DISTINCT x.c) AS n FROM t x, t y GROUP BY x.d",
        "SELECT MIN(c) AS n FROM t WHERE a > 5 OR d = 'A'",  # duplicates do not matter
        "SELECT MIN(a) AS m, COUNT(*) AS n FROM t WHERE a IS NOT NULL AND (a > 5 OR d = 'A')",
        "SELECT MIN(a) AS m, COUNT(*) AS n FROM t WHERE a > 5 OR a < 1",
        # d = 'A' and not a > 5 would lose the row whose a is NULL: it is one condition of a row
        "SELECT MIN(a) AS m, COUNT(*) AS n, COUNT(d) AS o FROM t WHERE a > 5 OR d = 'A'",
        "SELECT a, d, COUNT(*) AS n FROM t WHERE a > 5 OR d = 'A' GROUP BY a, d",
    ],
)
def test_every_row_counts_for_each_aggregate(sql: str, project: Path, run: Run) -> None:
    found, wanted = _answers(project, sql, run)
    assert found == wanted
