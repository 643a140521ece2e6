"""Whole numbers and decimals in pieces are those of the column, whatever bytes lie under NULL."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import DecimalType, IntType
from ontoweir.runtime.columnar.encode import encode_column
from ontoweir.runtime.pool.string_pool import StringPool

WIDTHS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}


@st.composite
def pieces(draw: st.DrawFn) -> tuple[list[int | None], "pa.ChunkedArray"]:
    """Numbers, and a column of them in pieces that are cut out of longer ones."""
    kind = draw(st.sampled_from(list(WIDTHS)))
    ends = 1 << WIDTHS[kind] - 1
    number = st.integers(-ends, ends - 1)
    chunks: list[pa.Array] = []
    values: list[int | None] = []
    for _ in range(draw(st.integers(0, 4))):
        mine = draw(st.lists(st.one_of(st.none(), number), max_size=9))
        cut = draw(st.integers(0, 3))
        hidden = pa.array([7] * cut + [-1 if v is None else v for v in mine], kind)
        there = pa.array([True] * cut + [v is not None for v in mine], pa.bool_())
        size = cut + len(mine)
        whole = pa.Array.from_buffers(kind, size, [there.buffers()[1], hidden.buffers()[1]])
        chunks.append(whole.slice(cut))
        values += mine
    return values, pa.chunked_array(chunks, kind)


@given(pieces())
def test_pieces_are_put_together(made: tuple[list[int | None], "pa.ChunkedArray"]) -> None:
    values, column = made
    assert column.to_pylist() == values
    columns = [column, *column.chunks]
    wanted = [values, *(chunk.to_pylist() for chunk in column.chunks)]
    for some, numbers in zip(columns, wanted, strict=True):
        encoded = encode_column(some, IntType(), 1, StringPool(), "s.a")
        assert encoded.values.dtype == np.int64
        assert encoded.valid.tolist() == [v is not None for v in numbers]
        assert encoded.values.tolist() == [v or 0 for v in numbers]


def test_what_lies_under_null_is_not_too_great() -> None:
    """Of numbers in other units only those that are there are looked at."""
    hidden = pa.array([1 << 62, 5, 1 << 62], pa.int64())
    bits = pa.array([False, True, False]).buffers()[1]
    column = pa.Array.from_buffers(pa.int64(), 3, [bits, hidden.buffers()[1]])
    encoded = encode_column(pa.chunked_array([column] * 2), IntType(), 100, StringPool(), "s.a")
    assert encoded.values.tolist() == [0, 500, 0] * 2
    with pytest.raises(DataError, match=r"column s\.a holds whole numbers beyond"):
        encode_column(hidden, IntType(), 100, StringPool(), "s.a")


HIDDEN = st.integers(-(10**38) + 1, 10**38 - 1)
"""Units of decimals, most of which do not fit 64 bits."""


def _words(units: list[int]) -> "pa.Buffer":
    return pa.py_buffer(b"".join(n.to_bytes(16, "little", signed=True) for n in units))


@given(st.data())
def test_decimals_are_put_together(data: st.DataObject) -> None:
    """In hundredths of units; under NULL lies what would not fit."""
    kind, chunks = pa.decimal128(38, 2), []
    values: list[int | None] = []
    number = st.integers(-(10**9), 10**9)
    for _ in range(data.draw(st.integers(0, 4))):
        mine = data.draw(st.lists(st.one_of(st.none(), number), max_size=9))
        cut = data.draw(st.integers(0, 3))
        units = [data.draw(HIDDEN) if n is None else n for n in [None] * cut + mine]
        there = pa.array([False] * cut + [n is not None for n in mine], pa.bool_())
        buffers = [there.buffers()[1], _words(units)]
        chunks.append(pa.Array.from_buffers(kind, len(units), buffers).slice(cut))
        values += mine
    column = pa.chunked_array(chunks, kind)
    for unit, factor in ((100, 1), (1_000, 10)):
        encoded = encode_column(column, DecimalType(38, 2), unit, StringPool(), "s.a")
        assert encoded.valid.tolist() == [n is not None for n in values]
        assert encoded.values.tolist() == [(n or 0) * factor for n in values]


@pytest.mark.parametrize("place", [0, 3, 5])
@pytest.mark.parametrize("units", [1 << 64, -(1 << 64), (1 << 64) + 5, 1 << 63, (1 << 61) + 1])
def test_decimals_that_are_too_great_are_refused(place: int, units: int) -> None:
    """In whatever piece; at most 2^61 units fit."""
    kind, whole = pa.decimal128(38, 2), [1] * 6
    whole[place] = units

    def encode() -> list[int]:
        pieces = [
            pa.Array.from_buffers(kind, 3, [None, _words(part)]) for part in (whole[:3], whole[3:])
        ]
        column = pa.chunked_array(pieces)
        encoded = encode_column(column, DecimalType(38, 2), 100, StringPool(), "s.a")
        return [int(n) for n in encoded.values]

    with pytest.raises(DataError, match=r"column s\.a holds decimals beyond"):
        encode()
    whole[place] = 1 << 61
    assert encode() == whole
