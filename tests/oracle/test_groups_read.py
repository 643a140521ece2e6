"""Groups of all rows so far that other queries read, whatever is aggregated and of how many tables,
beside DuckDB; and those that are joined with what is registered."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.compare_told import compare_spelled, relax
from tests.oracle.test_sql_nulls import CATALOG

TEXTS = """
SELECT x.h AS c0, x.n AS c1 FROM DISTINCT_A AS x
SELECT SUM(x.n) AS c0 FROM DISTINCT_A AS x
SELECT x.h AS c0, x.m AS c1 FROM (SELECT h, MEDIAN(a) AS m FROM S GROUP BY h) AS x WHERE x.m < 2
SELECT MAX(m) AS c0 FROM (SELECT h, MEDIAN(a) AS m FROM S GROUP BY h HAVING AVG(a) > 1)
SELECT x.a AS c0, x.n AS c1 FROM BY_REGISTER AS x
SELECT r.h AS c0, x.n AS c1 FROM r LEFT JOIN OF_ALL AS x ON x.h = r.h
SELECT r.h AS c0, x.n AS c1 FROM r JOIN BY_TWO AS x ON x.h = r.h WHERE x.n > 1
SELECT x.h AS c0, x.n AS c1, y.n AS c2 FROM COUNTED AS x JOIN TEXTS_OF_T AS y ON y.h = x.h
SELECT x.h AS c0, x.n AS c1, t.a AS c2 FROM DISTINCT_A AS x JOIN t ON t.h = x.h AND t.ts > AGO
SELECT AVG(n) AS c0 FROM COUNTED
SELECT COUNT(*) AS c0 FROM (SELECT h FROM S GROUP BY h HAVING COUNT(*) > 1)
SELECT x.g AS c0, x.n AS c1 FROM BY_TEXT AS x WHERE x.m < 3
SELECT x.g AS c0, x.n AS c1 FROM OTHERWISE_NAMED AS x WHERE x.n < 3
SELECT r.h AS c0, (SELECT COUNT(*) FROM s WHERE s.h = r.h AND s.a > 0) AS c1 FROM r
SELECT r.h AS c0, (SELECT MAX(s.a) - MIN(s.a) FROM s WHERE s.h = r.h) AS c1 FROM r WHERE r.h > 0
"""
WORDS = {
    "BY_REGISTER": "(SELECT r.a, COUNT(*) AS n FROM s, r WHERE r.h = s.h GROUP BY r.a)",
    "BY_TEXT": "(SELECT g, COUNT(*) AS n, COUNT(DISTINCT a) AS m FROM s GROUP BY g)",
    "BY_TWO": "(SELECT h, g, COUNT(*) AS n FROM s GROUP BY h, g)",
    "COUNTED": "(SELECT h, COUNT(*) AS n FROM S GROUP BY h)",
    "DISTINCT_A": "(SELECT h, COUNT(DISTINCT a) AS n FROM S GROUP BY h)",
    "OTHERWISE_NAMED": (
        "(SELECT h AS g, COUNT(DISTINCT a) AS n FROM s WHERE h IS NOT NULL AND g IS NOT NULL "
        "GROUP BY g, h)"
    ),
    "OF_ALL": "(SELECT h, COUNT(DISTINCT a) AS n FROM s GROUP BY h)",
    "TEXTS_OF_T": "(SELECT h, COUNT(DISTINCT g) AS n FROM T GROUP BY h HAVING MAX(a) > 0)",
    "AGO": "NOW() - INTERVAL '3' MICROSECOND",
    "FROM S ": "FROM s WHERE h IS NOT NULL ",
    "FROM T ": "FROM t WHERE h IS NOT NULL ",
}


@pytest.mark.parametrize(("seed", "text"), [*enumerate(TEXTS.strip().splitlines())])
def test_what_is_told_is_duckdbs(seed: int, text: str) -> None:
    compare_spelled(text, WORDS, seed)


SO_FAR = "(SELECT h, COUNT(*) AS n FROM s GROUP BY h)"
REGISTERED = (
    f"SELECT r.h, x.n FROM r JOIN {SO_FAR} AS x ON x.h = r.h",
    f"SELECT r.h, x.n FROM r LEFT JOIN {SO_FAR} AS x ON x.h = r.h",
    "SELECT r.h, x.n FROM r, (SELECT h AS k, COUNT(*) AS n FROM s GROUP BY k) AS x WHERE x.k = r.h",
)
OTHERS = (
    f"SELECT x.h, r.a FROM {SO_FAR} AS x LEFT JOIN r ON r.h = x.h",
    f"SELECT r.h, x.n FROM r JOIN {SO_FAR} AS x ON x.n = r.h",
    f"SELECT r.h, x.n FROM r JOIN {SO_FAR} AS x ON x.h > r.h",
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
