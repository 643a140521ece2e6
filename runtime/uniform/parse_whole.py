"""Whole numbers in decimal, many at once: eight digits in a few operations on a word."""

import numpy as np

from ontoweir.runtime.columnar.frame import Array

LONGEST = 16
"""Digits of the longest number that is read."""
_WORD = np.uint64
_ZEROS, _HIGH, _SIX = (_WORD(0x0101010101010101 * n) for n in (0x30, 0xF0, 0x06))
_LOW = _WORD(0x0F0F0F0F0F0F0F0F)
_FOLDS = tuple(
    (_WORD(mask), _WORD(by), _WORD(shift))
    for mask, by, shift in (
        (0x0F0F0F0F0F0F0F0F, 2561, 8),
        (0x00FF00FF00FF00FF, 6553601, 16),
        (0x0000FFFF0000FFFF, 42949672960001, 32),
    )
)
_KEPT = np.array([(1 << 64) - (1 << (64 - 8 * n)) if n else 0 for n in range(9)], dtype=_WORD)
"""Of a word, by how many bytes: the last ones, which are its highest."""
_MOVED = np.array([64 - 8 * n if n else 0 for n in range(9)], dtype=_WORD)
"""By how many bits the first bytes of a word, so many, become its last ones."""


def parse_whole(words: Array, starts: Array, first: Array, ends: Array) -> Array | None:
    """The numbers that texts say, as JSON writes them (None: one is no whole number of at most 16
    digits).

    Args:
        words: of the text, the eight bytes that begin with each byte; there are 16 bytes before
            the first number.
        starts: where each begins.
        first: the eight bytes from there on.
        ends: where it ends.
    """
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    negative = (first & _WORD(0xFF)) == ord("-")
    signed = bool(negative.any())
    digits = ends - starts - negative if signed else ends - starts
    least, most = int(digits.min()), int(digits.max())
    if least < 1 or most > LONGEST:
        return None
    head = words[starts + negative] if signed else first
    zero = (head & _WORD(0xFF)) == ord("0")
    if (zero & ((digits > 1) | negative)).any():
        return None
    if most <= 8:
        value = _parse_eight(head << _MOVED[digits], digits)
    else:
        value = _parse_eight(words[ends - 8], np.minimum(digits, 8))
        upper = _parse_eight(words[ends - 16], np.maximum(digits - 8, 0))
        value = None if value is None or upper is None else value + upper * _WORD(10**8)
    if value is None:
        return None
    whole: Array = value.view(np.int64)
    return np.where(negative, -whole, whole) if signed else whole


def _parse_eight(words: Array, digits: Array) -> Array | None:
    """The numbers of so many last bytes of words each (None: one is no digit)."""
    kept = _KEPT[digits]
    words = (words & kept) | (_ZEROS & ~kept)
    if (((words & _HIGH) != _ZEROS) | (((words + _SIX) & _HIGH) != _ZEROS)).any():
        return None
    for mask, by, shift in _FOLDS:
        words = ((words & mask) * by) >> shift
    return words
