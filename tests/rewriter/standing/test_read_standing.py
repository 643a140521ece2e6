"""Rows that hold until others end them, in SQL: what is read, and how rows are kept."""

from dataclasses import replace

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.test_sql_nulls import CATALOG

KEYED = replace(CATALOG.streams["s"], keys=(("h", "ts"),))
WORLD = replace(CATALOG, streams={**CATALOG.streams, "s": KEYED})
DESC = "(PARTITION BY h ORDER BY ts DESC)"
LAST = f"SELECT * FROM s QUALIFY ROW_NUMBER() OVER {DESC} = 1"
OR = " UNION ALL SELECT 1 FROM t AS u WHERE u.h = s.h AND u.ts > s.ts"


def ended(more: str = "") -> str:
    return f"NOT EXISTS (SELECT 1 FROM t WHERE t.h = s.h AND t.ts > s.ts{more})"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # all that can be told apart: three values of h, or seven of a for each, and for NULL
        (f"SELECT s.h FROM s WHERE {ended()}", 3),
        (f"SELECT h FROM s WHERE {ended(' AND a > 0')}", 3),
        (f"SELECT s.a FROM s WHERE {ended()}", 7 * 3 + 7),
        ("SELECT s.h FROM s ANTI JOIN t ON s.h = t.h AND t.ts > s.ts", 3),
        ("SELECT s.h FROM s LEFT ANTI JOIN t ON s.h = t.h AND s.ts < t.ts", 3),
        (f"SELECT COUNT(*) AS n FROM s WHERE {ended()}", 4 + 1),
        # one row a key: three values of h; rows without one are of none
        (f"SELECT f FROM ({LAST}) AS x WHERE f > 1.5", 3),
        (f"SELECT f FROM s QUALIFY ROW_NUMBER() OVER {DESC} = 1", 3),
        (f"SELECT f FROM s QUALIFY ROW_NUMBER() OVER {DESC} = 1 AND a = 2", 3),
        (f"WITH x AS ({LAST}) SELECT f FROM x WHERE a = 2", 3),
        (f"SELECT AVG(f) AS m FROM ({LAST}) AS x", 3 + 1),
        (f"SELECT g, COUNT(*) AS n FROM ({LAST}) AS x GROUP BY g HAVING COUNT(*) > 1", 3),
        ("SELECT f FROM (SELECT h, ARG_MAX(f, ts) AS f FROM s GROUP BY h) AS x WHERE f > 1", 3),
        (f"SELECT s.h FROM s WHERE {ended()} AND {ended().replace('t.h', 't.a')}", 3),
        (f"SELECT s.h FROM s WHERE {ended(OR)}", 3),
    ],
)
def test_rows_that_are_kept(text: str, rows: int) -> None:
    union = parse_sql(text, WORLD, name="q", file="q.sql")
    assert union.standing is not None
    assert union.standing.ender is not None
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, WORLD)
    assert verdict.bound is not None
    assert verdict.bound.rows == rows


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT s.h FROM s WHERE {ended(' AND t.ts <= s.ts + INTERVAL 3 MICROSECOND')}",
        f"SELECT s.h FROM s WHERE {ended().replace('>', '<')}",
        f"SELECT s.h FROM s WHERE {ended().replace('t.ts > s.ts', 't.ts = s.ts')}",
    ],
)
def test_what_is_final_is_told_once(text: str) -> None:
    union = parse_sql(text, WORLD, name="q", file="q.sql")
    assert union.standing is None
    assert choose_emit(union) is Emit.ANSWERS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"SELECT s.h FROM s WHERE {ended(' AND t.a > s.a')}", "never final"),
        (f"SELECT s.h FROM s WHERE {ended()} AND {ended().replace('s.h', 's.a')}", "never final"),
        (f"SELECT s.h FROM s, r WHERE s.h = r.h OR {ended()}", ""),
        (f"SELECT z FROM ({LAST}) AS x", "none of the subquery"),
        (f"SELECT h FROM ({LAST}) AS x TABLESAMPLE (1 ROWS) WHERE a > 0", ""),
        (f"SELECT h FROM ({LAST}) AS x PIVOT (SUM(a) FOR h IN (1, 2))", ""),
        (f"SELECT f FROM ({LAST}) AS x (f, a, h) WHERE a > 0", ""),
        (f"WITH x AS ({LAST}) SELECT h FROM x TABLESAMPLE (1 ROWS) WHERE a > 0", ""),
        (f"SELECT DISTINCT ON (a) a, f FROM ({LAST}) AS x", ""),
        (f"SELECT DISTINCT ON (a) a FROM s QUALIFY RANK() OVER {DESC} = 1 AND a > 0", ""),
        (f"SELECT DISTINCT ON (h) h, a FROM s WHERE {ended()}", ""),
        (f"SELECT h FROM ({LAST}) AS x WHERE a > 0 LIMIT 3", "LIMIT"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(text, WORLD, name="q", file="q.sql")
    assert message in str(caught.value)


@pytest.mark.parametrize("shown", ["h, f", "f"])
def test_rows_that_are_kept_apart(shown: str) -> None:
    """Disjuncts of keys that differ are added up; those that differ in what is NULL are not."""
    either = "(h = 0 AND a > 1) OR (h = 1 AND a < 1)"
    text = f"SELECT {shown} FROM s WHERE {either} QUALIFY ROW_NUMBER() OVER {DESC} = 1"
    verdict = check_query(parse_sql(text, WORLD, name="q", file="q.sql"), WORLD)
    assert verdict.bound is not None
    assert verdict.bound.rows == 2
