"""Buckets that overlap or grow, and HAVING: what is kept is counted by panes, and no verdict is
claimed for what HAVING may hide."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql

COLUMNS = (Column("k", IntType(), minimum=0, maximum=9), Column("a", IntType()))
CATALOG = Catalog(
    {n: Stream(n, DataSource("parquet", "none"), "ts", 1_000_000, 5, COLUMNS) for n in "st"}
)
HOP = "HOP(s.ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)"


def check(sql: str) -> Verdict:
    return check_query(parse_sql(sql, CATALOG, name="q", file="q.sql"), CATALOG)


def test_a_row_for_each_pane_and_group() -> None:
    """Twelve panes of five minutes are open in an hour, and the one that has begun."""
    verdict = check(f"SELECT s.k, {HOP} AS b, COUNT(*) AS n FROM s GROUP BY s.k, {HOP}")
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    assert verdict.bound.rows <= 2 * 10 * 13  # k may be NULL, which is a disjunct of its own
    tumbling = check("SELECT k, FLOOR(ts TO HOUR) AS b, COUNT(*) AS n FROM s GROUP BY k, b")
    assert tumbling.bound is not None
    assert tumbling.bound.rows is not None
    assert tumbling.bound.rows < verdict.bound.rows


@pytest.mark.parametrize(
    ("within", "bounded"), [("<= s.ts + INTERVAL '1' HOUR", True), ("> s.ts", False)]
)
def test_no_bucket_is_over_while_a_match_may_come(within: str, bounded: bool) -> None:
    sql = f"""SELECT {HOP} AS b, COUNT(*) AS n FROM s, t WHERE s.k = t.k AND t.ts >= s.ts
        AND t.ts {within} GROUP BY {HOP}"""
    assert (check(sql).plans is not None) is bounded


def test_what_having_may_hide_is_undecided() -> None:
    plain = check("SELECT a, COUNT(*) AS n FROM s GROUP BY a")
    assert plain.tier is Tier.UNBOUNDED
    some = check("SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING COUNT(*) > 3")
    assert some.tier is Tier.UNBOUNDED
    less = check("SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING COUNT(*) > 3 AND a < 100")
    assert less.tier is Tier.UNBOUNDED  # a may be ever less
    text = "SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING COUNT(*) > 3 AND a BETWEEN 0 AND 99"
    assert check(text).plans is not None
    few = check("SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING COUNT(*) > 3 AND ABS(a) < 100")
    assert few.plans is None
    assert few.tier is Tier.UNDECIDED
    final = check(f"SELECT s.a, {HOP} AS b FROM s GROUP BY s.a, {HOP} HAVING AVG(s.a) > 3")
    assert final.plans is not None
