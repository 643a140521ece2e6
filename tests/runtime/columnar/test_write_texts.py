"""Lexical forms, where a column of answers has values of several types."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.materialize.write_value import write_value
from ontoweir.runtime.columnar.write_texts import (
    show_texts,
    write_texts,
)


def test_fractions_have_no_zeros_at_their_end() -> None:
    decimals = pa.array([Decimal("1.50"), Decimal("10.00"), Decimal("-0.05"), None])
    assert show_texts(decimals).to_pylist() == ["1.5", "10", "-0.05", None]
    tiny = pa.array([Decimal("0.000000010")], pa.decimal128(20, 9))
    assert show_texts(tiny).to_pylist() == ["0.00000001"]
    times = pa.array([datetime(2020, 1, 1, 0, 5, 0, 250_000), datetime(2020, 1, 1, 0, 50), None])
    assert show_texts(times).to_pylist() == ["2020-01-01T00:05:00.25", "2020-01-01T00:50:00", None]


def test_whole_numbers_keep_their_zeros() -> None:
    assert show_texts(pa.array([100, 0])).to_pylist() == ["100", "0"]


NUMBERS = st.one_of(
    st.floats(), st.floats(-1e6, 1e6).map(lambda v: round(v, 3)), st.integers(-9, 9).map(float)
)


@given(st.lists(st.one_of(st.none(), NUMBERS)), st.integers(0, 20), st.booleans())
def test_columns_are_written_as_each_value_alone(
    values: list[float | None], scale: int, decimal: bool
) -> None:
    column = pa.array(values, pa.float64(), from_pandas=False)
    if decimal:
        some = [v for v in values if v is not None and abs(v) < 1e15]
        exact = [None, *(Decimal(str(v)).quantize(Decimal(1).scaleb(-scale)) for v in some)]
        column = pa.array(exact, pa.decimal128(38, scale))
    written = [None if v is None else write_value(v) for v in column.to_pylist()]
    assert write_texts(column).to_pylist() == written


def test_other_values_are_written_as_each_alone() -> None:
    columns = [
        pa.array([True, False, None]),
        pa.array([date(2020, 2, 29), None]),
        pa.array([datetime(2020, 1, 1), datetime(1, 1, 1, 1, 1, 1, 1), None]),
        pa.array([datetime(2020, 1, 1)], pa.timestamp("us", tz="UTC")),
    ]
    for column in columns:
        written = [None if v is None else write_value(v) for v in column.to_pylist()]
        assert write_texts(column).to_pylist() == written
