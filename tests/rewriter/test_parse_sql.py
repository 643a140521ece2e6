"""Plain SQL: what is read computes the same, what is not SPJ is refused by name."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.catalog import Catalog
from ontoweir.project import load_project
from ontoweir.rewriter.parse_sql import parse_sql
from ontoweir.rewriter.print_spj import print_spj
from ontoweir.rewriter.print_sql import print_sql

TOML = """
[streams.a]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { x = "int", y = "int", w = "string" }
[streams.c]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "7 minutes" }
columns = { x = "int" }
[relations.b]
source = { format = "csv", path = "b" }
columns = { x = "int", z = "double", d = "date" }
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    return load_project(tmp_path, environ={}).catalog


def database() -> duckdb.DuckDBPyConnection:
    db = duckdb.connect()
    db.execute("create table a(ts timestamp, x int, y int, w text)")
    db.execute("create table b(x int, z double, d date)")
    db.execute(
        "insert into a select timestamp '1970-01-01' + to_minutes(5 * t::int), x, "
        "case when x + t = 4 then null else t end, case when x = 2 then null else 'w' || x end "
        "from range(8) r(t), range(4) s(x)"
    )
    db.execute("insert into b select x % 3, x / 2, date '2014-01-01' + x::int from range(6) s(x)")
    return db


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM a WHERE y >= 2",
        "SELECT DISTINCT x, 'k' AS k FROM a WHERE y BETWEEN 2 AND 4",
        "SELECT a.x, z FROM a JOIN b ON a.x = b.x WHERE b.d > DATE '2014-01-03'",
        "SELECT a.x FROM a, a AS a2 WHERE a.ts <= a2.ts + INTERVAL '31' MINUTE AND a.ts >= a2.ts",
        "SELECT a.x FROM a, a a2 WHERE a.ts - a2.ts = INTERVAL '10' MINUTE AND a.y < a2.y + 3",
        "SELECT a.x FROM a, a a2 WHERE a.ts - a2.ts > INTERVAL '7' MINUTE",
        "SELECT x FROM a WHERE ts >= TIMESTAMP '1970-01-01 00:11:00'",
        "SELECT x FROM a WHERE ts < TIMESTAMP '1970-01-01 00:30:00' - INTERVAL '1' SECOND",
        "SELECT x FROM a WHERE y IN (1, 2, 2, 5)",
        "SELECT x FROM a WHERE y NOT IN (1, 2)",
        "SELECT x FROM a WHERE y < 3 OR y > 1",
        "SELECT x FROM a WHERE NOT (y < 3 AND y > 1)",
        "SELECT x FROM a WHERE (y < 3 AND x = 1) OR y > 1",
        "SELECT DISTINCT x FROM a WHERE y < 2 OR w = 'w3'",
        "SELECT x FROM a WHERE w <> 'w1' AND -1 < y",
        "SELECT x FROM a WHERE y = 3 UNION ALL SELECT x FROM b",
        "SELECT x FROM a WHERE y < 2 OR w = 'w3' UNION SELECT x FROM b",
        "SELECT a.x FROM a CROSS JOIN b WHERE a.x + 1 = b.x",
        "SELECT x FROM a WHERE y < 2.5",
    ],
)
def test_same_results(sql: str, catalog: Catalog) -> None:
    db = database()
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    expected = Counter(db.execute(sql).fetchall())
    assert expected
    assert Counter(db.execute(print_sql(union, catalog)).fetchall()) == expected
    assert all("π" in print_spj(d) for d in union.disjuncts)


@pytest.mark.parametrize(
    ("sql", "line", "message"),
    [
        ("SELECT x FROM\n a WHERE y = = 3", 2, "no SQL"),
        ("SELECT ts FROM a", 1, "timestamp a.ts is selected"),
        ("SELECT x FROM a\nWHERE ts > 5", 2, "timestamp with something else"),
        ("SELECT x FROM a WHERE ts > y", 1, "timestamp with something else"),
        ("SELECT a.x FROM a, c WHERE a.ts < c.ts", 1, "units"),
        ("SELECT x FROM a WHERE y = 1 OR w = 'b'", 1, "OR over different columns"),
        ("SELECT count(*) FROM a", 1, "in SELECT"),
        ("SELECT x FROM a GROUP BY x", 1, "GROUP BY"),
        ("SELECT x FROM a ORDER BY x", 1, "ORDER BY"),
        ("SELECT x FROM a LIMIT 3", 1, "LIMIT"),
        ("SELECT a.x FROM a LEFT JOIN b ON a.x = b.x", 1, "LEFT JOIN"),
        ("SELECT x FROM a EXCEPT SELECT x FROM b", 1, "EXCEPT"),
        ("SELECT x FROM a WHERE w LIKE 'a%'", 1, "LIKE"),
        ("SELECT x FROM a WHERE y IS NULL", 1, "IS NULL"),
        ("SELECT x FROM a WHERE x IN (SELECT x FROM b)", 1, "subquery"),
        ("SELECT x FROM\nnowhere", 2, "unknown table"),
        ("SELECT x\nFROM a, b", 1, "ambiguous"),
        ("SELECT xx FROM a", 1, "did you mean 'x'"),
        ("SELECT x FROM a, a", 1, "occurs twice"),
        ("SELECT x FROM a WHERE w = 3", 1, "compares string"),
        ("SELECT x, y FROM a UNION ALL SELECT x FROM b", 1, "2 and 1 columns"),
        ("DELETE FROM a", 1, "other than SELECT"),
        ("WITH q AS (SELECT x FROM a) SELECT x FROM q", 1, "WITH"),
        ("", 1, "0 SQL statements"),
    ],
)
def test_refused_by_name(sql: str, line: int, message: str, catalog: Catalog) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(sql, catalog, name="q", file="q.sql")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"q.sql:{line}: ")
