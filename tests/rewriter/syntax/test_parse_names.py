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
from ontoweir.rewriter.syntax.parse_names import parse_names

SOURCE = DataSource("parquet", "s")
COLUMNS = (Column("order", StringType()), Column("Status", StringType()))
CATALOG = Catalog(
    {"payments": Stream("payments", SOURCE, "ts", 1_000_000, 5, COLUMNS)},
    {"shop": Relation("shop", SOURCE, (Column("city", IntType()),))},
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('SELECT "order" FROM payments', 1),
        ('SELECT status,\n  "Order" AS o FROM Payments', 2),
        ("SELECT 1 FROM payments WHERE\n\n'x' = \"STATUS\"", 3),
        ('SELECT COUNT(*) FROM `payments` GROUP BY "ts"', 1),
        ('SELECT p.status FROM "payments" p WHERE "order" = \'"\'', 1),
        ('SELECT q FROM (SELECT status AS q FROM payments) t WHERE "q" = "c1"', 1),
        ('WITH t AS (SELECT status AS q FROM payments)\nSELECT q FROM t WHERE "Q" <> "c1"', 2),
        ('SELECT 1 AS `k l` FROM payments WHERE "k l" = 2', 1),
        ('SELECT status FROM payments WHERE status = "`" AND "order" = "`"', 1),
    ],
)
def test_a_column_is_refused(text: str, line: int) -> None:
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
    ],
)
def test_others_are_read(text: str) -> None:
    parse_names(text, CATALOG)
