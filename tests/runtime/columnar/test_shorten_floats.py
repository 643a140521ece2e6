"""Doubles with at most 15 digits: as Python writes and reads them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.columnar.encode import scale_floats, shorten_floats, unscale_floats

SHORT = st.builds(
    lambda digits, power: float(f"{digits}e{power}"),
    st.integers(-(10**15) + 1, 10**15 - 1),
    st.integers(-300, 290),
)


@given(st.lists(st.tuples(SHORT, st.sampled_from([0, -1, 1]))))
def test_a_value_beside_a_short_one_becomes_it(values: list[tuple[float, int]]) -> None:
    short = np.array([v for v, _ in values])
    beside = np.array([np.nextafter(v, side * np.inf) if side and v else v for v, side in values])
    assert shorten_floats(beside).tolist() == short.tolist()
    assert shorten_floats(beside).tolist() == [float(f"{v:.15g}") for v in beside.tolist()]


@given(st.lists(st.floats(-1.7e308, 1.7e308) | st.sampled_from([np.inf, -np.inf])))
def test_others_stay_near(values: list[float]) -> None:
    found = shorten_floats(np.array(values, dtype=np.float64))
    for value, short in zip(values, found.tolist(), strict=True):
        assert np.isclose(value, short, rtol=1e-14, atol=5e-308)
        assert np.copysign(1, value) == np.copysign(1, short)


@given(st.lists(SHORT.filter(lambda v: abs(v) < 1e12)), st.sampled_from([1, 10, 100, 1_000]))
def test_what_was_scaled_comes_back(values: list[float], unit: int) -> None:
    column = np.array(values, dtype=np.float64)
    assert unscale_floats(scale_floats(column, unit), unit).tolist() == column.tolist()
