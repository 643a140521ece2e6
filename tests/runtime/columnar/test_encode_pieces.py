"""Whole numbers in pieces are those of the column, whatever bytes lie under NULL."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import IntType
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
