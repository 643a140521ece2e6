"""Groups from marker to marker: exact numbers, and only what changed is told."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from ontoweir.errors import RunError
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.results.update_groups import Deltas, GroupState, update_groups

AVG = Aggregate("a", AggregateFunction.AVG, "v")
MIN = Aggregate("a", AggregateFunction.MIN, "v")
MEDIAN = Aggregate("a", AggregateFunction.MEDIAN, "v")


def deltas(*rows: tuple[int, int, int, int], column: str = "s") -> Deltas:
    """Rows of (group, marker, value, how often)."""
    code, at, value, weight = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    columns: dict[tuple[str, ...], NDArray[np.int64]] = {(column, "v"): value}
    if column != "min":
        columns[("w",)] = weight
    return Deltas(code, at, columns)


def test_an_average_is_the_exact_quotient_rounded_once() -> None:
    large = (1 << 61) - 1
    _, _, shown, state = update_groups(
        [AVG], {"v": 0}, [("g",)], [deltas((0, 1, large, 3))], GroupState()
    )
    assert shown["a"].values.tolist() == [float(Fraction(large, 3))]
    assert state.groups[("g",)] == {("s", "v"): large, ("w",): 3}
    _, _, shown, _ = update_groups([AVG], {"v": 2}, [("g",)], [deltas((0, 1, 10, 3))], GroupState())
    assert shown["a"].values.tolist() == [float(Fraction(10, 300))]


def test_what_does_not_change_is_not_told() -> None:
    parts = [deltas((0, 1, 4, 2), (0, 2, 2, 1), (0, 3, 9, 1), (1, 3, 1, 1))]
    code, at, shown, state = update_groups([AVG], {"v": 0}, [("g",), ("h",)], parts, GroupState())
    assert list(zip(code.tolist(), at.tolist(), shown["a"].values.tolist(), strict=True)) == [
        (0, 1, 2.0),
        (0, 3, 15 / 4),
        (1, 3, 1.0),
    ]
    # not across chunks either
    code, at, _, _ = update_groups([AVG], {"v": 0}, [("h",)], [deltas((0, 4, 1, 1))], state)
    assert code.tolist() == []


def test_a_minimum_starts_from_what_is_known() -> None:
    state = GroupState({("g",): {("min", "v"): 5}})
    parts = [deltas((0, 7, 6, 1), (0, 8, 4, 1), (0, 9, 7, 1), column="min")]
    _, at, shown, after = update_groups([MIN], {"v": 0}, [("g",)], parts, state)
    assert (at.tolist(), shown["a"].values.tolist()) == ([8], [4])
    assert after.groups[("g",)] == {("min", "v"): 4}


def test_a_median_of_an_even_number_is_between_two_values() -> None:
    parts = [deltas((0, 1, 1, 1), (0, 1, 4, 1), (0, 2, 4, 1), (0, 3, -3, 2), column="hist")]
    _, at, shown, after = update_groups([MEDIAN], {"v": 0}, [("g",)], parts, GroupState())
    assert list(zip(at.tolist(), shown["a"].values.tolist(), strict=True)) == [
        (1, 2.5),
        (2, 4.0),
        (3, 1.0),
    ]
    assert after.groups[("g",)][("hist", "v")] == {-3: 2, 1: 1, 4: 2}
    assert after.rows == 1 + 3


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    parts = [deltas(*((0, m, 1 << 61, 1) for m in range(4)))]
    with pytest.raises(RunError, match=r"does not fit 64 bits at 1970-01-01T00:00:00.000003"):
        update_groups([AVG], {"v": 0}, [("g",)], parts, GroupState())


def test_only_a_sum_that_does_not_fit_is_an_error() -> None:
    """Whatever chunks the data comes in: neither other groups nor what cancels out counts."""
    large = 3 << 60
    rows = [(g, m, large if m % 2 else -large, 1) for g in range(3) for m in range(1, 9)]
    groups = [(g,) for g in range(3)]
    for cut in (0, 5, 20):
        state, told = GroupState(), 0
        for part in (rows[:cut], rows[cut:]):
            if part:
                _, at, _, state = update_groups([AVG], {"v": 0}, groups, [deltas(*part)], state)
                told += len(at)
        assert [k[("s", "v")] for k in state.groups.values()] == [0, 0, 0]
        assert told == 24
