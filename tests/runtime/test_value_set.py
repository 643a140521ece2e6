"""Values looked up in sets, against Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.columnar.value_set import value_set

LEAST, MOST = -(1 << 63), (1 << 63) - 1
NEAR = st.integers(-9, 9)
FAR = st.sampled_from([LEAST, LEAST + 1, MOST - 1, MOST])


@given(st.lists(NEAR) | st.lists(NEAR | FAR), st.lists(NEAR | FAR), st.sampled_from([0, LEAST + 9]))
def test_whole_numbers(among: list[int], column: list[int], base: int) -> None:
    """Also where differences overflow."""
    moved = [n + base if -9 <= n <= 9 else n for n in among]
    asked = [n + base if -9 <= n <= 9 else n for n in column] + column
    held = value_set(np.array(moved, dtype=np.int64)).holds(np.array(asked, dtype=np.int64))
    assert held.tolist() == [n in set(moved) for n in asked]


@pytest.mark.parametrize("among", [[], [0.5, 2.0], [1, 3]])
def test_doubles(among: list[float]) -> None:
    column = np.array([0.5, 1.0, 2.0, 2.5])
    held = value_set(np.array(among)).holds(column)
    assert held.tolist() == [n in among for n in column.tolist()]
