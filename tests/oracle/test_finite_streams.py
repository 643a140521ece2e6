"""Finite streams: whole, and nothing after their end, against the oracle."""

from dataclasses import replace

import pytest

from ontoweir.mappings.model.catalog import Column, DataSource, IntType, Relation, Stream
from tests.oracle.random_queries import R, Tables
from tests.oracle.run_kernel import run_plans
from tests.oracle.test_kernel_against_oracle import _case, _check_run, _decide, _oracle


def _stream(name: str, start: int | None = None) -> Stream:
    columns = tuple(Column(c, IntType()) for c in ("a", "b"))
    return Stream(name, DataSource("parquet", None), "ts", 1, R, columns, start_us=start)


_END = "TIMESTAMP '1970-01-01 00:00:00.000003'"


@pytest.mark.parametrize(
    "condition",
    [
        # the end of s is implied by that of t
        "s.ts < t.ts AND t.ts <= {end}",
        "s.ts <= t.ts + INTERVAL '0.000001' SECOND AND t.ts <= {end}",
        "s.ts <= {end}",
    ],
)
def test_nothing_is_kept_after_an_implied_end(condition: str) -> None:
    markers = 60
    rows = [(m, -m, m) for m in range(markers)]
    case = _case(
        f"SELECT 1 AS one FROM s, t WHERE s.a <> t.a AND {condition.format(end=_END)}",
        [_stream("s", 0), _stream("t", 0)],
        {"s": (["a", "b", "ts"], rows), "t": (["a", "b", "ts"], rows)},
    )
    _, plans = _decide(case)
    assert plans
    chunks = [(m, m) for m in range(markers)]
    _check_run(case, plans, chunks, _oracle(case))
    _, sizes = run_plans(plans, case.catalog, case.data, chunks)
    assert sizes[-1] <= max(sizes[:6])


def _until(step: int) -> str:
    return f"TIMESTAMP '1970-01-01 00:00:00.{step:06d}'"


def _check_bound(sql: str, streams: list[Stream], data: Tables, *relations: Relation) -> None:
    case = _case(sql, streams, data, relations)
    _, plans = _decide(case)
    assert all(p.bound.rows is not None for p in plans)
    _check_run(case, plans, [(m, m) for m in range(case.markers)], _oracle(case))


def test_a_long_finite_stream_is_not_as_short_as_one_it_joins() -> None:
    rows = [(m * 3 + i, i, m) for m in range(50) for i in range(3)]
    _check_bound(
        f"SELECT t.a FROM s, t, u WHERE s.a = t.a AND t.ts <= {_until(40)} "
        f"AND s.ts >= {_until(35)} AND s.ts <= {_until(36)}",
        [_stream(n, 0) for n in "stu"],
        {n: (["a", "b", "ts"], rows) for n in "stu"},
    )


def test_a_key_of_a_long_finite_stream_has_values_that_a_short_one_lacks() -> None:
    rows = [(m * 3 + i, m * 3 + i, m) for m in range(50) for i in range(3)]
    _check_bound(
        f"SELECT t.b FROM s, t, u WHERE s.a = t.a AND t.ts <= {_until(40)} "
        f"AND s.ts >= {_until(35)} AND s.ts <= {_until(36)} AND t.ts < u.ts",
        [
            replace(_stream("s", 0), max_per_timestamp=1),
            replace(_stream("t", 0), keys=(("a", "ts"),)),
            _stream("u", 0),
        ],
        {n: (["a", "b", "ts"], rows[::3] if n == "s" else rows) for n in "stu"},
    )


def test_one_tuple_of_a_finite_stream_meets_many_static_rows() -> None:
    relation = Relation(
        "r",
        DataSource("parquet", None),
        (Column("k", IntType()), Column("v", IntType())),
        max_rows=5,
    )
    rows = [(m, m, m) for m in range(5)]
    _check_bound(
        f"SELECT DISTINCT r.v FROM s, r, t WHERE s.a <= r.k AND s.ts <= {_until(0)} "
        "AND s.ts < t.ts",
        [replace(_stream(n, 0), max_per_timestamp=1) for n in "st"],
        {
            **{n: (["a", "b", "ts"], rows) for n in "st"},
            "r": (["k", "v"], [(k, k) for k in range(5)]),
        },
        relation,
    )
