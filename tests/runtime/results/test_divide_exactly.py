"""Quotients are the nearest doubles, however great the numbers are."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.results.divide_exactly import divide, halve, interpolate

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


@given(st.lists(st.tuples(WHOLE, WHOLE, st.fractions(0, 1))), UNIT, st.integers(1, 1 << 50))
def test_interpolate(rows: list[tuple[int, int, Fraction]], unit: int, whole: int) -> None:
    shares = [min(int(part * whole), whole - 1) for _, _, part in rows]
    low, high = (np.array([r[i] for r in rows], dtype=np.int64) for i in (0, 1))
    made = interpolate(low, high, np.array(shares, dtype=np.int64), whole, unit)
    each = zip(rows, shares, strict=True)
    expected = [float((a + (b - a) * Fraction(s, whole)) / unit) for (a, b, _), s in each]
    assert made.tolist() == expected


DOUBLE = st.floats(allow_nan=False) | st.sampled_from([float("inf"), -float("inf"), 1e308, -1e308])


@given(DOUBLE, DOUBLE, st.integers(0, 7))
def test_between_doubles_nothing_is_outside(one: float, other: float, share: int) -> None:
    low, high = sorted((one, other))
    sides = (np.array([low]), np.array([high]), np.array([share]))
    (made,) = interpolate(*sides, 8, 1).tolist()
    if low == -float("inf") and high == float("inf") and share:
        assert made != made  # between both infinities is no number
    else:
        assert low <= made <= high
