"""Rows in runs of equal keys, against plain loops."""

from itertools import accumulate
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.columnar.runs import (
    order_rows,
    running_greatest,
    running_least,
    running_sums,
)

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
WHOLE = st.integers(-5, 5) | st.integers(LEAST, GREATEST) | st.sampled_from([LEAST, GREATEST])
DENSE = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.5])


def columns(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    """Runs of values, none empty."""
    return st.lists(st.lists(values, min_size=1, max_size=6), max_size=6)


def flat(runs: list[list[Any]], kind: Any) -> tuple[Any, Any]:
    """All values, and where runs start."""
    first = [place == 0 for run in runs for place in range(len(run))]
    return np.array([v for run in runs for v in run], kind), np.array(first, dtype=np.bool_)


@given(st.lists(st.integers(0, 9)), st.sampled_from([10, 1 << 40, 1 << 61]))
def test_rows_in_order_of_keys(keys: list[int], size: int) -> None:
    found = order_rows(np.array(keys, dtype=np.int64) * (size // 10), size)
    assert found.tolist() == sorted(range(len(keys)), key=lambda row: keys[row])


@given(columns(WHOLE))
def test_running_sums(runs: list[list[int]]) -> None:
    values, first = flat(runs, np.int64)
    expected = [total for run in runs for total in accumulate(run)]
    wrapped = [(total - LEAST) % (1 << 64) + LEAST for total in expected]
    with np.errstate(over="ignore"):
        assert running_sums(values, first).tolist() == wrapped


@given(columns(WHOLE))
def test_running_extremes_of_whole_numbers(runs: list[list[int]]) -> None:
    values, first = flat(runs, np.int64)
    assert running_least(values, first).tolist() == [v for r in runs for v in accumulate(r, min)]
    assert running_greatest(values, first).tolist() == [v for r in runs for v in accumulate(r, max)]


@given(columns(DENSE))
def test_running_extremes_of_doubles(runs: list[list[float]]) -> None:
    values, first = flat(runs, np.float64)
    assert running_least(values, first).tolist() == [v for r in runs for v in accumulate(r, min)]
    assert running_greatest(values, first).tolist() == [v for r in runs for v in accumulate(r, max)]
