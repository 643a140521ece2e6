"""RIGHT and FULL JOIN, totals beside rows and groups, ROLLUP, groups that hide their keys, NOT IN
and NOT EXISTS of groups, and rows of values, of what comes and goes: what holds at every time is
what DuckDB finds with that time as NOW(), live, replayed in ranges, within the bound."""

from random import Random

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text

WITHIN = "ts > NOW() - INTERVAL '{}' MICROSECOND"


def _draw_groups(random: Random) -> str:
    """A subquery of groups of a window, or of its rows, of columns h and n."""
    table, within = random.choice("st"), WITHIN.format(random.randint(2, 6))
    call = random.choice(["COUNT(*)", "SUM(a)", "MAX(a)", "COUNT(DISTINCT a)"])
    having = random.choice(["", "", " HAVING COUNT(*) > 1"])
    rows = f"SELECT h, {call} AS n FROM {table} WHERE {within} GROUP BY h{having}"
    return random.choice([rows, rows, rows, f"SELECT h, a AS n FROM {table} WHERE {within}"])


def make_text(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    x, y = (f"({_draw_groups(random)}) AS {alias}" for alias in "xy")
    on = random.choice(["x.h = y.h", "x.h = y.h AND x.n > y.n", "x.n = y.n", "x.h < y.h"])
    side = random.choice(["FULL", "FULL", "RIGHT"])
    total = random.choice(["SUM", "MAX", "MIN", "COUNT", "AVG"])
    by = random.choice(["", "", "PARTITION BY x.h"])
    key = random.choice(["h", "a"])
    match random.randint(0, 9):
        case 0:
            text = f"SELECT x.h AS c0, y.n AS c1 FROM {x} {side} JOIN {y} ON {on}"
        case 1:
            where = random.choice(["x.h IS NULL", "y.n > 1", "x.n IS NULL OR x.n > y.n"])
            shown = "COALESCE(x.h, y.h) AS c0, COALESCE(x.n, 0) - COALESCE(y.n, 0) AS c1"
            text = f"SELECT {shown} FROM {x} {side} JOIN {y} ON {on} WHERE {where}"
        case 2:
            text = (
                f"SELECT y.h AS c0, COUNT(x.n) AS c1 FROM {x} {side} JOIN {y} ON {on} GROUP BY y.h"
            )
        case 3:
            shown = f"x.h AS c0, x.n - {total}(x.n) OVER ({by}) AS c1"
            where = random.choice(["", "", " WHERE x.n > 0"])
            text = f"SELECT {shown} FROM {x}{where}"
        case 4:
            keep = random.choice(["", f" QUALIFY COUNT(*) >= {total}(COUNT(*)) OVER ()"])
            rows = f"s WHERE {WITHIN.format(random.randint(2, 5))}"
            shown = f"{key} AS c0, COUNT(*) + {total}(COUNT(*)) OVER () AS c1"
            text = f"SELECT {shown} FROM {rows} GROUP BY {key}{keep}"
        case 5:
            several = random.choice(["ROLLUP (h, a)", "CUBE (h, a)", "GROUPING SETS ((h), (a))"])
            call, rows = random.choice(["COUNT(*)", "MAX(a)"]), WITHIN.format(random.randint(2, 5))
            text = f"SELECT h AS c0, {call} AS c1 FROM t WHERE {rows} GROUP BY {several}"
        case 8:
            shown = f"h AS c0, x.n AS c1, y.n AS c2 FROM {x} {side} JOIN {y} USING (h)"
            return f"SELECT {shown}", ("c0", "c1", "c2")
        case 9:
            wide, narrow = (WITHIN.format(n) for n in (random.randint(4, 7), random.randint(1, 3)))
            later = random.choice([narrow, f"{narrow} AND a > 0", narrow.replace(">", "<=")])
            call = random.choice(["COUNT(*)", "SUM(a)", "MAX(a)", "COUNT(DISTINCT a)"])
            value = random.choice(["1", "a", "a", "a * 2"])
            case = f"SUM(CASE WHEN {narrow} THEN {value} ELSE 0 END)"
            made = random.choice([f"{call} FILTER (WHERE {later})", f"{case} * 2 + COUNT(*)", case])
            having = random.choice(["", "", f" HAVING {case} > 1"])
            rows = random.choice([f"s WHERE {wide}", f"s WHERE {wide}", "s"])
            text = f"SELECT h AS c0, {made} AS c1 FROM {rows} GROUP BY h{having}"
        case 6:
            rows = f"{random.choice('st')} WHERE {WITHIN.format(random.randint(2, 5))}"
            text = f"SELECT COUNT(*) AS c0, MAX(a) AS c1 FROM {rows} GROUP BY h"
        case _:
            no = random.choice(["NOT ", "NOT ", ""])
            beside = random.choice(
                [f"SELECT 1 FROM {y} WHERE {on}", "SELECT 1 FROM r WHERE r.h = x.h"]
            )
            text = f"SELECT x.h AS c0, x.n AS c1 FROM {x} WHERE {no}EXISTS ({beside})"
    return text, ("c0", "c1")


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    return compare_text(*make_text(random), random)


@budget(0.2)
@given(seed=SEEDS)
def test_what_is_asked_around_is_duckdbs(seed: int) -> None:
    event(check(seed))


LATE = "ts > NOW() - INTERVAL '4' MICROSECOND"
GROUPS = f"SELECT h, COUNT(*) AS n FROM s WHERE {LATE} GROUP BY h"
KNOWN = f"{LATE} AND h IS NOT NULL"
KEYED = f"SELECT h, COUNT(*) AS n FROM s WHERE {KNOWN} GROUP BY h"
SHARES = (
    f"SELECT h AS c0, COUNT(*) AS c1, SUM(COUNT(*)) OVER () AS c2 FROM s WHERE {KNOWN} GROUP BY h"
)
NAMED = f"SELECT h AS c0, COUNT(*) AS c1 FROM s WHERE {LATE} GROUP BY h"
SEEN = f"SELECT DISTINCT h FROM s WHERE {LATE}"
NEWEST = "SELECT h, a FROM s QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1"
BY_VALUE = f"SELECT a, COUNT(*) AS n FROM ({NEWEST}) l GROUP BY a"
SOON = "ts > NOW() - INTERVAL '2' MICROSECOND"
OTHERS = f"SELECT h, MAX(a) AS n FROM t WHERE {LATE} GROUP BY h"
SOME = "HAVING c0 > 0"
THIRD = "ON x.h = y.h FULL JOIN r z ON z.h = y.h"
FIRST = f"SELECT 1, COUNT(*) FROM t WHERE {SOON} ORDER BY c1 DESC, c0 LIMIT 1"
SUMS = f"SELECT h, SUM(b) AS n FROM t WHERE {LATE} GROUP BY h"
VALUES = f"SELECT b, COUNT(*) AS m FROM s WHERE {LATE} GROUP BY b"
LEAST = "QUALIFY RANK() OVER (ORDER BY COUNT(*)) <= 1"
FEW = f"SELECT a FROM t WHERE t.h = r.h AND {LATE} ORDER BY t.a NULLS LAST LIMIT 2"
MET = f"FROM s AS x JOIN r ON r.h = x.h WHERE x.{LATE} GROUP BY r.h"
MEAN = f"(SELECT AVG(a) FROM t WHERE {LATE})"
LARGER = "NOT EXISTS (SELECT 1 FROM x AS y WHERE y.n > x.n)"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT r.h AS c0 FROM r WHERE r.h NOT IN (SELECT h FROM ({GROUPS}) x WHERE x.h = 1)",
        f"SELECT t.h AS c0 FROM t WHERE {KNOWN} AND (t.h, t.a) IN ((1, 1), (2, 0))",
        f"SELECT t.h AS c0, t.a AS c1 FROM t WHERE {KNOWN} AND (t.h, t.a) < (1, 2)",
        f"{SHARES} ORDER BY c1 DESC, h LIMIT 1",
        f"WITH x AS ({KEYED}) SELECT h AS c0, 0 - n AS c1 FROM x ORDER BY x.n DESC, c0 LIMIT 1",
        f"WITH x AS ({GROUPS}) SELECT h AS c0, n * 2 > MAX(n) OVER () AS c1 FROM x",
        f"WITH x AS ({GROUPS}) SELECT x.h AS c0 FROM x WHERE {LARGER}",
        f"SELECT DISTINCT COUNT(*) AS c0 FROM s WHERE {LATE} GROUP BY h",
        f"SELECT COUNT(*) AS c0 FROM s WHERE {LATE} GROUP BY h {LEAST}",
        f"SELECT r.h AS c0, COUNT(x.h) AS c1 FROM r LEFT JOIN ({SEEN}) x ON x.h = r.h GROUP BY r.h",
        f"SELECT COUNT(*) AS c0 FROM ({SEEN}) x",
        f"SELECT (SELECT COUNT(*) FROM s WHERE {LATE}) - (SELECT MAX(a) FROM t WHERE {LATE}) AS c0",
        f"SELECT l.h AS c0, l.a - MAX(l.a) OVER () AS c1 FROM ({NEWEST}) l",
        f"SELECT x.n AS c0, y.m AS c1 FROM ({SUMS}) x LEFT JOIN ({VALUES}) y ON y.b = x.n",
        f"SELECT l.h AS c0, COUNT(*) OVER () AS c1 FROM ({NEWEST}) l",
        f"SELECT l.h AS c0, COUNT(*) OVER (PARTITION BY l.h) AS c1 FROM ({NEWEST}) l",
        f"SELECT l.h AS c0 FROM ({NEWEST}) l WHERE l.a >= (SELECT AVG(a) FROM ({NEWEST}) k)",
        f"SELECT a AS c0, COUNT(*) AS c1 FROM ({NEWEST}) l GROUP BY a UNION ALL {NAMED}",
        f"SELECT r.h AS c0, x.n AS c1 FROM r LEFT JOIN ({BY_VALUE}) x ON x.a = r.h",
        f"SELECT COUNT(*) FILTER (WHERE {SOON}) AS c0, COUNT(*) AS c1 FROM s WHERE {LATE}",
        f"SELECT AVG(CASE WHEN {SOON} THEN a END) AS c0 FROM s WHERE {LATE} GROUP BY h {SOME}",
        f"SELECT z.h AS c0, x.n AS c1 FROM ({GROUPS}) x FULL JOIN ({OTHERS}) y {THIRD}",
        f"SELECT 1 AS c0, COUNT(*) AS c1 FROM s WHERE {SOON} UNION ALL {FIRST}",
        f"{NAMED} UNION ALL SELECT h, NULL FROM t WHERE {LATE}",
        f"SELECT r.h AS c0, l.a AS c1 FROM r LEFT JOIN LATERAL ({FEW}) l ON TRUE",
        f"SELECT r.h AS c0, AVG(x.a) AS c1 {MET} HAVING AVG(x.a) > {MEAN}",
        f"SELECT h AS c0, SUM(a > 0 OR g = 'x') AS c1 FROM s WHERE {LATE} GROUP BY h",
        "SELECT h AS c0, a AS c1 FROM t WHERE ts > NOW() - '4 microseconds'::interval",
        f"SELECT COUNT(*) FILTER (WHERE {SOON}) AS c0, MAX(a) FILTER (WHERE {LATE}) AS c1 FROM s",
        f"SELECT COUNT(*) FILTER (WHERE {SOON} AND a > 0) AS c0 FROM t WHERE h = 1",
        f"SELECT h AS c0, SUM(a) FILTER (WHERE {SOON}) AS c1 FROM s GROUP BY h",
        f"SELECT h AS c0, SUM(CASE WHEN {SOON} THEN a ELSE 0 END) AS c1 FROM s GROUP BY h",
        f"SELECT h AS c0, SUM(CASE WHEN {SOON} THEN a ELSE 0.0 END) AS c1 FROM s GROUP BY h",
    ],
)
def test_what_was_refused_is_duckdbs(text: str) -> None:
    names = tuple(name for name in ("c0", "c1", "c2") if f" AS {name}" in text)
    assert "refused" not in compare_text(text, names, Random(4))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT h AS c0 FROM r EXCEPT SELECT h FROM s",
        "SELECT h AS c0, g AS c1 FROM r WHERE g = 'x' EXCEPT SELECT h, g FROM t WHERE a > 0",
    ],
)
def test_what_is_registered_but_for_what_came_is_bounded(text: str) -> None:
    names = ("c0", "c1") if "c1" in text else ("c0",)
    told = [compare_text(text, names, Random(seed)) for seed in range(6)]
    assert {one.partition(",")[0] for one in told} == {"window-bounded"}
    assert any("True" in one for one in told)


def test_which_rows_are_the_first_is_known_by_the_keys_of_groups() -> None:
    known = f"SELECT h, COUNT(*) AS n FROM s WHERE {KNOWN} GROUP BY h"
    joined = f"SELECT x.h AS c0, x.n AS c1, r.a AS c2 FROM ({known}) x JOIN r ON {{}} = x.h "
    joined += "ORDER BY x.n DESC, x.h LIMIT 1"
    assert "refused" not in compare_text(joined.format("r.h"), ("c0", "c1", "c2"), Random(3))
    text = "SELECT n AS h, h AS z FROM ({}) x ORDER BY {} LIMIT 1"
    assert "refused" not in compare_text(text.format(GROUPS, "z"), ("h", "z"), Random(1))


def test_groups_of_rows_that_begin_later_have_a_group_of_null() -> None:
    older = "SELECT h, SUM(a) AS v FROM s WHERE ts <= NOW() - INTERVAL '3' MICROSECOND GROUP BY h"
    text = f"SELECT x.h AS c0, y.v AS c1 FROM ({GROUPS}) x LEFT JOIN ({older}) y "
    text += "ON x.h IS NOT DISTINCT FROM y.h"
    told = [compare_text(text, ("c0", "c1"), Random(seed)) for seed in range(12)]
    assert all("refused" not in one for one in told)


def test_the_latest_rows_beside_a_window_that_waits_are_read() -> None:
    window = "ts > NOW() - INTERVAL '3' MICROSECOND AND ts <= NOW() - INTERVAL '2' MICROSECOND"
    rows = f"({NEWEST}) l LEFT JOIN (SELECT h FROM t WHERE {window}) y ON y.h = l.h"
    for shown in ("l.h AS c0, y.h AS c1 FROM {}", "l.h AS c0, COUNT(*) AS c1 FROM {} GROUP BY l.h"):
        told = compare_text(f"SELECT {shown.format(rows)}", ("c0", "c1"), Random(1))
        assert "refused" not in told
    groups = f"({BY_VALUE}) l LEFT JOIN (SELECT h FROM t WHERE {window}) y ON y.h = l.a"
    told = compare_text(f"SELECT l.a AS c0, y.h AS c1 FROM {groups}", ("c0", "c1"), Random(1))
    assert "refused" not in told
