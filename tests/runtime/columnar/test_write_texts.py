"""Lexical forms, where a column of answers has values of several types."""

from datetime import datetime
from decimal import Decimal

import pyarrow as pa

from ontoweir.runtime.columnar.write_texts import show_texts


def test_fractions_have_no_zeros_at_their_end() -> None:
    decimals = pa.array([Decimal("1.50"), Decimal("10.00"), Decimal("-0.05"), None])
    assert show_texts(decimals).to_pylist() == ["1.5", "10", "-0.05", None]
    tiny = pa.array([Decimal("0.000000010")], pa.decimal128(20, 9))
    assert show_texts(tiny).to_pylist() == ["0.00000001"]
    times = pa.array([datetime(2020, 1, 1, 0, 5, 0, 250_000), datetime(2020, 1, 1, 0, 50), None])
    assert show_texts(times).to_pylist() == ["2020-01-01T00:05:00.25", "2020-01-01T00:50:00", None]


def test_whole_numbers_keep_their_zeros() -> None:
    assert show_texts(pa.array([100, 0])).to_pylist() == ["100", "0"]
