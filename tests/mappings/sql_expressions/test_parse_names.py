"""Texts in double quotes that may be meant as names."""

import pytest

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql_expressions.parse_names import parse_names

SOURCE = DataSource("parquet", "s")
COLUMNS = (Column("order", StringType()), Column("Status", StringType()))
CATALOG = Catalog(
    {"payments": Stream("payments", SOURCE, "ts", 1_000_000, 5, COLUMNS)},
    {"shop": Relation("shop", SOURCE, (Column("city", IntType()),))},
)


@pytest.mark.parametrize(
    "text",
    [
        'SELECT "order" FROM payments',
        'SELECT status,\n  "Order" AS o, "ORDER" FROM Payments',
        'SELECT COUNT(*) FROM `payments` GROUP BY "ts"',
        'SELECT MAX("order") FROM payments',
        'SELECT LAG("order") OVER (ORDER BY p.ts) FROM payments p',
        'SELECT COUNT(*) OVER (PARTITION BY "order" ORDER BY p.ts) FROM payments p',
        'SELECT p.status FROM "payments" p WHERE "order" = \'"\'',
        "SELECT p.status FROM payments p WHERE \"order\" IN ('a', 'b')",
        'SELECT p.status FROM payments p WHERE "order" IS NULL',
        'SELECT p.status FROM payments p WHERE "ts" > p.ts',  # no column of text
        "SELECT date_trunc('day', \"ts\") AS d FROM payments p",
        'SELECT p.status FROM payments p WHERE "ts" - p.ts > 2',
        'SELECT p.status FROM payments p JOIN shop s USING ("city")',
        'SELECT q FROM (SELECT status AS q FROM payments) t WHERE "q" = "c1"',
        'WITH t AS (SELECT status AS q FROM payments)\nSELECT q FROM t WHERE "Q" <> "c1"',
        'SELECT 1 AS `k l` FROM payments WHERE "k l" = 2',
        'SELECT status FROM payments WHERE status = "`" AND "order" = "`"',
        'SELECT DISTINCT ON ("Status") status FROM payments ORDER BY "Status", "ts"',
        'SELECT "order" FROM payments WHERE status = "order"',  # one decides for all
    ],
)
def test_a_column_is_a_column(text: str) -> None:
    read = parse_names(text, CATALOG).sql("spark")
    for name in ("order", "status", "ts", "q", "city", "k l"):
        assert f"'{name}'" not in read.lower()
        if f'"{name}"' in text.lower():
            assert f"`{name}`" in read.lower()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('SELECT status FROM payments WHERE\n\nstatus = "order"', 3),
        ('SELECT ts,\n  "order" AS what FROM payments', 2),
        ('SELECT COALESCE(status, "order") FROM payments', 1),
        ('SELECT status FROM payments WHERE status IN ("order", "x")', 1),
        ('SELECT CONCAT("order", status) FROM payments', 1),
        ('SELECT LAG(status, 1, "order") OVER (ORDER BY ts) FROM payments', 1),
        ('SELECT status AS q FROM payments WHERE status = "q"', 1),
        ('SELECT CONCAT("ts", status) FROM payments', 1),
        ('SELECT DISTINCT status, "ts" AS z FROM payments', 1),
        ('SELECT status FROM payments WHERE status = "ts"', 1),
        ('SELECT CASE WHEN ts > 1 THEN "order" ELSE "x" END FROM payments', 1),
    ],
)
def test_what_may_be_either_is_refused(text: str, line: int) -> None:
    with pytest.raises(SqlRefusal, match="in double quotes") as caught:
        parse_names(text, CATALOG)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        'SELECT p."order" FROM payments p',
        'SELECT p . "order" FROM payments p WHERE status = "ok"',
        'SELECT status AS "order" FROM payments',
        'SELECT status FROM payments WHERE status = \'"order"\' -- "order"',
        'SELECT `"order"` FROM payments /* "order" */',
        'SELECT status FROM payments WHERE status = "city"',  # of another table
        'SELECT date_trunc("hour", p.ts) AS hour FROM payments p WHERE status = "AS"',
        'SELECT date_trunc("order", p.ts), p.order FROM payments p',
    ],
)
def test_others_are_read(text: str) -> None:
    parse_names(text, CATALOG)


@pytest.mark.parametrize("call", ["COUNT(DISTINCT (city))", "MAX(((city)))", "SUM((city))"])
def test_an_argument_in_parentheses_is_the_argument(call: str) -> None:
    tree = parse_names(f"SELECT {call} AS n FROM shop", CATALOG)
    bare = call.replace("(", " ").replace(")", " ").split()
    assert tree.expressions[0].this.sql() == f"{bare[0]}({' '.join(bare[1:])})"


def test_other_parentheses_stay() -> None:
    text = "SELECT MAX((city + 1) * 2) AS n FROM shop GROUP BY GROUPING SETS ((city), ())"
    assert parse_names(text, CATALOG).sql() == text
