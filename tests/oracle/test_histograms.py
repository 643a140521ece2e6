"""Groups of what doubles between two ends are rounded to, beside DuckDB at all times."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text
from tests.oracle.test_sql_nulls import CATALOG

VALUES = ("FLOOR(f / 2)", "CEIL(f * 3 - 1)", "ROUND(f)", "FLOOR(f / 2) * 2", "FLOOR((1 - f) / 4)")
LIMITS = ("f BETWEEN -8 AND 8", "f >= -8 AND f < 16", "-1 < f AND 100 > f", "f > 0 AND f <= 0.5")
WIDE = ("f > 0", "f BETWEEN 1 AND a", "a BETWEEN 0 AND 1", "f < 9 OR f > 10")


def make_text(random: Random) -> str:
    value, said = random.choice(VALUES), random.choice(LIMITS)
    more = random.choice(["", " AND a > 0"])
    told = " HAVING AVG(a) > 0", " HAVING SUM(a) < 3", " ORDER BY c1 DESC, c0 LIMIT 2"
    call = random.choice(["COUNT(*)", "SUM(a)"])
    by = random.choice([value, "c0", "1"])
    text = f"SELECT {value} AS c0, {call} AS c1 FROM s WHERE {said}{more} GROUP BY {by}"
    return text + random.choice(told)


def check(seed: int) -> str:
    random = Random(seed)
    return compare_text(make_text(random), ("c0", "c1"), random)


@budget(0.4)
@given(SEEDS)
def test_groups_of_rounded_numbers_are_duckdbs(seed: int) -> None:
    event(check(seed))


def test_all_are_bounded() -> None:
    for seed in range(40):
        text = make_text(Random(seed))
        verdict = check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG)
        assert verdict.bound is not None, text


@pytest.mark.parametrize("said", WIDE)
def test_numbers_without_two_ends_have_no_bound(said: str) -> None:
    text = f"SELECT FLOOR(f / 2) AS c0, COUNT(*) AS c1 FROM s WHERE {said} GROUP BY 1"
    verdict = check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG)
    assert verdict.tier in (Tier.UNDECIDED, Tier.UNBOUNDED)


def test_a_value_has_the_name_that_is_written() -> None:
    text = "SELECT FLOOR(f / 2), COUNT(*) AS n FROM s WHERE f BETWEEN 0 AND 9 GROUP BY FLOOR(f / 2)"
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    assert not any("CASE" in name for name in union.aggregation.columns)


def test_what_is_made_is_not_shown_as_a_piece_of_the_text() -> None:
    text = "SELECT FLOOR(f / 2) AS b, COUNT(*) AS n FROM s WHERE f BETWEEN 0 AND 9 "
    text += "GROUP BY FLOOR(f / 2) ORDER BY n DESC LIMIT 2"
    verdict = check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG)
    assert verdict.bound is not None
    assert "GROUP BY" not in verdict.bound.formula
    assert "CASE WHEN f BETWEEN 0 AND 9 THEN FLOOR(f / 2) END" in verdict.bound.formula
