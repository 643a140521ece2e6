"""Rows that are no results, as a column is NULL that is not declared so, are told of by column."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.violations.count_hidden import HiddenRows, count_hidden

TABLE = """[streams.{name}]
source = {{ format = "parquet", path = "{name}.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.{name}.columns]
k = {{ type = "int", min = 0, max = 4 }}
a = {{ type = "int", min = 0, max = 9{more} }}
"""
JOIN = "FROM s LEFT JOIN p ON s.k = p.k AND p.ts > s.ts AND p.ts - s.ts <= INTERVAL '20' SECOND"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, values in (("s", [1, None, None]), ("p", [None, 2, 3])):
        times = pa.array([10**15, 10**15, 10**15], pa.timestamp("us"))
        table = pa.table({"ts": times, "k": [1, 2, 3], "a": pa.array(values, pa.int64())})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT s.a FROM s", [HiddenRows("s", "a", 2, True)]),
        (f"SELECT s.k, p.a {JOIN}", [HiddenRows("p", "a", 1, True)]),
        (
            f"SELECT s.k, COALESCE(p.a, s.a) AS c {JOIN}",
            [HiddenRows("s", "a", 2, False), HiddenRows("p", "a", 1, False)],
        ),
        (f"SELECT s.k, COALESCE(p.a, s.a, 0) AS c {JOIN}", []),
        (f"SELECT s.k {JOIN}", []),
    ],
)
def test_columns_are_named(sql: str, found: list[HiddenRows], project: Path) -> None:
    for more, wanted in (("", found), (", nullable = true", [])):
        text = "".join(TABLE.format(name=name, more=more) for name in ("s", "p"))
        (project / "ontoweir.toml").write_text(text)
        catalog = load_project(project, environ={}).catalog
        union = parse_sql(sql, catalog, name="q", file="q.sql")
        told = list(count_hidden(union, catalog))
        assert sorted(told, key=repr) == sorted(wanted, key=repr)
