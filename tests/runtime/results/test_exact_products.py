"""Variances and covariances of doubles are exact quotients, rounded once."""

from fractions import Fraction
from math import inf, isnan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.results.exact_sums import add_doubles, round_variance
from ontoweir.runtime.results.measures import Measure
from tests.runtime.results.test_exact_sums import nearest

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.integers(1, 1 << 34)


def add_up(columns: list[list[float]], times: list[int], less: int = 0) -> float:
    names = ("x", "y")[: len(columns)]
    arrays = [np.array(column) for column in columns]
    weights = np.array(times, dtype=np.int64)
    function = AggregateFunction.VAR_POP if len(names) == 1 else AggregateFunction.COVAR_POP
    whole: dict[Measure, np.ndarray] = {}
    for row in range(len(times)):  # in chunks of one row, as those of a run may be
        chunk = [array[row : row + 1] for array in arrays]
        for name, digits in add_doubles(names, chunk, weights[row : row + 1], [function]).items():
            whole[name] = whole.get(name, 0) + digits
    if less:
        function = AggregateFunction.VAR_SAMP
    aggregate = Aggregate("a", function, names[0], second=names[1] if len(names) > 1 else None)
    made, valid = round_variance(whole, aggregate, weights.sum(keepdims=True))
    assert valid.all()
    return float(made[0])


def expected(columns: list[list[float]], times: list[int], less: int = 0) -> float:
    x, y = ([Fraction(v) for v in column] for column in (columns[0], columns[-1]))
    n = sum(times)
    means = [sum((v * k for v, k in zip(c, times, strict=True)), Fraction(0)) / n for c in (x, y)]
    parts = ((a - means[0]) * (b - means[1]) * k for a, b, k in zip(x, y, times, strict=True))
    return nearest(sum(parts, Fraction(0)) / (n - less))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, TIMES), min_size=1, max_size=5))
def test_they_are_rounded_once(rows: list[tuple[float, float, int]]) -> None:
    x, y, times = (list(column) for column in zip(*rows, strict=True))
    assert add_up([x], times) == expected([x], times)
    assert add_up([x, y], times) == expected([x, y], times)
    if sum(times) > 1:
        assert add_up([x], times, 1) == expected([x], times, 1)


@pytest.mark.parametrize("scale", [1e-320, 1e-160, 1.0, 1e150, 1e307])
def test_what_squares_would_lose(scale: float) -> None:
    """Where doubles' own squares are 0 or infinite, or their differences have no digits left."""
    values = [scale * v for v in (1.0, 1.0 + 2**-40, 1.0 - 2**-41)]
    assert add_up([values], [1, 2, 3]) == expected([values], [1, 2, 3])
    assert add_up([values, values[::-1]], [1, 2, 3]) == expected([values, values[::-1]], [1, 2, 3])
    small = [1.0, 3.0, 4.0]
    assert add_up([values, small], [1, 1, 1]) == expected([values, small], [1, 1, 1])


def test_the_order_does_not_matter() -> None:
    random = Random(7)
    values = [random.gauss(1e9, 1e-3) for _ in range(200)]
    made = add_up([values], [1] * 200, 1)
    for seed in range(3):
        Random(seed).shuffle(values)
        assert add_up([values], [1] * 200, 1) == made == expected([values], [1] * 200, 1)


def test_infinities_have_none() -> None:
    assert isnan(add_up([[inf, 1.0]], [1, 1]))
    assert isnan(add_up([[2.0, 1.0], [1.0, -inf]], [1, 1]))


def test_one_value() -> None:
    assert add_up([[0.1]], [1]) == 0.0
    assert add_up([[0.1]], [1 << 34], 1) == 0.0
