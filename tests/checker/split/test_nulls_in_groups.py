"""Aggregates over columns that may be NULL: their parts, their bounds, their counterexamples."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.split.split_aggregates import split_aggregates
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql

_COLUMNS = (
    Column("k", IntType(), minimum=0, maximum=2),
    *(Column(c, IntType()) for c in "abcdefghij"),
)
CATALOG = Catalog({"s": Stream("s", DataSource("parquet", None), "ts", 1, 9, _COLUMNS)})


def _parts(sql: str) -> list[tuple[list[str], tuple[str, ...]]]:
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    return [([str(a) for a in p.aggregates], p.over) for p in split_aggregates(union)]


def test_an_argument_that_has_a_value_everywhere_shares_its_part() -> None:
    both = "SELECT COUNT(*) AS n, SUM(a) AS s FROM s"
    for known in ("a > 0", "a IS NOT NULL", "a > 0 OR b > 0 AND a < 0"):
        assert len(_parts(f"{both} WHERE {known}")) == 1
    assert len(_parts(f"{both} WHERE b > 0")) == 2
    parts = _parts("SELECT COUNT(a) AS n, SUM(a) AS s FROM s")
    assert [over for _, over in parts] == [("of_1",), ()]


def test_null_is_one_more_group() -> None:
    sql = "SELECT k, COUNT(*) AS n FROM s {} GROUP BY k"
    nullable, given = (
        check_query(parse_sql(sql.format(w), CATALOG, name="q", file="q.sql"), CATALOG)
        for w in ("", "WHERE k IS NOT NULL")
    )
    assert nullable.bound is not None
    assert given.bound is not None
    assert (nullable.bound.rows, given.bound.rows) == (4, 3)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, MEDIAN(a) AS m FROM s GROUP BY k",
        "SELECT a, COUNT(*) AS n FROM s GROUP BY a",
        "SELECT k, COUNT(DISTINCT a) AS n FROM s GROUP BY k",
    ],
)
def test_what_has_no_end_has_a_counterexample(sql: str) -> None:
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert check_query(union, CATALOG).tier is Tier.UNBOUNDED


def test_too_many_columns_that_may_be_null_are_refused() -> None:
    names = ", ".join("abcdefghi")
    with pytest.raises(QueryError, match="9 columns that may be NULL in GROUP BY") as caught:
        parse_sql(
            f"SELECT {names}, COUNT(*) AS n FROM s GROUP BY {names}", CATALOG, name="q", file=""
        )
    assert "IS NOT NULL" in caught.value.fix
    union = parse_sql(
        f"SELECT {names}, COUNT(*) AS n FROM s WHERE i IS NOT NULL GROUP BY {names}",
        CATALOG, name="q", file="",
    )  # fmt: skip
    assert len(union.disjuncts) == 256
