"""Pieces of SQL in messages are shown as the user wrote them, where the text is known."""

import pytest
import sqlglot
from sqlglot import exp

from ontoweir.errors import QueryError
from ontoweir.mappings.sql.show_sql import show_sql, writing
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.test_sql_nulls import CATALOG

TEXT = """SELECT k, arg_max(v, ts) AS m FROM s
WHERE NOT EXISTS (SELECT 1
                  FROM t WHERE t.k = s.k) AND s.a = s.b"""


def parse() -> exp.Expr:
    return sqlglot.parse_one(TEXT, dialect="spark")


def find(kind: type[exp.Expr]) -> exp.Expr:
    found = parse().find(kind)
    assert found is not None
    return found


def test_the_words_of_the_text_are_shown_in_one_line() -> None:
    absent = find(exp.Not)
    inner = absent.find(exp.Select)
    assert inner is not None
    inner.expressions[0].replace(exp.alias_(exp.Literal.number(1), "1", quoted=True))
    assert "AS `1`" in show_sql(absent)
    with writing(TEXT):
        assert show_sql(absent) == "NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k)"
        assert show_sql(find(exp.ArgMax)) == "arg_max(v, ts)"
    assert show_sql(find(exp.ArgMax)) == "MAX_BY(v, ts)"


def test_what_was_made_of_names_that_are_gone_is_found_by_its_first_word() -> None:
    made = sqlglot.parse_one("MAX_BY(`value 1`, `value 2`)", dialect="spark")
    with writing("SELECT max_by(v, ts) FROM s"):
        assert show_sql(made) == "max_by(v, ts)"


@pytest.mark.parametrize(
    "made",
    [
        "s.c",  # a column that is not there
        "COALESCE(t.other, 0) + t.more * 2",
        "MAX_BY(x, y) OVER (PARTITION BY a, b, c ORDER BY d)",  # too little in common
    ],
)
def test_what_is_not_written_is_shown_as_it_is(made: str) -> None:
    with writing(TEXT):
        assert show_sql(sqlglot.parse_one(made, dialect="spark")) == made


def test_a_text_that_is_not_sql_is_no_error() -> None:
    with writing("SELECT 'no end"):
        assert show_sql(find(exp.ArgMax)) == "MAX_BY(v, ts)"


@pytest.mark.parametrize(
    ("piece", "rest"),
    [
        ("LAST(a ORDER BY b)", " GROUP BY h"),
        ("kurtosis(a)", " GROUP BY h"),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY h)", ""),
    ],
)
def test_refusals_show_what_was_written(piece: str, rest: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(f"SELECT h, {piece} AS n FROM s{rest}", CATALOG, name="q", file="q.sql")
    assert piece in str(caught.value)


def test_the_text_is_forgotten_afterwards() -> None:
    with pytest.raises(QueryError):
        parse_sql("SELECT arg_max(v, ts) FROM s WHERE", CATALOG, name="q", file="q.sql")
    assert show_sql(find(exp.ArgMax)) == "MAX_BY(v, ts)"
