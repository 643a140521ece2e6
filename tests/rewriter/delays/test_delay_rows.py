"""Rows with delays and without windows, as rows of a stream of later times."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Reference,
    Relation,
    Stream,
)
from ontoweir.rewriter.model.spj import Compare, SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql

NONE = DataSource("parquet", "none")
SECOND = 1_000_000
COLUMNS = (Column("k", IntType(), minimum=0, maximum=9), Column("at", IntType()))
CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            NONE,
            "ts",
            SECOND,
            5,
            COLUMNS,
            (("k", "ts"),),
            (Reference(("k",), "r", ("id",)),),
        ),
        "t": Stream("t", NONE, "ts", SECOND, 5, COLUMNS),
    },
    {"r": Relation("r", NONE, (Column("id", IntType()),), (("id",),), max_rows=7)},
)
LATE = "s.ts <= NOW() - INTERVAL '10' SECOND"


def read(sql: str) -> SpjUnion:
    return parse_sql(sql, CATALOG, name="q", file="q.sql")


def test_late_rows_keep_what_is_declared_and_are_compared_as_of_the_later_time() -> None:
    union = read(f"SELECT s.k FROM s, t WHERE {LATE} AND t.ts <= s.ts AND s.at = t.k")
    (block,) = union.blocks
    stream = block.stream
    assert (stream.name, stream.timestamp) == ("s 10 seconds later", "ts")
    assert (stream.max_per_timestamp, stream.keys) == (5, (("k", "ts"),))
    # `at` is when answers are there
    assert [c.name for c in stream.columns] == ["at of the row", "k"]
    assert stream.references == (Reference(("k",), "r", ("id",)),)
    assert union.begins == ()
    (query,) = union.disjuncts
    shown = [
        f"{c.left} {c.op} {c.right} {c.offset}" for c in query.conditions if isinstance(c, Compare)
    ]
    assert "t.ts <= s.ts -10" in shown


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT s.k FROM s WHERE {LATE}",  # the answer itself begins later
        f"SELECT s.k FROM s, r WHERE s.k = r.id AND {LATE}",
        f"SELECT s.k FROM s, t WHERE s.ts = t.ts AND {LATE}",
        f"SELECT DISTINCT s.k FROM s WHERE {LATE} AND s.ts > NOW() - INTERVAL '1' MINUTE",
    ],
)
def test_twin_answers_that_say_when_they_begin_wait_for_nothing(sql: str) -> None:
    union = read(sql)
    assert union.blocks == ()
    assert union.begins == ("window begins 1",)


def test_twin_a_delay_on_a_grid_is_not_always_equally_long() -> None:
    grid = "s.ts < date_trunc('minute', NOW())"
    block, _ = read(f"SELECT s.k, COUNT(*) AS n FROM s WHERE {grid} GROUP BY s.k").blocks
    assert block.stream.name == "s later"
    assert block.stream.keys == ()
    assert block.stream.max_per_timestamp == 5 * 60
    with pytest.raises(QueryError, match="has a delay on a grid and no window"):
        read(f"SELECT s.k FROM s, t WHERE {grid} AND t.ts <= s.ts")


def test_what_nobody_compares_may_be_null() -> None:
    union = read(f"SELECT s.k, SUM(s.at) AS n FROM s WHERE {LATE} GROUP BY s.k")
    nulls = [len(block.union.disjuncts) for block in union.blocks]
    assert nulls == [2, 2]  # of a row with a key, and without
