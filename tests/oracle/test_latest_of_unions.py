"""The latest rows of each key, of the rows of several streams: what holds at every time is what
DuckDB finds, live, replayed in ranges, as snapshots, within the bound."""

from datetime import datetime
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given

import ontoweir as ow
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text
from tests.oracle.test_sql_nulls import CATALOG


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


def make_first(random: Random) -> str:
    """A query of the first rows in an order, of columns c0 to c2."""

    def side(number: int, table: str) -> str:
        value = random.choice("ab")
        return f"SELECT h AS k, ts AS seen, {value} AS v, {number} AS w FROM {table}"

    tables = random.choice(["st", "st", "ss", "sts"])
    rows = f"({' UNION ALL '.join(side(n, t) for n, t in enumerate(tables))}) x"
    ways = ["", " DESC"]
    nulls = [" NULLS FIRST", " NULLS LAST"]
    columns = random.choice([["seen"], ["v"], ["v", "seen"], ["seen", "v"]])
    call = random.choice(["ROW_NUMBER()", "ROW_NUMBER()", "RANK()"])
    if call == "ROW_NUMBER()":  # no two rows are equal in it that differ
        others = [c for c in ("seen", "v", "w", "k") if c not in columns]
        columns = [*columns, *random.sample(others, k=len(others))]
    order = ", ".join(c + random.choice(ways) + random.choice(nulls) for c in columns)
    key = random.choice(["k", "k", "w", "k, w"])
    kept = random.choice(["", "", " WHERE v < 2", " WHERE k IS NOT NULL"])
    number = f"{call} OVER (PARTITION BY {key} ORDER BY {order})"
    if random.random() < 0.5:
        return f"SELECT k AS c0, v AS c1, w AS c2 FROM {rows}{kept} QUALIFY {number} = 1"
    numbered = f"SELECT k, v, w, {number} AS n FROM {rows}{kept}"
    return f"SELECT y.k AS c0, y.v AS c1, y.w AS c2 FROM ({numbered}) y WHERE n = 1"


def check_first(seed: int) -> str:
    random = Random(seed)
    return compare_text(make_first(random), ("c0", "c1", "c2"), random)


@budget(0.2)
@given(seed=SEEDS)
def test_the_first_of_several_streams_are_duckdbs(seed: int) -> None:
    event(check_first(seed))


@pytest.mark.parametrize("order", ["v DESC", "ts", "ts DESC, v", "ts DESC"])
def test_in_another_order_they_are_the_first(order: str) -> None:
    rows = "SELECT h AS k, ts, a AS v FROM s UNION ALL SELECT h, ts, b FROM t"
    number = f"RANK() OVER (PARTITION BY k ORDER BY {order} NULLS LAST)"
    text = f"SELECT k AS c0, v AS c1 FROM ({rows}) x WHERE k IS NOT NULL QUALIFY {number} = 1"
    assert "bounded" in compare_text(text, ("c0", "c1"), Random(1))


@pytest.mark.parametrize("order", ["v + 1", "ts + INTERVAL '1' SECOND DESC"])
def test_in_the_order_of_what_is_computed_they_are_not(order: str) -> None:
    rows = "SELECT h AS k, ts, a AS v FROM s UNION ALL SELECT h, ts, b FROM t"
    number = f"RANK() OVER (PARTITION BY k ORDER BY {order})"
    text = f"SELECT k AS c0, v AS c1 FROM ({rows}) x QUALIFY {number} = 1"
    assert compare_text(text, ("c0", "c1"), Random(1)).startswith("refused")


def test_of_rows_that_are_equal_it_is_said_which_is_the_first() -> None:
    text = (
        "SELECT k, v FROM (SELECT h AS k, ts, a AS v FROM s UNION ALL SELECT h, ts, b FROM t) x "
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1"
    )
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert union.ties == (
        "rows that are equal in ORDER BY ts DESC follow each other by the side of UNION ALL, k, v",
    )


def test_of_rows_that_are_equal_the_first_side_and_null_come_first(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1)
    for name, values in (("s", [1, None]), ("t", [0, None])):
        rows = {"ts": pa.array([now] * 2, pa.timestamp("us")), "k": ["a", "a"], "v": values}
        pq.write_table(pa.table(rows), tmp_path / f"{name}.parquet")
    declared = """[streams.{0}]
source = {{ format = "parquet", path = "{0}.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 2
columns = {{ k = {{ type = "string", enum = ["a"] }}, v = {{ type = "int", nullable = true }} }}
"""
    catalog = "".join(declared.format(name) for name in "st")
    (tmp_path / "ontoweir.toml").write_text(f"[project]\nqueries = []\n{catalog}")
    text = (
        "SELECT k, v, w FROM (SELECT k, ts, v, 1 AS w FROM s UNION ALL SELECT k, ts, v, 0 FROM t) "
        "x QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1"
    )
    (row,) = ow.open(tmp_path).replay(text, engine="driver").to_arrow().to_pylist()
    assert (row["k"], row["v"], row["w"]) == ("a", None, 1)
