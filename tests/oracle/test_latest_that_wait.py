"""The latest, or the first, rows of keys beside a window that ends before NOW(), of which rows are
known before they are shown: what holds at every time is what DuckDB finds with that time as NOW(),
live, replayed in ranges, as snapshots."""

from random import Random

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text

ORDERS = (
    "RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1",
    "RANK() OVER (PARTITION BY h ORDER BY a DESC NULLS LAST, ts) <= 2",
    "DENSE_RANK() OVER (PARTITION BY h ORDER BY a NULLS FIRST, ts, b) <= 2",
)
NO_LATER = "NOT EXISTS (SELECT 1 FROM {0} y WHERE y.h = x.h AND y.ts > x.ts)"


def make_text(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    since = random.randint(1, 3)
    until = since + random.randint(1, 3)
    before = "ts <= NOW() - INTERVAL '{}' MICROSECOND AND ts > NOW() - INTERVAL '{}' MICROSECOND"
    window = f"{random.choice('st')} WHERE {before.format(since, until)}"
    table = random.choice("st")
    kept = f"SELECT h, a FROM {table} QUALIFY {random.choice(ORDERS)}"
    if random.random() < 0.3:
        kept = f"SELECT h, a FROM {table} x WHERE {NO_LATER.format(table)}"
    call = random.choice(["COUNT(*)", "SUM(a)", "MAX(a)"])
    groups = f"SELECT h, {call} AS n FROM {window} GROUP BY h"
    groups = random.choice([groups, f"SELECT h, a AS n FROM {window}"])
    on = random.choice(["l.h = w.h", "l.h = w.h AND l.a > w.n", "l.a = w.n"])
    side = random.choice(["", "", "LEFT ", "FULL ", "RIGHT "])
    joined = f"({kept}) l {side}JOIN ({groups}) w ON {on}"
    match random.randint(0, 4):
        case 0 | 1:
            return f"SELECT l.h AS c0, l.a AS c1, w.n AS c2 FROM {joined}", ("c0", "c1", "c2")
        case 2:
            text = f"SELECT l.a AS c0, COUNT(*) AS c1 FROM {joined} GROUP BY l.a"
        case 3:
            none = f"NOT EXISTS (SELECT 1 FROM ({groups}) w WHERE {on})"
            text = f"SELECT l.h AS c0, l.a AS c1 FROM ({kept}) l WHERE {none}"
        case _:
            rows = f"SELECT l.h AS c0, l.a AS c1 FROM ({kept}) l"
            text = f"{rows} UNION ALL SELECT w.h, w.n FROM ({groups}) w"
    return text, ("c0", "c1")


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    return compare_text(*make_text(random), random)


@budget(0.3)
@given(seed=SEEDS)
def test_the_latest_beside_windows_that_wait_are_duckdbs(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize("seed", range(6))
def test_the_latest_beside_the_mean_of_a_while_ago(seed: int) -> None:
    ago = "ts <= NOW() - INTERVAL '2' MICROSECOND AND ts > NOW() - INTERVAL '4' MICROSECOND"
    mean = f"SELECT h, AVG(a) AS n FROM t WHERE {ago} GROUP BY h"
    latest = f"SELECT h, a FROM s QUALIFY {ORDERS[0]}"
    text = f"SELECT l.h AS c0, l.a AS c1, w.n AS c2 FROM ({latest}) l JOIN ({mean}) w ON w.h = l.h"
    assert "bounded" in compare_text(text, ("c0", "c1", "c2"), Random(seed))
