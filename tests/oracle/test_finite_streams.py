"""Finite streams: whole, and nothing after their end, against the oracle."""

import pytest

from ontoweir.mappings.catalog import Column, DataSource, IntType, Stream
from tests.oracle.random_queries import R
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
