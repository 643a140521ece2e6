"""Windows, times and buckets: verdict, update pattern and bound of small queries.

Both streams have at most 5 rows a step of 1 s; k is one of 10 values, other columns are unbounded.
"""

import pytest

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.find_pattern import find_pattern
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit

COLUMNS = (Column("k", IntType(), minimum=0, maximum=9), *(Column(n, IntType()) for n in "abcde"))
CATALOG = Catalog(
    {
        name: Stream(name, DataSource("parquet", "none"), "ts", 1_000_000, 5, COLUMNS)
        for name in ("s", "t")
    },
    {},
)
S10 = "s.ts > NOW() - INTERVAL '10' SECOND"
NEAR = "t.ts <= s.ts + INTERVAL '{}' SECOND"
NEAR2 = NEAR.format(2)
T20 = "t.ts > NOW() - INTERVAL '20' SECOND"
BOTH = f"{S10} AND {T20}"


def decide(sql: str) -> Verdict:
    return check_query(parse_sql(sql, CATALOG, name="q", file="q.sql"), CATALOG)


@pytest.mark.parametrize(
    ("sql", "pattern", "emit", "rows", "changes"),
    [
        (f"SELECT a FROM s WHERE {S10}", "WKS", Emit.INTERVALS, 0, 5 * 10),
        (
            f"SELECT s.a FROM s, t WHERE s.a = t.c AND {S10} AND {T20}",
            "WK",
            Emit.INTERVALS,
            5 * 9 + 5 * 19,
            5 * 9 + 5 * 19 + 50 * 20,  # an s, and when its t ends
        ),
        (f"SELECT DISTINCT k FROM s WHERE {S10}", "WK", Emit.CHANGES, 10, 10),
        ("SELECT COUNT(*) AS n, k FROM s GROUP BY k", "STR", Emit.ANSWERS, 11, 22),
        (
            f"SELECT k, COUNT(*) AS n FROM s WHERE k >= 0 AND {S10} GROUP BY k",
            "STR",
            Emit.CHANGES,
            5 * 10,  # groups that change at 10 times; the rows are fewer
            5 * 10,
        ),
        (
            f"SELECT k, MAX(a) AS m FROM s WHERE k >= 0 AND a > 0 AND {S10} GROUP BY k",
            "STR",
            Emit.CHANGES,
            5 * 10,
            5 * 10,
        ),
        (
            f"SELECT k, COUNT(DISTINCT k) AS m FROM s WHERE k >= 0 AND {S10} GROUP BY k",
            "STR",
            Emit.CHANGES,
            10,  # each value once
            10,
        ),
        (
            f"SELECT s.k, SUM(t.b) n FROM s, t WHERE s.k = t.k AND t.b > 0 AND {BOTH} GROUP BY 1",
            "STR",
            Emit.CHANGES,
            5 * 9 + 5 * 19 + 10 * 10,  # the rows, and the sums by key and the end of the first
            5 * 9 + 5 * 19 + 10 * 10,
        ),
        (
            f"SELECT s.ts, s.a FROM s, t WHERE s.a = t.c AND s.ts < t.ts AND {NEAR.format(10)}",
            "MON",
            Emit.ANSWERS,
            5 * 10,
            5 * 10,
        ),
        (
            f"SELECT s.a, t.k FROM s, t WHERE s.k = t.k AND {S10}",
            "WK",
            Emit.INTERVALS,
            5 * 9 + 10,
            5 * 9 + 10 + 5 * 10,
        ),
        (
            f"SELECT DISTINCT s.ts, t.a FROM s, t WHERE s.k = t.k AND s.ts <= t.ts AND {NEAR2}",
            "MON",
            Emit.ANSWERS,
            5 * 2 + 2 * 10,  # of two times, the rows of t in two steps
            5 * 2 + 2 * 10,
        ),
    ],
)
def test_bounded(sql: str, pattern: str, emit: Emit, rows: int, changes: int) -> None:
    verdict = decide(sql)
    assert verdict.bound is not None
    assert str(find_pattern(verdict.union, extend_catalog(CATALOG, verdict.union))) == pattern
    assert choose_emit(verdict.union) is emit
    assert (verdict.bound.rows, bound_changes(verdict, CATALOG).rows) == (rows, changes)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s.ts FROM s, t WHERE s.k = t.k AND s.ts < t.ts",
        "SELECT DISTINCT s.ts FROM s, t WHERE s.k = t.k AND s.ts < t.ts",
        "SELECT s.ts FROM s, t WHERE s.a = t.c AND s.ts < t.ts",
        f"SELECT s.k FROM s, t WHERE s.a = t.c AND {S10}",  # t has no window
        f"SELECT s.k, t.ts FROM s, t WHERE s.k = t.k AND {S10}",
        f"SELECT DISTINCT s.k, t.ts FROM s, t WHERE s.k = t.k AND {S10}",
    ],
)
def test_unbounded(sql: str) -> None:
    verdict = decide(sql)
    assert verdict.plans is None
    assert verdict.witness is not None
