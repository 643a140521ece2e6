"""Timestamps in their order, by merging and by counting."""

import numpy as np
import pytest

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.read_ordered import find_order

ROWS = 20_000
SECOND = 1_000_000


def _times(late: int, unit: int, noise: int, each: int = 10) -> Array:
    draw = np.random.default_rng(7)
    times = np.arange(ROWS) // each * unit + draw.integers(0, noise + 1, ROWS) - 5 * unit
    return times[np.argsort(times + draw.integers(0, late * unit + 1, ROWS))]


@pytest.mark.parametrize("late", [0, 1, 10, 3000])
@pytest.mark.parametrize(
    ("unit", "noise", "each"),
    [(SECOND, 0, 10), (SECOND, 3, 10), (1, 0, 10), (SECOND, 0, 1), (SECOND // 10, 0, 1)],
)
def test_equal_times_stay_as_they_come(late: int, unit: int, noise: int, each: int) -> None:
    """Also where times lie between steps, and where there are more steps than are counted."""
    times = _times(late, unit, noise, each)
    for grid in (unit, 7, 1):
        assert (find_order(times, grid) == np.argsort(times, kind="stable")).all()


def test_more_steps_than_are_counted() -> None:
    times = np.concatenate([_times(10, SECOND, 0), np.array([1 << 40, 3 * SECOND])])
    assert (find_order(times, SECOND) == np.argsort(times, kind="stable")).all()


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows(rows: int) -> None:
    assert find_order(np.arange(rows)[::-1].copy(), SECOND).tolist() == [*range(rows)][::-1]
