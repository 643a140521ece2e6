"""Groups of all rows so far that other queries read, whatever is aggregated and of how many tables,
beside DuckDB; and those that are joined with what is registered."""

from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.compare_told import compare_text, relax
from tests.oracle.test_sql_nulls import CATALOG

TEXTS = """
SELECT x.h AS c0, x.n AS c1 FROM (SELECT h, COUNT(DISTINCT a) AS n FROM S GROUP BY h) AS x
SELECT SUM(x.n) AS c0 FROM (SELECT h, COUNT(DISTINCT a) AS n FROM S GROUP BY h) AS x
SELECT x.h AS c0, x.m AS c1 FROM (SELECT h, MEDIAN(a) AS m FROM S GROUP BY h) AS x WHERE x.m < 2
SELECT MAX(m) AS c0 FROM (SELECT h, MEDIAN(a) AS m FROM S GROUP BY h HAVING AVG(a) > 1)
SELECT x.a AS c0, x.n AS c1 FROM (SELECT r.a, COUNT(*) AS n FROM s, r WHERE r.h = s.h GROUP BY r.a) AS x
SELECT r.h AS c0, x.n AS c1 FROM r LEFT JOIN (SELECT h, COUNT(DISTINCT a) AS n FROM s GROUP BY h) AS x ON x.h = r.h
SELECT r.h AS c0, x.n AS c1 FROM r JOIN (SELECT h, g, COUNT(*) AS n FROM s GROUP BY h, g) AS x ON x.h = r.h WHERE x.n > 1
SELECT x.h AS c0, x.n AS c1, y.n AS c2 FROM COUNTED AS x JOIN (SELECT h, COUNT(DISTINCT g) AS n FROM T GROUP BY h HAVING MAX(a) > 0) AS y ON y.h = x.h
SELECT x.h AS c0, x.n AS c1, t.a AS c2 FROM DISTINCT_A AS x JOIN t ON t.h = x.h AND t.ts > NOW() - INTERVAL '3' MICROSECOND
SELECT AVG(n) AS c0 FROM COUNTED
SELECT COUNT(*) AS c0 FROM (SELECT h FROM S GROUP BY h HAVING COUNT(*) > 1)
SELECT x.g AS c0, x.n AS c1 FROM (SELECT g, COUNT(*) AS n, COUNT(DISTINCT a) AS m FROM s GROUP BY g) AS x WHERE x.m < 3
"""
WORDS = {
    "COUNTED": "(SELECT h, COUNT(*) AS n FROM S GROUP BY h)",
    "DISTINCT_A": "(SELECT h, COUNT(DISTINCT a) AS n FROM S GROUP BY h)",
    "FROM S ": "FROM s WHERE h IS NOT NULL ",
    "FROM T ": "FROM t WHERE h IS NOT NULL ",
}


def spell(text: str) -> str:
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    return text


@pytest.mark.parametrize(("seed", "text"), enumerate(TEXTS.strip().splitlines()))
def test_what_is_told_is_duckdbs(seed: int, text: str) -> None:
    names = tuple(n for n in ("c0", "c1", "c2") if f" AS {n}" in text)
    done = compare_text(spell(text), names, Random(seed))
    assert "answers" in done


REGISTERED = (
    "SELECT r.h, x.n FROM r JOIN (SELECT h, COUNT(*) AS n FROM s GROUP BY h) AS x ON x.h = r.h",
    "SELECT r.h, x.n FROM r LEFT JOIN (SELECT h, COUNT(*) AS n FROM s GROUP BY h) AS x ON x.h = r.h",
    "SELECT r.h, x.n FROM r, (SELECT h AS k, COUNT(*) AS n FROM s GROUP BY k) AS x WHERE x.k = r.h",
)
OTHERS = (
    "SELECT x.h, r.a FROM (SELECT h, COUNT(*) AS n FROM s GROUP BY h) AS x LEFT JOIN r ON r.h = x.h",
    "SELECT r.h, x.n FROM r JOIN (SELECT h, COUNT(*) AS n FROM s GROUP BY h) AS x ON x.n = r.h",
    "SELECT r.h, x.n FROM r JOIN (SELECT h, COUNT(*) AS n FROM s GROUP BY h) AS x ON x.h > r.h",
)


@pytest.mark.parametrize("text", REGISTERED)
def test_groups_that_are_joined_with_a_register_are_of_its_keys(text: str) -> None:
    """Whatever keys rows have."""
    catalog = relax(CATALOG, ("h",))
    assert check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog).plans is not None


@pytest.mark.parametrize("text", OTHERS)
def test_twin_others_are_of_all_keys(text: str) -> None:
    catalog = relax(CATALOG, ("h",))
    verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
    assert verdict.tier in (Tier.UNBOUNDED, Tier.UNDECIDED)
