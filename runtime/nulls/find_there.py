"""Which values of a column there are, and numbers in the place of the others, without a look at
each by itself: what is NULL is often no pattern that a processor can foretell."""

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array


def find_there(piece: "pa.Array") -> Array:
    """Which values are not NULL (bool).

    >>> find_there(pa.array([1, None, 3])).tolist()
    [True, False, True]
    """
    bits = piece.buffers()[0]
    if bits is None or not piece.null_count:
        return np.ones(len(piece), dtype=np.bool_)
    first, start = divmod(piece.offset, 8)
    packed = np.frombuffer(bits, np.uint8)[first : first + (start + len(piece) + 7) // 8]
    found: Array = np.unpackbits(packed, count=start + len(piece), bitorder="little")[start:]
    return found.view(np.bool_)


def read_buffer(piece: "pa.Array", dtype: np.dtype[np.generic]) -> Array:
    """The numbers of a type that a piece holds, any where it has NULL."""
    numbers: Array = np.frombuffer(piece.buffers()[1] or b"", dtype)
    return numbers[piece.offset : piece.offset + len(piece)]


def fill_missing(values: Array, there: Array, filler: float) -> Array:
    """Numbers, and in the place of those that are not there another one of their type.

    >>> fill_missing(np.array([1.5, np.nan]), np.array([True, False]), -np.inf).tolist()
    [1.5, -inf]
    """
    bits = np.dtype(f"i{values.dtype.itemsize}")
    missing = there.astype(bits)
    missing -= 1  # no bit of what is there, and all of what is not
    filled = values.view(bits) & ~missing
    if filler:
        missing &= np.array(filler, dtype=values.dtype).view(bits)
        filled |= missing
    made: Array = filled.view(values.dtype)
    return made
