"""The order of texts by their code points, a whole column at a time."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ontoweir.runtime.pool.hash_slots import Codes
from ontoweir.runtime.pool.hash_texts import overlapping_words
from ontoweir.runtime.pool.take_pieces import find_width, view_rows


def order_texts(texts: "pa.LargeStringArray") -> Codes:
    """The order of texts, none of which is NULL; equal ones stay as they are. The 8 bytes behind
    what all begin with are compared first, as a number; only texts that have the same are compared
    themselves."""
    rows = len(texts)
    if rows < 2:
        return np.arange(rows)
    first = _read_beginnings(texts, _count_shared(texts))
    order = np.argsort(first)
    ordered = first[order]
    tied = np.zeros(rows, dtype=np.bool_)
    same = ordered[1:] == ordered[:-1]
    tied[1:] |= same
    tied[:-1] |= same
    places = np.flatnonzero(tied)
    if len(places):  # those that share a number are together in their own order, too
        some = np.sort(order[places])
        order[places] = some[pc.sort_indices(texts.take(pa.array(some))).to_numpy()]
    return order


def _read_beginnings(texts: "pa.LargeStringArray", shared: int) -> NDArray[np.uint64]:
    """Numbers in the order of the 8 bytes of texts behind the first few, which all have."""
    width = find_width(texts)
    if width is not None and width >= shared + 8:  # the same of each, without all of their bytes
        begun = np.ascontiguousarray(view_rows(texts, width)[:, shared : shared + 8])
        return begun.view(">u8").reshape(-1).astype(np.uint64)
    _, places, content = texts.buffers()
    offsets = np.frombuffer(places, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    words = overlapping_words(content, int(offsets[0]), int(offsets[-1]))
    start = offsets[:-1] - int(offsets[0]) + shared
    left = np.minimum(np.diff(offsets) - shared, 8)
    # a text that ends where all end has no bytes there, nor have others behind it
    numbers: NDArray[np.uint64] = words[start].byteswap()
    unused = np.where(left > 0, 8 - left, 0).astype(np.uint64) * np.uint64(8)
    return np.where(left > 0, numbers >> unused << unused, np.uint64(0))


def _count_shared(texts: "pa.LargeStringArray") -> int:
    """How many bytes all texts begin with."""
    ends = pc.min_max(texts).as_py()
    low, high = ends["min"].encode(), ends["max"].encode()
    count = 0
    while count < min(len(low), len(high)) and low[count] == high[count]:
        count += 1
    return count
