"""UNION, UNION ALL, EXCEPT and INTERSECT of groups of windows, rows of windows, what is joined of
them and rows of a register that are, or are not, beside others: their changes and snapshots,
replayed in ranges and live, as DuckDB answers the same text at every time, with NOW() as that time.
"""

from random import Random

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text
from tests.oracle.test_composed_groups import COUNTED, LATEST, WITHIN


def _window(random: Random, alias: str) -> str:
    return f"{alias}.ts > NOW() - INTERVAL '{random.randint(1, 6)}' MICROSECOND"


def _draw_side(random: Random) -> str:
    table, within = random.choice("st"), _window(random, "v")
    call = random.choice(["COUNT(*)", "SUM(v.a)", "MAX(v.a)", "COUNT(DISTINCT v.a) + 1"])
    having = random.choice(["", "", " HAVING COUNT(*) > 1"])
    groups = f"SELECT v.h AS c0, {call} AS c1 FROM {table} AS v WHERE {within} GROUP BY v.h{having}"
    no = random.choice(["NOT ", "NOT ", ""])
    return random.choice(
        [
            groups,
            groups,
            f"SELECT v.h AS c0, v.a AS c1 FROM {table} AS v WHERE {within}",
            f"SELECT DISTINCT v.h AS c0, 1 AS c1 FROM {table} AS v WHERE {within}",
            f"SELECT COUNT(*) AS c0, SUM(v.a) AS c1 FROM {table} AS v WHERE {within}",
            f"SELECT x.c0, x.c1 - u.a AS c1 FROM ({groups}) AS x JOIN r AS u ON u.h = x.c0",
            f"SELECT x.c0, y.a AS c1 FROM ({groups}) AS x LEFT JOIN {LATEST} AS y ON y.h = x.c0",
            (
                f"SELECT r.h AS c0, r.a AS c1 FROM r WHERE {no}EXISTS (SELECT 1 FROM {table} AS v "
                f"WHERE v.h = r.h AND {within})"
            ),
        ]
    )


def make_union(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    text = _draw_side(random)
    for _ in range(random.choice([1, 1, 2])):
        text += f" {random.choice(['UNION ALL', 'UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'])} "
        text += _draw_side(random)
    around = random.random()
    if around < 0.2:
        return f"SELECT c0, COUNT(*) AS c1 FROM ({text}) AS q GROUP BY c0", ("c0", "c1")
    if around < 0.3:
        return f"SELECT q.c1, u.a AS c2 FROM ({text}) AS q JOIN r AS u ON u.h = q.c0", ("c1", "c2")
    return text, ("c0", "c1")


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    return compare_text(*make_union(random), random)


@budget(0.2)
@given(seed=SEEDS)
def test_what_is_united_is_duckdbs(seed: int) -> None:
    event(check(seed))


RECENT = "ts > NOW() - INTERVAL '5' MICROSECOND"
NESTED = (
    f"SELECT k AS c0 FROM (SELECT a AS k FROM s WHERE {RECENT}) AS x "
    f"INTERSECT SELECT k FROM (SELECT a AS k FROM t WHERE {RECENT}) AS y"
)


@pytest.mark.parametrize("text", [NESTED, f"SELECT q.c0 AS c0 FROM ({NESTED}) AS q"])
def test_null_is_in_both_sides_of_intersect(text: str) -> None:
    told = [compare_text(text, ("c0",), Random(seed)) for seed in range(3)]
    assert all(one.startswith("window-bounded") for one in told), told


SHORT = "ts > NOW() - INTERVAL '2' MICROSECOND"
OFTEN = f"SELECT s.h AS c0, 'often' AS c1 FROM s WHERE {WITHIN} GROUP BY s.h HAVING COUNT(*) > 1"
SILENT = f"NOT EXISTS (SELECT 1 FROM s WHERE s.h = r.h AND {WITHIN})"
SINGLE = [
    f"{OFTEN} UNION ALL SELECT r.h AS c0, 'silent' AS c1 FROM r WHERE {SILENT}",
    f"SELECT x.h AS c0 FROM (SELECT r.h FROM r WHERE {SILENT}) AS x JOIN {COUNTED} AS y ON TRUE",
    f"SELECT b AS c0 FROM t WHERE {SHORT} UNION ALL SELECT SUM(b) FROM s WHERE {SHORT} GROUP BY h",
    f"SELECT b AS c0 FROM t WHERE {SHORT} UNION SELECT COUNT(*) FROM s WHERE {SHORT} GROUP BY h",
    f"WITH x AS {COUNTED} SELECT h AS c0, n AS c1 FROM x UNION SELECT n AS c0, h AS c1 FROM x",
]
QUIET = f"NOT EXISTS (SELECT 1 FROM s WHERE s.h = r.h AND s.{SHORT})"
MANY = f"SELECT h AS c0, COUNT(*) AS c1 FROM t WHERE {SHORT} GROUP BY h"
LATER = [
    f"SELECT r.h AS c0, r.a AS c1 FROM r WHERE {QUIET} UNION ALL {MANY}",
    f"SELECT x.h AS c0, c1 FROM (SELECT h FROM r WHERE {QUIET}) x LEFT JOIN ({MANY}) y ON c0 = x.h",
]


@pytest.mark.parametrize("text", LATER)
def test_parts_begin_with_the_first_row_of_any_stream(text: str) -> None:
    told = [compare_text(text, ("c0", "c1"), Random(seed)) for seed in (10, 12, 17, 18)]
    assert all(one.startswith("window-bounded") for one in told), told


LONG = "SELECT h, a FROM s WHERE ts > NOW() - INTERVAL '6' MICROSECOND"
SETS = [
    f"SELECT h AS c0, a AS c1 FROM t WHERE {SHORT} UNION {LONG}",
    f"SELECT DISTINCT h AS c0, 1 AS c1 FROM ({LONG} UNION ALL SELECT h, 2 FROM s WHERE {SHORT}) q",
]


@pytest.mark.parametrize("text", SETS)
def test_sets_of_windows_of_several_lengths(text: str) -> None:
    told = [compare_text(text, ("c0", "c1"), Random(seed)) for seed in range(3)]
    assert all(one.startswith("window-bounded") for one in told), told


@pytest.mark.parametrize("text", SINGLE)
def test_what_was_refused_is_duckdbs(text: str) -> None:
    names = ("c0", "c1") if " AS c1" in text else ("c0",)
    assert "refused" not in compare_text(text, names, Random(len(text)))
