"""Which values of a column are there, as pages say, and values put where they are.

Pages of a column that may be NULL hold for each value whether it is there (Parquet's levels, in its
hybrid of RLE and bit-packing), and behind that the values that are there. Arrow reads both
together, value after value. Levels of one bit are held as places in a dictionary of two values, so
Arrow reads them as such, in a fraction of the time; and values that are all there, too.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.write_column import (
    INT32,
    RLE_DICTIONARY,
    PageForm,
    Part,
    write_column,
    write_head,
)

_BIT = b"\x01"
"""How many bits a place has: a byte before the places of a page."""
_NO_YES = np.array([0, 1], "<i4").tobytes()


def read_levels(pages: Sequence[tuple[Part, int]]) -> Array:
    """Of every value of some pages whether it is there.

    Args:
        pages: the levels of each, of one bit, and how many values it has.

    Raises:
        ValueError, OSError, pa.ArrowInvalid: they are not understood, or too few.

    >>> read_levels([(bytes([3, 0b101]), 3), (bytes([4, 1]), 2)]).tolist()
    [True, False, True, True, True]
    """
    parts, count = list[Part](), sum(values for _, values in pages)
    for levels, values in pages:
        parts += [write_head(len(levels) + 1, values, RLE_DICTIONARY), _BIT, levels]
    form = PageForm(INT32, False, "UNCOMPRESSED")
    dictionary = [write_head(len(_NO_YES), 2, None), _NO_YES]
    file = pa.BufferReader(write_column(form, count, dictionary, parts))
    (found,) = pq.ParquetFile(file, pre_buffer=False).read(use_threads=False)
    if len(found) != count:
        raise ValueError("pages have fewer levels than they say")
    there: Array = found.to_numpy().astype(np.bool_)
    return there


def count_pages(there: Array, counts: Sequence[int]) -> list[int]:
    """How many values are there in each page.

    Args:
        there: of every value whether it is.
        counts: how many values each page has.

    >>> count_pages(np.array([True, False, True, True]), [2, 2])
    [1, 2]
    """
    ends = np.cumsum(counts).tolist()
    return [int(np.count_nonzero(there[a:b])) for a, b in zip([0, *ends], ends, strict=False)]


def spread_values(values: "pa.Array", there: Array) -> "pa.Array":
    """A column with NULL.

    Args:
        values: those that are there, one after the other, of 32 or 64 bits, or of a dictionary.
        there: of every row whether it has a value; as many have as there are.

    >>> spread_values(pa.array([7, 8]), np.array([False, True, True])).to_pylist()
    [None, 7, 8]
    """
    if pa.types.is_dictionary(values.type):
        places = spread_values(values.indices, there)
        return pa.DictionaryArray.from_arrays(places, values.dictionary, safe=False)
    if not len(values):
        return pa.nulls(len(there), values.type)
    if int(np.count_nonzero(there)) != len(values):
        raise ValueError("pages have more or fewer values than they say")
    size = values.type.bit_width // 8  # moved as whole numbers, whatever they are
    held = np.frombuffer(values.buffers()[1], f"<i{size}", len(values), values.offset * size)
    moved = np.zeros(len(there), held.dtype)
    moved[np.flatnonzero(there)] = held
    bits = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(values.type, len(there), [bits, pa.py_buffer(moved)])


def count_before(there: Array, rows: Array) -> Array:
    """How many values are there before each of some rows.

    >>> count_before(np.array([True, False, True, True]), np.array([0, 1, 3])).tolist()
    [0, 1, 2]
    """
    packed = np.packbits(there, bitorder="little")
    words = np.zeros(len(there) // 64 + 1, dtype="<u8")
    words.view(np.uint8)[: len(packed)] = packed
    counts = np.bitwise_count(words).astype(np.int64)
    below = (np.uint64(1) << (rows & 63).astype(np.uint64)) - np.uint64(1)
    word = rows >> 6
    before: Array = (np.cumsum(counts) - counts)[word] + np.bitwise_count(words[word] & below)
    return before
