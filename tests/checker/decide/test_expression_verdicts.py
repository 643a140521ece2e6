"""Verdicts on queries with expressions of one row: each bounded one has a twin that is not."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.repair.changes import DeclareDomain
from ontoweir.checker.repair.find_repairs import find_repairs
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DecimalType,
    IntType,
    Reference,
    Relation,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql

NOTHING = DataSource("parquet", "none")
CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            NOTHING,
            "ts",
            1_000_000,
            3,
            (
                Column("id", IntType(), minimum=1, maximum=5),
                Column("x", IntType(), minimum=0, maximum=99),
                Column("y", IntType()),
                Column("d", DecimalType(5, 1)),
                Column("k", StringType()),
                Column("l", StringType(), enum=("low", "high")),
                Column("r", IntType()),
                Column("w", TimestampType()),
                Column("n", StringType()),
            ),
            references=(Reference(("r",), "t", ("id",)), Reference(("n",), "u", ("name",))),
        )
    },
    {
        "t": Relation("t", NOTHING, (Column("id", IntType()), Column("m", IntType())), (("id",),)),
        "u": Relation("u", NOTHING, (Column("name", StringType()),), (("name",),), max_rows=7),
    },
)


def decide(text: str) -> Verdict:
    return check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT MOD(x, 10) AS g, COUNT(*) AS n FROM s GROUP BY MOD(x, 10)", 11),
        ("SELECT MOD(y, 10) AS g, COUNT(*) AS n FROM s GROUP BY 1", 20),
        ("SELECT x * 2 AS g, COUNT(*) AS n FROM s GROUP BY 1", 101),
        ("SELECT x * 200 - 7 AS g, COUNT(*) AS n FROM s GROUP BY 1", 101),
        ("SELECT HOUR(w) AS g, COUNT(*) AS n FROM s GROUP BY 1", 25),
        ("SELECT EXTRACT(HOUR FROM ts) AS g, COUNT(*) AS n FROM s GROUP BY 1", 24),
        ("SELECT CASE WHEN y > 9 THEN 'a' ELSE 'b' END AS g, COUNT(*) AS n FROM s GROUP BY 1", 2),
        ("SELECT UPPER(l) AS g, COUNT(*) AS n FROM s GROUP BY 1", 3),
        ("SELECT k LIKE 'a%' AS g, COUNT(*) AS n FROM s GROUP BY 1", 3),
        ("SELECT DISTINCT LENGTH(l) * 10 AS g FROM s", 2),
        ("SELECT a.id FROM s a, s b WHERE a.ts < b.ts AND MOD(a.y, 4) = MOD(b.y, 4)", 35),
        # a function of what is referred to: as many values, and that of NULL
        ("SELECT DISTINCT SUBSTR(n, 1, 2) AS g FROM s", 8),
        ("SELECT DISTINCT COALESCE(n, '-') || '/' || l AS g FROM s", 24),
        ("SELECT a.id FROM s a, s b WHERE a.ts < b.ts AND UPPER(a.n) = UPPER(b.n)", 40),
    ],
)
def test_a_derived_domain_bounds_the_state(text: str, rows: int) -> None:
    verdict = decide(text)
    assert verdict.plans is not None
    assert verdict.bound is not None
    assert verdict.bound.rows == rows


@pytest.mark.parametrize(
    "text",
    [
        "SELECT y * 2 AS g, COUNT(*) AS n FROM s GROUP BY y * 2",
        "SELECT d * 1.8 + 32 AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT 7 - y AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT -(y * 3) AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT DISTINCT y * 3 AS g FROM s",
        "SELECT LENGTH(k) AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT a.id, a.y * 2 AS v FROM s a, s b WHERE a.ts < b.ts AND a.id = b.id",
        "SELECT a.id FROM s a, s b WHERE a.ts < b.ts AND a.y * 2 = b.y * 2",
    ],
)
def test_values_without_a_domain_have_a_counterexample(text: str) -> None:
    verdict = decide(text)
    assert verdict.tier is Tier.UNBOUNDED
    assert verdict.witness is not None
    derived = {"LENGTH(k)", "y * 2", "d * 1.8 + 32", "7 - y", "- (y * 3)", "y * 3"}
    rows = [*verdict.witness.fixed, *verdict.witness.optional]
    assert rows
    assert all(derived.isdisjoint(dict(row.values)) for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        # finitely many values, which no domain says: a counterexample would be wrong
        "SELECT y - FLOOR(CAST(y / 1000 AS DOUBLE)) * 1000 AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT RIGHT(k, 1) AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT LEAST(y * y, 3) AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT y * 0 + y * y AS g, COUNT(*) AS n FROM s GROUP BY 1",
        # infinitely many, which is not known either
        "SELECT a.id FROM s a, s b WHERE a.ts < b.ts AND a.y * 2 = b.y * 3",
        "SELECT n || k AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT n || DATE_FORMAT(ts, 'yyyy-MM-dd') AS g, COUNT(*) AS n FROM s GROUP BY 1",
        "SELECT a.id FROM s a, s b WHERE a.ts < b.ts AND UPPER(a.n) = UPPER(b.k)",
    ],
)
def test_nothing_is_said_of_what_is_not_known(text: str) -> None:
    assert decide(text).tier is Tier.UNDECIDED


def test_a_function_of_a_reference_without_a_size_is_finite() -> None:
    verdict = decide("SELECT r * 2 AS g, COUNT(*) AS n FROM s GROUP BY 1")
    assert verdict.tier is Tier.CONDITIONALLY_BOUNDED
    assert verdict.bound is not None
    assert verdict.bound.rows is None


def test_values_of_a_column_and_what_is_computed_of_it_go_together() -> None:
    text = "SELECT y, y * 2 AS z, COUNT(*) AS n FROM s GROUP BY y, y * 2"
    assert decide(text).tier in (Tier.UNDECIDED, Tier.UNBOUNDED)
    never = "SELECT y * 2 AS z, COUNT(*) AS n FROM s WHERE y = 3 GROUP BY y * 2"
    assert decide(never).tier is not Tier.UNBOUNDED  # one value, which the checker does not see


def test_the_repair_is_of_the_column_that_is_read() -> None:
    text = "SELECT y * 2 AS g, COUNT(*) AS n FROM s GROUP BY y * 2"
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    changes = [c for r in find_repairs(union, CATALOG) for c in r.changes]
    domains = {(c.stream, c.column) for c in changes if isinstance(c, DeclareDomain)}
    assert domains == {("s", "y")}
