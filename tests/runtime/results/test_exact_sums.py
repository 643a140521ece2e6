"""Sums and means of doubles are exact, and rounded once."""

from fractions import Fraction
from math import fsum, inf, isnan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.results.exact_sums import round_digits, split_doubles

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def add_up(values: list[float], times: list[int], count: int = 1) -> float:
    digits = split_doubles(np.array(values), np.array(times, dtype=np.int64))
    totals = {place: np.array([column.sum()]) for place, column in digits.items()}
    return float(round_digits(totals, np.array([count], dtype=np.int64))[0])


def nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


@given(st.lists(NUMBERS, max_size=6))
def test_sums_are_exact(values: list[float]) -> None:
    total = sum(map(Fraction, values), Fraction(0))
    assert add_up(values, [1] * len(values)) == nearest(total)


@given(st.lists(st.tuples(NUMBERS, st.integers(1, 1000)), max_size=5), st.integers(1, 1 << 33))
def test_means_are_rounded_once(numbers: list[tuple[float, int]], count: int) -> None:
    total = sum((Fraction(v) * n for v, n in numbers), Fraction(0))
    made = add_up([v for v, _ in numbers], [n for _, n in numbers], count)
    assert made == nearest(total / count)


@pytest.mark.parametrize("seed", range(5))
def test_columns_in_any_order(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(0, 10.0 ** random.integers(-5, 6, 20_000))
    groups = random.integers(0, 50, 20_000)
    digits = split_doubles(values, np.ones(20_000, dtype=np.int64))
    totals = {p: np.bincount(groups, minlength=50) * 0 for p in digits}
    for place, column in digits.items():
        np.add.at(totals[place], groups, column)
    counts = np.bincount(groups, minlength=50)
    ones = np.ones(50, dtype=np.int64)
    sums, means = round_digits(totals, ones), round_digits(totals, counts)
    for group in range(50):
        mine = values[groups == group].tolist()
        Random(seed).shuffle(mine)
        assert sums[group] == fsum(mine)
        total = sum(map(Fraction, mine), Fraction(0))
        assert means[group] == float(total / len(mine))


def test_infinities() -> None:
    assert add_up([inf, 1.0], [1, 1]) == inf
    assert add_up([-inf, 1e308], [2, 1]) == -inf
    assert isnan(add_up([inf, -inf], [1, 1]))


def test_nothing() -> None:
    assert add_up([], []) == 0.0
    assert add_up([1e308, 1e308, -1e308], [1, 1, 1]) == 1e308
    assert add_up([5e-324, 5e-324], [1, 1], 3) == float(Fraction(2, 3) * Fraction(5e-324))
