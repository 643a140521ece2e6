"""What limits values through another expression of the same column: no counterexample."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql

NONE = DataSource("parquet", "n")
COLUMNS = (
    Column("a", IntType()),
    Column("b", IntType()),
    Column("g", StringType()),
    Column("e", StringType(), enum=("x", "y")),
)
CATALOG = Catalog(
    {
        "s": Stream("s", NONE, "ts", 60_000_000, 5, COLUMNS),
        "t": Stream("t", NONE, "ts", 60_000_000, 5, (Column("c", IntType()),)),
    },
    {},
)


def decide(text: str) -> Verdict:
    return check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT COALESCE(a, b) FROM s WHERE ABS(a) < 2000000000",
        "SELECT DISTINCT CAST(a AS STRING) FROM s WHERE ABS(a) < 2000000000",
        "SELECT DISTINCT GREATEST(a, 0) FROM s WHERE FLOOR(a / 10000000000) = 0",
        "SELECT DISTINCT GREATEST(a, 0) FROM s WHERE LENGTH(CAST(a AS STRING)) < 11",
        "SELECT DISTINCT FLOOR(a / 10) FROM s WHERE LENGTH(CAST(a AS STRING)) = 10",
        "SELECT DISTINCT COALESCE(a, b) FROM s WHERE a DIV 10000000000 = 0",
        "SELECT DISTINCT CASE WHEN a > 5 THEN a ELSE 0 END FROM s WHERE ABS(a) < 5000000000",
        (
            "SELECT a * b AS z, COUNT(*) AS n FROM s WHERE ABS(a) < 2000000000 AND ABS(b) < "
            "2000000000 GROUP BY a * b"
        ),
        "SELECT e, COUNT(DISTINCT COALESCE(a,b)) AS n FROM s WHERE ABS(a) < 5000000000 GROUP BY e",
        (
            "SELECT COALESCE(a,b) AS z, HOUR(ts) AS h, COUNT(*) AS n FROM s WHERE ABS(a) < "
            "5000000000 GROUP BY COALESCE(a,b), HOUR(ts)"
        ),
        (
            "SELECT a + 1 AS z, HOUR(ts) AS h, COUNT(*) AS n FROM s WHERE ABS(a) < 10 GROUP "
            "BY a + 1, HOUR(ts)"
        ),
        "SELECT DISTINCT a + 1 FROM s WHERE ABS(a) < 10",
        "SELECT DISTINCT a + 1 FROM s WHERE a * a < 100",
        "SELECT DISTINCT a + 1 FROM s WHERE GREATEST(a,-a) < 5",
        "SELECT DISTINCT a + 1 FROM s WHERE FLOOR(a/10) = 0",
        "SELECT DISTINCT a + 1 FROM s WHERE LENGTH(CAST(a AS STRING)) = 1",
        "SELECT DISTINCT a + 1 FROM s WHERE ABS(a-5) < 100",
        "SELECT DISTINCT a + 1 FROM s WHERE NOT (ABS(a) > 10)",
        "SELECT DISTINCT a + 1 FROM s WHERE CASE WHEN a < 100 AND a > -100 THEN 1 ELSE 0 END = 1",
        "SELECT DISTINCT a FROM s WHERE ABS(a) < 10",
        "SELECT DISTINCT a FROM s WHERE a < 10 AND FLOOR(a / 2) > -5",
        "SELECT DISTINCT a + 1 FROM s WHERE a < 10 AND FLOOR(a / 2) > -5",
        "SELECT a*2 AS z, COUNT(*) AS n FROM s WHERE ABS(a) < 10 GROUP BY a*2",
        "SELECT e, COUNT(DISTINCT a+1) AS n FROM s WHERE ABS(a) < 10 GROUP BY e",
        "SELECT DISTINCT UPPER(g) FROM s WHERE LENGTH(g) <= 2",
        "SELECT DISTINCT g FROM s WHERE LENGTH(g) <= 2",
        "SELECT DISTINCT g FROM s WHERE UPPER(g) = 'X'",
        "SELECT DISTINCT s.e FROM s, t WHERE s.a = t.c AND s.ts < t.ts AND ABS(s.a) < 10",
        "SELECT DISTINCT g FROM s WHERE g LIKE 'a%' AND LENGTH(g) < 5",
    ],
)
def test_few_values_are_not_without_end(text: str) -> None:
    assert decide(text).witness is None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT b FROM s WHERE ABS(a) < 10",
        "SELECT DISTINCT COALESCE(a, b) FROM s WHERE a * 2 > 7",
        "SELECT DISTINCT s.e FROM s, t WHERE s.a + 1 = t.c AND s.ts < t.ts",
    ],
)
def test_values_without_end_are(text: str) -> None:
    assert decide(text).witness is not None
