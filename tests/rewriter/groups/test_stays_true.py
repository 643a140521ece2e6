"""Which HAVING stays true once it is, and of which groups that are never final come and go."""

import pytest

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit

CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            DataSource("parquet", "none"),
            "ts",
            1_000_000,
            5,
            (
                Column("k", IntType()),
                Column("v", IntType()),
                Column("f", FloatType()),
                Column("p", IntType(), minimum=0),
                Column("e", IntType(), enum=(1, 2)),
                Column("t", StringType()),
            ),
        )
    }
)


def read(having: str, more: str = "") -> SpjUnion:
    shown, group = ("", "") if not more else (f", {more} AS b", f", {more}")
    sql = f"SELECT k{shown}, COUNT(*) AS n FROM s GROUP BY k{group}\nHAVING {having}"
    return parse_sql(sql, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(
    "having",
    [
        "COUNT(*) > 3",
        "3 < n",
        "NOT n <= 3",
        "MIN(v) < 0 AND (MAX(f) >= 2.5 OR COUNT(DISTINCT t) > 1)",
        "MAX(v) - MIN(v) > 4",
        "MIN(v) * -2 > 4",
        "- MIN(v) + COUNT(*) / 2.0 > 4",
        "SUM(p) + SUM(e) >= 10",
        "MAX(v) IS NOT NULL",
        "COUNT(*) > k",
        "k IS NULL OR COUNT(*) >= k",
        "FLOOR(MAX(f)) > 3",
        "MAX(ts) - MIN(ts) > INTERVAL '1' HOUR",
    ],
)
def test_what_stays_true_is_read(having: str) -> None:
    union = read(having)
    assert union.aggregation is not None
    assert union.aggregation.having is not None


def test_what_is_said_of_keys_chooses_rows() -> None:
    union = read("k = 3 AND COUNT(*) > 1")
    assert union.aggregation is not None
    assert union.aggregation.having is not None
    assert "k" not in str(union.aggregation.having)
    assert any("value=3" in str(c) for q in union.disjuncts for c in q.conditions)


LEAVES = [
    "COUNT(*) < 3",
    "NOT n > 3",
    "n = 3",
    "n <> 3",
    "MAX(v) < 3",
    "MIN(v) > 3",
    "SUM(v) > 3",
    "AVG(p) > 3",
    "MEDIAN(p) > 3",
    "MAX(v) IS NULL",
    "MAX(v) > COUNT(*)",
    "MAX(v) * MIN(v) > 3",
    "MAX(ts) - MIN(ts) < INTERVAL '1' HOUR",
    "MIN(ts) - MAX(ts) > INTERVAL '1' HOUR",
    "MAX(v) / COUNT(*) > 3",
    "MAX(v) * -1 > -3",
    "COUNT(*) % 2 >= 1",
    "ABS(MAX(v)) > 3",
    "CAST(COUNT(*) AS STRING) > '5'",
    "COALESCE(MAX(v), 9) > 3",
    "CASE WHEN n > 3 THEN 0 ELSE 1 END > 0",
]


@pytest.mark.parametrize("having", LEAVES)
def test_groups_of_which_it_may_not_come_and_go(having: str) -> None:
    union = read(having)
    assert choose_emit(union) is Emit.CHANGES
    groups = union.aggregation
    assert union.joined is not None or (groups is not None and groups.numbered is not None)


@pytest.mark.parametrize("having", LEAVES)
def test_of_final_groups_all_is_read(having: str) -> None:
    assert read(having, "FLOOR(ts TO HOUR)").aggregation is not None
