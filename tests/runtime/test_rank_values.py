"""Ranked values compare with every breakpoint as the values they stand for do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.checker.model.plan import Break, Grid, Points
from ontoweir.runtime.kernel.bucket_values import NO_POINT, bucket_values

_GRIDS = st.builds(
    lambda first, count, step: Grid(first, first + count * step, step),
    st.integers(-20, 20),
    st.integers(-1, 6),
    st.integers(1, 4),
)
_POINTS = st.lists(st.integers(-25, 25), max_size=5).map(
    lambda numbers: Points(np.unique(np.array(numbers, dtype=np.int64)))
)
_BREAKS = st.lists(st.one_of(_GRIDS, _POINTS), min_size=1, max_size=3)
_DENSE = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-30, 60).map(lambda n: n / 2),
    st.integers(-25, 25).map(lambda n: float(np.nextafter(n, 99))),
    st.integers(-25, 25).map(lambda n: float(np.nextafter(n, -99))),
)


def _numbers(breaks: list[Break]) -> list[int]:
    found: set[int] = set()
    for at in breaks:
        if isinstance(at, Grid):
            found.update(range(int(at.first), int(at.last) + 1, at.step))
        elif isinstance(at, Points):
            found.update(at.numbers.tolist())
    return sorted(found)


@pytest.mark.parametrize("dense", [False, True])
@given(data=st.data(), breaks=_BREAKS)
def test_every_comparison_comes_out_alike(
    dense: bool, data: st.DataObject, breaks: list[Break]
) -> None:
    values = data.draw(st.lists(_DENSE if dense else st.integers(-40, 40), min_size=1))
    column = np.array(values, dtype=np.float64 if dense else np.int64)
    ranked = bucket_values(column, breaks, text=False)
    points = _numbers(breaks)
    for point in points:
        assert ((column < point) == (ranked < point)).all()
        assert ((column <= point) == (ranked <= point)).all()
        assert ((column == point) == (ranked == point)).all()
    assert len(np.unique(ranked)) <= 2 * len(points) + 1
    assert (bucket_values(ranked, breaks, text=False) == ranked).all()


@given(numbers=st.lists(st.integers(0, 40).map(lambda n: n / 4), min_size=1))
def test_whole_numbers_among_fractions(numbers: list[float]) -> None:
    column = np.arange(-2, 12)
    ranked = bucket_values(column, [Points(np.unique(np.array(numbers)))], text=False)
    for point in numbers:
        assert ((column < point) == (ranked < point)).all()
        assert ((column <= point) == (ranked <= point)).all()


def test_great_numbers() -> None:
    """Doubles that division would put on the wrong side."""
    grid = Grid(2**52 + 1, 2**52 + 301, 3)
    column = np.arange(2**52 - 2, 2**52 + 310, dtype=np.float64)
    ranked = bucket_values(column, [grid], text=False)
    for point in range(2**52 + 1, 2**52 + 302, 3):
        assert ((column < point) == (ranked < point)).all()
        assert ((column == point) == (ranked == point)).all()


def test_strings_are_a_breakpoint_or_none() -> None:
    codes = np.array([3, 5, 7, 3])
    assert bucket_values(codes, [Points(np.array([3, 4]))], text=True).tolist() == [
        3,
        NO_POINT,
        NO_POINT,
        3,
    ]


@pytest.mark.parametrize(
    ("first", "last", "step"),
    [
        (-(10**28), 10**28, 10**18),
        (10**28, 10**29, 1),
        (-(10**29), -(10**28), 1),
        (-(1 << 63), (1 << 63) - 1, 1),
        ((1 << 63) - 2, (1 << 63) + 5, 1),
        (-(1 << 63) - 3, -(1 << 63) + 1, 2),
        (-5, 10**30, 10**29),
    ],
)
def test_grids_beyond_64_bits(first: int, last: int, step: int) -> None:
    """Numbers are told apart as Python's whole numbers tell them."""
    edges = (-(1 << 63), -(1 << 63) + 1, -(10**18), -1, 0, 1, 10**18, (1 << 63) - 2, (1 << 63) - 1)
    column = np.array(edges, dtype=np.int64)
    ranked = bucket_values(column, [Grid(first, last, step)], text=False).tolist()

    def place(number: int) -> tuple[int, bool]:
        index = min((number - first) // step, (last - first) // step)
        return max(index, -1), index < 0 or first + index * step == number

    for a, mine in zip(edges, ranked, strict=True):
        for b, other in zip(edges, ranked, strict=True):
            if place(a) != place(b):
                assert mine != other
                assert (mine < other) == (a < b)
            elif place(a)[0] >= 0 and place(a)[1]:
                assert mine == other
