"""Hashes of texts, a whole column at a time."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_WORDS = 8
"""So many words of 8 bytes are hashed at the beginning of a text, and as many at its end: longer
texts that differ in their middle only have one hash, and are told apart by comparing them."""

_BLOCK = 1 << 14
"""So many texts are hashed at a time, which the processor's cache holds."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
"""Of a word, the first n bytes."""


def hash_texts(
    texts: "pa.LargeStringArray", seed: int = 0, *, whole: bool = False
) -> NDArray[np.uint64]:
    """A number of 64 bits for every text; equal texts have equal numbers, NULL has any.

    Args:
        texts: a column.
        seed: other numbers for each, at least 0.
        whole: texts that differ somewhere have different numbers, but for rare coincidence, also
            where they are long and differ in their middle only.
    """
    hashes = np.empty(len(texts), dtype=np.uint64)
    for start in range(0, len(texts), _BLOCK):
        block = texts.slice(start, _BLOCK)
        hashes[start : start + _BLOCK] = _hash_block(block, seed, whole=whole)
    return hashes


def group_hashes(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each hash, ascending, and of every row the number of its hash among them.
    Hashes that differ in their last bits alone, as many as number the rows, count as one: to sort
    them with the rows beside them takes half the time of a hash table."""
    rows = len(hashes)
    mask = np.uint64((1 << rows.bit_length()) - 1)
    ordered = (hashes & ~mask) | np.arange(rows, dtype=np.uint64)
    ordered.sort()
    places = (ordered & mask).astype(np.int64)
    ordered &= ~mask
    starts = np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)[:rows]
    leads = np.zeros(rows, dtype=np.bool_)
    leads[places[starts]] = True
    numbers = np.cumsum(leads)[places[starts]] - 1
    groups = np.empty(rows, dtype=np.int64)
    groups[places] = np.repeat(numbers, np.diff(starts, append=rows))
    return np.flatnonzero(leads), groups


def _hash_block(texts: "pa.LargeStringArray", seed: int, *, whole: bool) -> NDArray[np.uint64]:
    rows = len(texts)
    _, places, content = texts.buffers()
    offsets = np.frombuffer(places, dtype=np.int64)[texts.offset : texts.offset + rows + 1]
    start = offsets[:-1]
    length = offsets[1:] - start
    if texts.null_count:
        length = np.where(texts.is_valid().to_numpy(zero_copy_only=False), length, 0)
    words = overlapping_words(content, int(offsets[0]), int(offsets[-1]))
    start = start - int(offsets[0])
    hashes = length.astype(np.uint64) * _MULTIPLIER + np.uint64(seed)
    shortest, longest = int(length.min()), int(length.max())
    for place in range(0, longest if whole else min(longest, 8 * _WORDS), 8):
        _mix_in(hashes, words, start, length - place, place, full=shortest >= place + 8)
    if longest > 8 * _WORDS and not whole:
        long = np.flatnonzero(length > 8 * _WORDS)
        tail = hashes[long]
        for place in range(8 * _WORDS, 0, -8):
            tail ^= words[start[long] + (length[long] - place)]
            _scatter(tail)
        hashes[long] = tail
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(32)
    return hashes


def overlapping_words(content: "pa.Buffer | None", first: int, last: int) -> NDArray[np.uint64]:
    """The 8 bytes from every place on, with zeros behind the end."""
    size = last - first
    padded = np.zeros(size + 8, dtype=np.uint8)
    if content is not None:
        padded[:size] = np.frombuffer(content, dtype=np.uint8)[first:last]
    return np.ndarray((size + 1,), dtype="<u8", buffer=padded.data, strides=(1,))


def _mix_in(
    hashes: NDArray[np.uint64],
    words: NDArray[np.uint64],
    start: NDArray[np.int64],
    left: NDArray[np.int64],
    place: int,
    *,
    full: bool,
) -> None:
    """Take the word at a place into the hashes of the texts that reach so far; `left`: how many of
    their bytes are there from it on."""
    if full:
        hashes ^= _take(words, start, place)
        _scatter(hashes)
        return
    if int(left[0]) > 0 and bool((left == left[0]).all()):
        hashes ^= _take(words, start, place) & _MASKS[int(left[0])]
        _scatter(hashes)
        return
    reach = np.flatnonzero(left > 0)
    some = hashes[reach]
    some ^= words[start[reach] + place] & _MASKS[np.minimum(left[reach], 8)]
    _scatter(some)
    hashes[reach] = some


def _take(words: NDArray[np.uint64], start: NDArray[np.int64], place: int) -> NDArray[np.uint64]:
    """The words at a place of every text; of texts that are equally far apart, without a copy."""
    first, step = int(start[0]) + place, int(start[1] - start[0]) if len(start) > 1 else 1
    last = step * (len(start) - 1)
    even = step > 0 and int(start[-1] - start[0]) == last and bool((np.diff(start) == step).all())
    return words[first : first + last + 1 : step] if even else words[start + place]


def _scatter(hashes: NDArray[np.uint64]) -> None:
    hashes *= _MULTIPLIER
    hashes ^= hashes >> np.uint64(32)
