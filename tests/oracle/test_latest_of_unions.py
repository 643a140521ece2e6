"""The latest rows of each key, of the rows of several streams: what holds at every time is what
DuckDB finds, live, replayed in ranges, as snapshots, within the bound."""

from random import Random

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text


def make_text(random: Random) -> str:
    """A query of columns c0 and c1."""

    def side(table: str) -> str:
        more = random.choice(["", "", f" AND {random.choice('ab')} > 0"])
        value = random.choice("ab")
        return f"SELECT h AS k, ts AS seen, {value} AS v FROM {table} WHERE h IS NOT NULL{more}"

    tables = random.choice(["st", "st", "ss", "sts"])
    rows = f"({' UNION ALL '.join(map(side, tables))}) x"
    kept = random.choice(["", "", " WHERE v < 3"])
    number = "RANK() OVER (PARTITION BY k ORDER BY seen DESC)"
    if random.random() < 0.5:
        return f"SELECT k AS c0, v AS c1 FROM {rows}{kept} QUALIFY {number} = 1"
    numbered = f"SELECT k, v, {number} AS n FROM {rows}{kept}"
    return f"SELECT y.k AS c0, y.v AS c1 FROM ({numbered}) y WHERE n = 1"


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    return compare_text(make_text(random), ("c0", "c1"), random)


@budget(0.2)
@given(seed=SEEDS)
def test_the_latest_of_several_streams_are_duckdbs(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize("seed", range(6))
def test_they_are_read(seed: int) -> None:
    text = (
        "SELECT k AS c0, v AS c1 FROM (SELECT h AS k, ts, a AS v FROM s WHERE h IS NOT NULL UNION "
        "ALL SELECT h, ts, b FROM t WHERE h IS NOT NULL) x QUALIFY RANK() OVER (PARTITION BY k "
        "ORDER BY ts DESC) = 1"
    )
    assert "bounded" in compare_text(text, ("c0", "c1"), Random(seed))


@pytest.mark.parametrize("order", ["v DESC", "ts", "ts + INTERVAL '1' SECOND DESC"])
def test_in_another_order_they_are_not(order: str) -> None:
    rows = "SELECT h AS k, ts, a AS v FROM s UNION ALL SELECT h, ts, b FROM t"
    number = f"RANK() OVER (PARTITION BY k ORDER BY {order})"
    text = f"SELECT k AS c0, v AS c1 FROM ({rows}) x QUALIFY {number} = 1"
    assert compare_text(text, ("c0", "c1"), Random(1)).startswith("refused")
