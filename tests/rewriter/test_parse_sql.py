"""Plain SQL: what is read computes the same, what is not SPJ is refused by name."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.catalog import Catalog
from ontoweir.project import load_project
from ontoweir.rewriter.parse_sql import parse_sql
from ontoweir.rewriter.print_spj import print_spj, show_condition
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
        ("SELECT x FROM a WHERE x > 3 AND (y = 1 OR w = 'b')", 1, "OR over different columns"),
        ("SELECT x FROM a GROUP BY x", 1, "GROUP BY without an aggregate"),
        ("SELECT y, count(*) FROM a\nGROUP BY x", 1, "y neither grouped nor aggregated"),
        ("SELECT count(*) FROM a GROUP BY x", 1, "GROUP BY x that is not selected"),
        ("SELECT x, sum(x + 1) FROM a GROUP BY x", 1, "SUM"),
        ("SELECT x, sum(DISTINCT y) FROM a GROUP BY x", 1, "SUM"),
        ("SELECT stddev(x) FROM a", 1, "STDDEV"),
        ("SELECT count(*) AS n, sum(x) AS n FROM a", 1, "two columns called n"),
        ("SELECT x, count(*) FROM a GROUP BY ROLLUP (x)", 1, "GROUP BY an expression"),
        ("SELECT x, count(*) FROM a GROUP BY x HAVING count(*) > 3", 1, "HAVING"),
        ("SELECT DISTINCT count(*) FROM a", 1, "DISTINCT with aggregates"),
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


def test_aggregates_and_their_matches(catalog: Catalog) -> None:
    text = "SELECT x AS g, COUNT(*) AS n, MAX(y) AS m, COUNT(DISTINCT y) AS k FROM a GROUP BY x"
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert union.aggregation is not None
    assert union.aggregation.group == ("g",)
    assert union.aggregation.columns == ("g", "n", "m", "k")
    assert [(str(a.function), a.argument) for a in union.aggregation.aggregates] == [
        ("COUNT", None),
        ("MAX", "of_1"),
        ("COUNT DISTINCT", "of_1"),
    ]
    assert union.variables == ("g", "of_1")
    assert not union.distinct


def test_a_count_of_a_column_counts_rows_where_it_is_not_null(catalog: Catalog) -> None:
    union = parse_sql("SELECT COUNT(y) AS n FROM a", catalog, name="q", file="q.sql")
    assert union.variables == ()
    assert [show_condition(c) for c in union.disjuncts[0].conditions] == ["a.y IS NOT NULL"]
    union = parse_sql("SELECT COUNT(*) AS n FROM a", catalog, name="q", file="q.sql")
    assert union.disjuncts[0].conditions == ()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT y FROM a WHERE y = 1 OR w = 'b'",
        "SELECT x FROM a WHERE (y = 1 OR w = 'b') AND w IS NOT NULL",
        "SELECT x FROM a WHERE y > 0 AND (y = 1 OR w = 'b')",
        "SELECT x FROM a WHERE y IN (1, 2) AND NOT (y = 1 AND w = 'b')",
    ],
)
def test_or_over_columns_that_are_not_null_counts_every_row_once(
    text: str, catalog: Catalog
) -> None:
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert len(union.disjuncts) > 1
    db = duckdb.connect()
    db.execute("CREATE TABLE a (x INT, y INT, z INT, w VARCHAR, ts TIMESTAMP)")
    values = "(1), (2), (NULL)"
    db.execute(
        f"INSERT INTO a SELECT p.c, q.c, 1, CASE r.c WHEN 1 THEN 'a' WHEN 2 THEN 'b' END, now() "
        f"FROM (VALUES {values}) p(c), (VALUES {values}) q(c), (VALUES {values}) r(c)"
    )
    column = text.split()[1]
    asked = db.execute(f"SELECT * FROM ({text}) t WHERE {column} IS NOT NULL").fetchall()
    assert Counter(db.execute(print_sql(union, catalog, dialect="duckdb")).fetchall()) == Counter(
        asked
    )
