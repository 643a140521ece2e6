"""SELECT DISTINCT of a bucket groups by it; groups without aggregates are SELECT DISTINCT."""

from typing import cast

import pytest
import sqlglot
from sqlglot import exp

from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.phrasings.group_distinct import group_distinct

STREAM = Stream("s", DataSource("parquet", "s"), "ts", 1_000_000, 5, (Column("k", IntType()),))
CATALOG = Catalog({"s": STREAM})


def _settle(text: str) -> str:
    tree = cast("exp.Select", sqlglot.parse_one(text, dialect="duckdb"))
    for call in list(tree.find_all(exp.TimestampTrunc)):
        parts = [exp.Literal.string("hour"), call.this.copy()]
        call.replace(exp.Anonymous(this="DATE_TRUNC", expressions=parts))
    group_distinct(tree, CATALOG)
    return tree.sql()


def test_distinct_with_a_bucket_groups() -> None:
    made = _settle("SELECT DISTINCT k, date_trunc('hour', ts) AS h, 1 AS c FROM s")
    assert "DISTINCT" not in made
    assert made.endswith("GROUP BY k, DATE_TRUNC('hour', ts)")  # constants group nothing


def test_groups_of_values_are_distinct() -> None:
    assert _settle("SELECT k FROM s GROUP BY k") == "SELECT DISTINCT k FROM s"
    assert _settle("SELECT t.k FROM s AS t GROUP BY K") == "SELECT DISTINCT t.k FROM s AS t"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT k FROM s",
        "SELECT DISTINCT HOUR(ts) AS h FROM s",
        "SELECT k FROM s GROUP BY k, ts",  # rows of several times, which are not shown
        "SELECT k, ts FROM s GROUP BY k, ts",  # final by its time
        "SELECT k + 1 AS k FROM s GROUP BY k",  # by the column, not by what is called so
        "SELECT DISTINCT TUMBLE(k, INTERVAL '1' HOUR) AS h FROM s",  # never final by a value
        "SELECT k FROM s GROUP BY k HAVING COUNT(*) > 3",
        "SELECT k, COUNT(*) AS n FROM s GROUP BY k",
        "SELECT h FROM (SELECT ts AS h FROM s) AS x GROUP BY h",  # it may be a bucket
    ],
)
def test_others_stay(text: str) -> None:
    assert _settle(text) == sqlglot.parse_one(text, dialect="duckdb").sql()
