"""Aggregates of the rows before a row, as subqueries: which are read, and what names mean."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.runtime.harness import make_catalog

TOML = """[streams.s]
source = { format = "csv", path = "s.csv" }
timestamp = { column = "ts", unit = "1 minute" }
keys = [["k", "ts"]]
max_per_timestamp = 3
columns = { k = { type = "string", enum = ["A", "B"] }, x = "int", y = "int" }
"""
HOUR = "b.k = a.k AND b.ts < a.ts AND b.ts >= a.ts - INTERVAL '1' HOUR"
MEAN = f"(SELECT AVG(b.x) FROM s b WHERE {HOUR})"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return make_catalog(tmp_path_factory.mktemp("project"), TOML)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"SELECT a.k FROM s a WHERE a.x > {MEAN}", 180),
        (f"SELECT k, x - {MEAN} AS d FROM s a", 180),
        (f"SELECT a.k AS key, COUNT(*) AS n FROM s a WHERE a.x > {MEAN} GROUP BY key", 182),
        (f"SELECT date_trunc('hour', ts) AS h, SUM(x) FROM s a WHERE x > {MEAN} GROUP BY h", 182),
        ("SELECT a.k FROM s a WHERE a.x > (SELECT MAX(x) FROM s b WHERE b.ts < a.ts)", 1),
    ],
)
def test_what_is_read(catalog: Catalog, text: str, rows: int) -> None:
    verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
    assert verdict.bound is not None
    assert verdict.bound.rows == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT a.k FROM s a WHERE a.x > (SELECT AVG(b.x) FROM s b)", "a subquery as a value"),
        (f"SELECT a.k FROM s a WHERE a.x > {MEAN.replace('<', '>')}", "a subquery as a value"),
        (f"SELECT a.k FROM s a WHERE a.x > {MEAN.replace('AVG', 'MEDIAN')}", "a subquery as"),
        (f"SELECT c.k, {MEAN} AS m FROM s a RIGHT JOIN s c ON c.k = a.k", "a subquery as"),
        (f"SELECT c.k, {MEAN} AS m FROM s a FULL JOIN s c ON c.k = a.k", "a subquery as"),
        (f"WITH s AS (SELECT * FROM s) SELECT k FROM s a WHERE x > {MEAN}", "a subquery as"),
        (f"SELECT a.x FROM s AS a(k, y, x, ts) WHERE a.x > {MEAN}", "an alias with names"),
        (f"SELECT x FROM s a WHERE x > {MEAN.replace('s b', 's b(k, y, x, ts)')}", "an alias with"),
    ],
)
def test_what_is_left(catalog: Catalog, text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse_sql(text, catalog, name="q", file="q.sql")
