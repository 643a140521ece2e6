"""Groups and windows of what is computed of a row, that come and go, beside DuckDB at all times."""

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text, relax
from tests.oracle.test_sql_nulls import CATALOG

VALUES = (
    "h % 2",
    "CASE WHEN a > 1 THEN 'big' WHEN a < 1 THEN 'small' ELSE 'none' END",
    "COALESCE(g, '?')",
    "CASE WHEN h > 1 THEN h ELSE 0 END",
)
SHAPES = """
SELECT K AS c0, AVG(a) AS c1 FROM s GROUP BY K HAVING AVG(a) > 1
SELECT K AS c0, SUM(h) AS c1 FROM s GROUP BY 1 HAVING SUM(h) < 5
SELECT K AS c0, COUNT(DISTINCT a) AS c1 FROM s GROUP BY c0 HAVING AVG(h) > 1
SELECT K AS c0, MEDIAN(a) AS c1 FROM s GROUP BY 1 HAVING MEDIAN(a) > 1
SELECT K AS c0, COUNT(*) AS c1 FROM s GROUP BY 1 ORDER BY c1 DESC, c0 NULLS LAST LIMIT 1
SELECT k AS c0, AVG(a) AS c1 FROM (SELECT K AS k, a FROM s WHERE h > 0) GROUP BY k HAVING c1 > 1
SELECT x.k AS c0, x.n AS c1, y.m AS c2 FROM RUNNING
SELECT k AS c0, a AS c1 FROM ROWS AS x QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1
SELECT K AS c0, a AS c1 FROM s QUALIFY RANK() OVER (PARTITION BY K ORDER BY a DESC) <= 2
"""
RUNNING = (
    "(SELECT K AS k, COUNT(*) AS n FROM s GROUP BY K) AS x "
    "JOIN (SELECT h AS k, MAX(a) AS m FROM t WHERE h IS NOT NULL GROUP BY h) AS y ON x.k = y.k"
)


def make_text(random: Random) -> str:
    value = random.choice(VALUES)
    shape = random.choice(SHAPES.strip().splitlines())
    if "RUNNING" in shape:
        value = random.choice((VALUES[0], VALUES[3]))
    return spell(shape, value)


def spell(shape: str, value: str) -> str:
    """A query, of groups of a value."""
    text = shape.replace("RUNNING", RUNNING).replace("ROWS", "(SELECT K AS k, a, ts FROM s)")
    return re.sub(r"\bK\b", value, text)


def check(seed: int) -> str:
    random = Random(seed)
    text = make_text(random)
    names = ("c0", "c1", "c2") if " AS c2" in text else ("c0", "c1")
    return compare_text(text, names, random)


@budget(1)
@given(SEEDS)
def test_what_is_told_is_duckdbs(seed: int) -> None:
    event(check(seed))


def test_most_are_read() -> None:
    done = Counter("answers: True" in check(seed) for seed in range(10))
    assert done[True] > 3, done


@pytest.mark.parametrize("shape", [s for s in SHAPES.strip().splitlines() if "RUNNING" not in s])
def test_a_key_without_a_domain_is_unbounded(shape: str) -> None:
    """Texts in upper case have values without end."""
    wide = relax(CATALOG, ("g", "h"))
    text = spell(shape, "UPPER(g)")
    union = parse_sql(text, wide, name="q", file="q.sql")
    assert check_query(union, wide).tier is Tier.UNBOUNDED


@pytest.mark.parametrize("rows", ["s", "(SELECT h % 2 AS k, a, ts FROM s) AS x"])
def test_all_columns_are_those_that_were_written(rows: str) -> None:
    """What is computed of a row is none of them."""
    key, names = ("h % 2", ("ts", "a", "b", "g", "h")) if rows == "s" else ("k", ("k", "a", "ts"))
    text = f"SELECT *, SUM(a) OVER (PARTITION BY {key} ORDER BY ts) AS n FROM {rows}"
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert union.variables[-1] == "n"
    assert set(union.variables) >= {*names, "n"} - {"b"}
    assert not any("%" in name for name in union.variables)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT date_trunc('day', ts) AS d, AVG(a) AS m FROM s GROUP BY 1 ORDER BY m LIMIT 1",
        "SELECT a AS d, AVG(h) AS m FROM s GROUP BY nothing HAVING AVG(h) > 2",
        "SELECT h % 2 AS d, AVG(a) AS m FROM nowhere GROUP BY 1 HAVING AVG(a) > 2",
    ],
)
def test_what_is_refused_otherwise_is_refused_as_before(text: str) -> None:
    """A bucket of time is none of these; and what is unknown is named as it was written."""
    with pytest.raises(QueryError) as caught:
        parse_sql(text, CATALOG, name="q", file="q.sql")
    assert "rows of" not in caught.value.what
