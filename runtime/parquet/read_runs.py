"""Runs of equal values in Parquet's pages of places in a dictionary: as they are held, so that what
repeats is looked at once.

Such a page is, after the number of bits of a place, a sequence of runs (Parquet's RLE/bit-packing
hybrid): a header, a whole number of 7 bits in each byte; where it is even, its half is how often
one place follows; where it is odd, so many eights of places follow, packed. Only the former are
read.
"""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array

_LONG = 16
"""Runs are looked for where there are so many values for each byte."""
_OTHERS = 4
"""Fewer headers of each page may be of another length than most are."""
_WIDEST = 32
_BYTES = 4
"""A place has at most so many bytes, of so many bits together."""


def read_runs(pages: Sequence[tuple[memoryview, int]]) -> tuple[Array, Array] | None:
    """The places that pages hold, and how often each follows, one after the other.

    Args:
        pages: what each holds, and how many values.

    Returns:
        None: runs are not long, or their headers not nearly all of one or two bytes, or some are
        packed, or a page is not understood.

    >>> body = memoryview(bytes([3, 40, 5, 200, 1, 2]))
    >>> [a.tolist() for a in read_runs([(body, 120), (body, 120)])]
    [[5, 2, 5, 2], [20, 100, 20, 100]]
    """
    sizes = np.array([len(body) - 1 for body, _ in pages])
    counts = np.array([count for _, count in pages])
    if not len(pages) or sizes.min() < 1 or sizes.sum() * _LONG > counts.sum():
        return None
    bits = np.array([body[0] for body, _ in pages])
    if bits.min() < 1 or bits.max() > _WIDEST:
        return None
    data = np.frombuffer(b"".join([*(body[1:] for body, _ in pages), bytes(2 * _BYTES)]), np.uint8)
    widths = (bits + 7) // 8
    tried = (_find_runs(data, sizes, widths, length) for length in (2, 1))
    found = next((f for f in tried if f is not None), None)
    if found is None:
        return None
    runs, page = found
    headers, more = data[runs].astype(np.int64), data[runs + 1].astype(np.int64)
    long = headers > 127
    if (headers & 1).any() or (long & (more > 127)).any():
        return None
    lengths = np.where(long, headers & 127 | more << 7, headers) >> 1
    if (np.bincount(page, lengths, len(pages)) != counts).any() or lengths.min() < 1:
        return None
    places = np.zeros(len(runs), dtype=np.int64)
    for number in range(int(widths.max())):
        byte = data[runs + 1 + long + number].astype(np.int64) << 8 * number
        places |= np.where(widths[page] > number, byte, 0)
    return places, lengths


def _find_runs(data: Array, sizes: Array, widths: Array, length: int) -> tuple[Array, Array] | None:
    """Where runs begin, and the pages they are of, where no run is packed, and headers have so many
    bytes each, 1 or 2, but for a few in each page that have the other one (None: it is not so).

    Args:
        data: pages, one after the other, and some bytes more.
        sizes: bytes of each; `widths`: bytes of a place in each.
        length: of headers.
    """
    ends = np.cumsum(sizes)
    each, place = length + widths, ends - sizes
    found: list[tuple[Array, Array]] = []
    while len(left := np.flatnonzero(place < ends)):
        if len(found) == _OTHERS:
            return None
        number = -(-(ends - place)[left] // each[left])
        first, page = np.cumsum(number) - number, np.repeat(left, number)
        row = np.arange(len(page))
        runs = np.repeat(place[left] - first * each[left], number) + row * each[page]
        # up to the first header of the other length, after which others are elsewhere
        other = (data[runs] < 128) == (length > 1)
        stop = np.minimum.reduceat(np.where(other, row, len(row)), first)
        cut = stop < first + number
        upto = np.where(cut, stop, first + number - 1)
        kept = row <= np.repeat(upto, number)
        found.append((runs[kept], page[kept]))
        place[left] = runs[upto] + each[left] + np.where(cut, 3 - 2 * length, 0)
    if (place > ends).any():
        return None
    runs, page = (np.concatenate([f[n] for f in found]) for n in (0, 1))
    order = np.argsort(runs)
    return runs[order], page[order]
