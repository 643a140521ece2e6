"""Plain SQL: what is read computes the same, what is not SPJ is refused by name."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from ontoweir.checker.split.split_aggregates import split_aggregates
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.algebra.print_spj import print_spj, show_condition
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql

TOML = """
[streams.a]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { x = "int", y = "int", w = "string", flag = "boolean" }
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
    db.execute("create table a(ts timestamp, x int, y int, w text, flag boolean)")
    db.execute("create table b(x int, z double, d date)")
    db.execute(
        "insert into a select timestamp '1970-01-01' + to_minutes(5 * t::int), x, "
        "case when x + t = 4 then null else t end, case when x = 2 then null else 'w' || x end, "
        "case when t % 3 = 2 then null else t % 3 = 1 end "
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
        "SELECT x FROM a WHERE y = 3 UNION ALL SELECT x FROM a",
        "SELECT x FROM a WHERE y < 2 OR w = 'w3' UNION SELECT x FROM a WHERE x > 2",
        "SELECT a.x FROM a CROSS JOIN b WHERE a.x + 1 = b.x",
        "SELECT x FROM a WHERE y < 2.5",
        "SELECT x FROM a WHERE 1 = 1",
        "SELECT x FROM a WHERE TRUE AND 'a' < 'b' AND NOT FALSE",
        "SELECT x FROM a WHERE 1 > 2 OR (y = 2 OR TRUE)",
        "SELECT x FROM a WHERE flag",
        "SELECT x FROM a WHERE NOT flag",
        "SELECT x FROM a WHERE flag IS TRUE OR y = 2 AND flag IS FALSE",
        "SELECT x FROM a WHERE flag <> TRUE",
        "SELECT DISTINCT x FROM a WHERE NOT (flag OR y > 3) AND NOT (NOT flag AND y < 1)",
        "SELECT x FROM a WHERE y IN (1, 1.0, 2)",
        "SELECT x FROM a WHERE x IN (y, 1)",
        "SELECT x FROM a WHERE x NOT IN (y, 1)",
        "SELECT x FROM a WHERE 2 IN (y, x, 7) AND y IS NOT NULL",
        "SELECT x FROM a WHERE NOT y NOT IN (1, 2) AND NOT y NOT BETWEEN 1 AND 3",
        "SELECT x FROM a WHERE y NOT BETWEEN 1 AND 3",
        "SELECT x FROM a WHERE y = CAST(2 AS DECIMAL(3, 1)) OR y = CAST('3' AS INT)",
        "SELECT y FROM a JOIN b USING (x) WHERE y >= 0",
        "SELECT x, z FROM a JOIN b USING (x) WHERE x = 1",
        "SELECT X AS X, A.Y FROM A WHERE A.Y >= 2 /* all */ ; -- done",
        "SELECT a.x theirs FROM a INNER JOIN b bb ON a.x = bb.x AND bb.z > 0",
        "(SELECT x FROM a)",
        "SELECT x FROM a WHERE x = x AND x < y + 1",
        "SELECT x * 2 + y AS v, UPPER(w) AS t FROM a WHERE y IS NOT NULL AND w IS NOT NULL",
        "SELECT x FROM a WHERE w LIKE 'w%' AND NOT w LIKE '%3'",
        "SELECT x FROM a WHERE flag IS NOT TRUE",
        "SELECT x FROM a WHERE y * 2 = 4 OR w = 'w3'",
        "SELECT a.x FROM a, a a2 WHERE a.y * 2 > a2.y + 1 AND a.x * 2 - a2.x * 3 < 4",
        "SELECT a.x FROM a JOIN b ON LENGTH(a.w) = b.x AND a.y % 2 = 1",
        "SELECT CASE WHEN y > 2 THEN 'many' ELSE 'few' END AS c FROM a",
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
        ("SELECT x FROM\n a WHERE y = = 3", 2, "not SQL"),
        ("SELECT x FROM a\nWHERE ts > 5", 2, "timestamp with something else"),
        ("SELECT x FROM a WHERE ts > y", 1, "timestamp with something else"),
        ("SELECT y, count(*) FROM a\nGROUP BY x", 1, "y neither grouped nor aggregated"),
        ("SELECT count(*) FROM a GROUP BY x", 1, "GROUP BY x that is not selected"),
        ("SELECT x, min(DISTINCT y, x) FROM a GROUP BY x", 1, "MIN"),
        ("SELECT skewness(x) FROM a", 1, "skewness(x)"),
        ("SELECT count(*) AS n, sum(x) AS n FROM a", 1, "two columns called n"),
        ("SELECT x, count(*) FROM a GROUP BY ROLLUP (x)", 1, "the total of all rows of all times"),
        ("SELECT count(*) FROM a HAVING count(*) < 3", 1, "HAVING"),
        ("SELECT DISTINCT count(*) FROM a", 1, "DISTINCT with aggregates"),
        ("SELECT x FROM a ORDER BY x", 1, "ORDER BY"),
        ("SELECT x FROM a LIMIT 3", 1, "LIMIT"),
        ("SELECT a.x FROM a RIGHT JOIN b ON a.x = b.x JOIN a AS c ON c.x = b.x", 1, "RIGHT JOIN"),
        ("SELECT x FROM a EXCEPT ALL SELECT x FROM b", 1, "EXCEPT ALL"),
        ("SELECT x FROM a WHERE y = 1 OR x NOT IN (SELECT x FROM b)", 1, "IN inside of OR"),
        ("SELECT x FROM\nnowhere", 2, "unknown table"),
        ("SELECT x\nFROM a, b", 1, "ambiguous"),
        ("SELECT xx FROM a", 1, "did you mean 'x'"),
        ("SELECT x FROM a, a", 1, "occurs twice"),
        ("SELECT x FROM a WHERE w = 3", 1, "compares string"),
        ("SELECT x, y FROM a UNION ALL SELECT x FROM b", 1, "2 and 1 columns"),
        ("SELECT x FROM a UNION ALL SELECT x FROM b", 1, "one part of the query always holds"),
        (
            "SELECT x FROM a UNION ALL\nSELECT w FROM a",
            2,
            "UNION of int and string in the column x",
        ),
        ("SELECT x FROM a UNION SELECT w FROM a", 1, "UNION of int and string in the column x"),
        ("SELECT x FROM a UNION SELECT TRUE FROM a", 1, "UNION of int and boolean"),
        ("SELECT x FROM a UNION BY NAME SELECT x FROM b", 1, "UNION BY NAME"),
        ("SELECT x FROM a WHERE x", 1, "x, which is int,"),
        ("SELECT x FROM a WHERE ts", 1, "ts, which is timestamp,"),
        ("SELECT x FROM a WHERE 1", 1, "condition 1 is outside"),
        ("SELECT x FROM a WHERE x = NULL", 1, "NULL is outside"),
        ("SELECT x FROM a WHERE x NOT IN (1, NULL)", 1, "NULL is outside"),
        ("SELECT x FROM a WHERE 1 = '1'", 1, "condition 1 = '1'"),
        ("SELECT x FROM a WHERE DATE '2014-01-01' = '2014-01-01'", 1, "outside the SQL"),
        ("SELECT x FROM a WHERE x BETWEEN SYMMETRIC 3 AND 1", 1, "BETWEEN SYMMETRIC"),
        ("SELECT x FROM a WHERE x = CAST(2.7 AS INT)", 1, "CAST"),
        ("SELECT x FROM a WHERE ts > CAST('2014-01-01 13:00' AS DATE)", 1, "outside the SQL"),
        ("SELECT x FROM a WHERE x = 1e999999999", 1, "outside the SQL"),
        ("SELECT DATE '2014-01-01' AS d FROM a", 1, "in SELECT"),
        ("SELECT * FROM a JOIN b USING (x)", 1, "* with JOIN … USING"),
        ("SELECT a.x FROM a JOIN b USING (y)", 1, "unknown column 'y' of 'b'"),
        ("SELECT b.x FROM a, a a2 JOIN b USING (x)", 1, "joins a column of b with 2 columns"),
        ("SELECT x FROM a NATURAL JOIN b", 1, "NATURAL JOIN"),
        ("SELECT x FROM a LEFT SEMI JOIN b USING (x)", 1, "SEMI JOIN"),
        ("SELECT c FROM a t(c, d, e)", 1, "an alias with names of columns"),
        ("SELECT x FROM a VERSION AS OF 3", 1, "VERSION AS OF"),
        ("SELECT x FROM a TABLESAMPLE (5 ROWS)", 1, "TABLESAMPLE"),
        ("SELECT x FROM (a)", 1, "this FROM item"),
        ("SELECT x FROM range(3)", 1, "this FROM item"),
        ("(SELECT x FROM a) LIMIT 3", 1, "LIMIT"),
        ("SELECT x FROM a, A", 1, "occurs twice"),
        ("SELECT x FROM a; SELECT x FROM b", 1, "2 SQL statements"),
        ("CREATE VIEW v AS SELECT x FROM a; DELETE FROM a", 1, "2 SQL statements"),
        ("CREATE VIEW v AS SELECT x FROM a", 1, "other than SELECT"),
        (
            "CREATE VIEW v AS SELECT x FROM a;\nCREATE VIEW V AS SELECT x FROM a; SELECT x FROM v",
            2,
            "CREATE VIEW V, again",
        ),
        ("CREATE VIEW IF NOT EXISTS v AS SELECT x FROM a; SELECT x FROM v", 1, "IF NOT EXISTS v"),
        ("CREATE VIEW v AS SELECT x FROM a;\nSELECT y FROM v", 2, "unknown column 'y' of v"),
        ("SELECT count(*) FROM a UNION ALL SELECT x FROM b", 1, "groups are not final"),
        ("SELECT count(*) AS n, x FROM a GROUP BY 3", 1, "GROUP BY position 3"),
        ("SELECT count(*) AS n FROM a GROUP BY 1", 1, "GROUP BY an expression"),
        (
            "SELECT x FROM a WHERE " + " AND ".join(f"(x = {n} OR y = {n})" for n in range(20)),
            1,
            "more than 4,096 alternatives",
        ),
        ("SELECT x FROM a WHERE " + "(" * 3000 + "x = 1" + ")" * 3000, 1, "nested too deeply"),
        ("DELETE FROM a", 1, "other than SELECT"),
        ("WITH RECURSIVE q AS (SELECT x FROM a) SELECT x FROM q", 1, "WITH"),
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
    assert [a.name for a in union.aggregation.aggregates] == ["n", "m", "k"]
    assert [(str(a.function), a.argument) for a in union.aggregation.aggregates] == [
        ("COUNT", None),
        ("MAX", "of_1"),
        ("COUNT DISTINCT", "of_1"),
    ]
    assert union.variables == ("g", "of_1")
    assert not union.distinct


@pytest.mark.parametrize(
    "text",
    [
        "SELECT A.X AS g, max(y) AS m, count(x) AS n FROM a GROUP BY x",
        "SELECT x AS g, max(Y) AS m, count(a.x) AS n FROM a GROUP BY g",
        "SELECT x AS g, max(y) AS m, count(x) AS n FROM a GROUP BY 1;",
        "(SELECT max(y) AS m, x g, count(X) n FROM a GROUP BY a.x)",
    ],
)
def test_grouped_columns_however_they_are_written(text: str, catalog: Catalog) -> None:
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert union.aggregation is not None
    assert union.aggregation.group == ("g",)
    assert union.variables == ("g", "of_1")


def test_an_argument_is_not_confused_with_a_column_of_its_name(catalog: Catalog) -> None:
    text = "SELECT x AS of_1, sum(y) AS s, max(x) AS m FROM a GROUP BY x"
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert union.aggregation is not None
    assert [a.argument for a in union.aggregation.aggregates] == ["of_2", "of_1"]


@pytest.mark.parametrize("condition", ["FALSE", "1 = 2", "y = 1 AND FALSE", "y IN (1.5) AND 1 > 2"])
def test_what_never_holds_selects_nothing(condition: str, catalog: Catalog) -> None:
    text = f"SELECT x FROM a WHERE {condition}"
    assert parse_sql(text, catalog, name="q", file="q.sql").disjuncts == ()


def test_a_count_of_a_column_counts_rows_where_it_is_not_null(catalog: Catalog) -> None:
    union = parse_sql("SELECT COUNT(y) AS n FROM a", catalog, name="q", file="q.sql")
    (part, existence) = split_aggregates(union)
    assert (part.over, existence.over) == (("of_1",), ())
    assert part.union.variables == ()
    (query,) = part.union.disjuncts
    assert [show_condition(c) for c in query.conditions] == ["a.y IS NOT NULL"]
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
