"""Quotients are the nearest doubles, however great the numbers are."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.results.divide_exactly import divide, halve

WHOLE = st.integers(-9, 9) | st.integers(-(1 << 63), (1 << 63) - 1)
UNIT = st.sampled_from([1, 100, 10**9, 10**18])


@given(st.lists(st.tuples(WHOLE, st.integers(1, 1 << 40) | st.integers(1, 3))), UNIT)
def test_divide(pairs: list[tuple[int, int]], unit: int) -> None:
    above, below = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    expected = [float(Fraction(a, b * unit)) for a, b in pairs]
    assert divide(above, below, unit).tolist() == expected


@given(st.lists(st.tuples(WHOLE, WHOLE)), UNIT)
def test_halve(pairs: list[tuple[int, int]], unit: int) -> None:
    low, high = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    expected = [float(Fraction(a + b, 2 * unit)) for a, b in pairs]
    assert halve(low, high, unit).tolist() == expected
