"""Exact sums of doubles: in whole numbers, so that the order of addition does not matter.

A double is a whole multiple of 2^-1074. It is cut into digits of 26 bits, which are added up digit
by digit in 64 bits: that is associative, folds over chunks, ranges and groups, and 2^37 numbers
fit. What is shown is the exact sum, or mean, rounded once (half to even, as IEEE 754 does).
"""

from collections.abc import Mapping
from fractions import Fraction
from math import frexp

import numpy as np

from ontoweir.errors import RunError
from ontoweir.runtime.columnar.frame import Array

BITS = 26
LEAST = -1074
"""Doubles are multiples of 2^LEAST."""
_MOST = 1 << 35
INFINITE, MINUS_INFINITE = -1, -2
"""In the places of digits: how many numbers are +∞ and -∞."""
_PLAIN = 900
"""A number is multiplied by a power of 2 of less than that, unless it is much greater itself."""
_FEW = 4
"""Numbers are put apart when less than one in so many has digits left."""
_NORMAL = 2.0**-1021
"""Below it, quotients are rounded to fewer bits."""


def split_doubles(values: Array, times: Array) -> dict[int, Array]:
    """The digits of doubles, each multiplied by a whole number, by their places; places in which
    all digits are 0 are left out.

    Args:
        values: float64, no NaN.
        times: int64, how often each is added.

    Raises:
        RunError: one is added too often at once.
    """
    if len(times) and int(times.max()) >= _MOST:
        raise RunError(
            "a number of matches is too great for a sum of doubles",
            why=f"a value is added {int(times.max()):,} times at once, and {_MOST:,} fit",
            fix="group by more columns, or add a window",
        )
    digits: dict[int, Array] = {}
    finite = np.isfinite(values)
    if not finite.all():
        for place, what in ((INFINITE, np.inf), (MINUS_INFINITE, -np.inf)):
            there = values == what
            if there.any():
                digits[place] = np.where(there, times, 0)
        values = np.where(finite, values, 0.0)
    greatest = float(np.abs(values).max()) if len(values) else 0.0
    place = (frexp(greatest)[1] - 1 - LEAST) // BITS
    rest, index = values, None
    while greatest and rest.any():
        heads, rest = _cut(rest, BITS * place + LEAST)
        mine = heads.astype(np.int64) * (times if index is None else times[index])
        if mine.any():
            digits[place] = mine if index is None else _spread(mine, index, len(values))
        place -= 1
        there = np.count_nonzero(rest)
        if there * _FEW < len(rest):  # few numbers have digits so far down
            left = np.flatnonzero(rest)
            index = left if index is None else index[left]
            rest = rest[left]
    return digits


def _cut(values: Array, exponent: int) -> tuple[Array, Array]:
    """The whole multiples of 2^exponent in numbers, towards 0, and what is left: both are exact, as
    they have some of the bits of a number, at most."""
    if abs(exponent) < _PLAIN:
        heads = np.trunc(values * 2.0**-exponent)
        return heads, values - heads * 2.0**exponent
    heads = np.trunc(np.ldexp(values, -exponent))
    return heads, values - np.ldexp(heads, exponent)


def _spread(values: Array, index: Array, rows: int) -> Array:
    made = np.zeros(rows, dtype=np.int64)
    made[index] = values
    return made


def round_digits(digits: Mapping[int, Array], counts: Array) -> Array:
    """Sums divided by whole numbers, as the nearest doubles.

    Args:
        digits: of the sums, by their places (split_doubles, added up).
        counts: int64, of at least 1: 1 for the sum itself.
    """
    none = np.zeros(len(counts), dtype=np.int64)
    places = sorted(place for place in digits if place >= 0)
    made = np.zeros(len(counts), dtype=np.float64)
    if places and len(counts):
        rows = [digits.get(p, none) for p in range(places[0], places[-1] + 1)]
        made = _round(np.array(rows), places[0], counts)
    plus = digits.get(INFINITE, none) > 0
    minus = digits.get(MINUS_INFINITE, none) > 0
    made = np.where(plus, np.inf, made)
    return np.where(minus, np.where(plus, np.nan, -np.inf), made)


def _round(digits: Array, least: int, counts: Array) -> Array:
    """As round_digits; `digits`: a row for each place, from `least` on."""
    whole = _carry(digits)
    negative = whole[-1] < 0
    whole = np.where(negative, _carry(-digits), whole)
    rows = np.arange(whole.shape[1])
    top = len(whole) - 1 - np.argmax(whole[::-1] != 0, axis=0)
    padded = np.concatenate([np.zeros((3, len(rows)), dtype=np.int64), whole])
    head, second, third, fourth = (padded[top + 3 - back, rows] for back in range(4))
    below = np.cumsum(padded != 0, axis=0)
    size = np.frexp(head.astype(np.float64))[1].astype(np.int64)  # its bits; at most 37, a carry's
    size = np.maximum(size, 1)
    small = size <= 11
    up, down = np.where(small, 11 - size, 0), np.where(small, 0, size - 11)
    exact_head = size <= 63 - BITS
    mantissa = (head << np.maximum(63 - size, 0)) | _move(second, 37 - size)
    mantissa |= (third << up) >> down
    mantissa |= np.where(small, fourth >> np.minimum(15 + size, 63), 0)
    cut = np.where(small, np.minimum(15 + size, BITS), down)  # bits that are left over
    rest = np.where(small, fourth, third) & ((1 << cut) - 1)
    lower = below[np.maximum(top + 3 - 4, 0), rows] > 0
    inexact = (rest != 0) | (~small & (fourth != 0)) | lower
    exponents = BITS * (least + top) + size - 63 + LEAST
    made, doubtful = _divide(mantissa, inexact, counts, exponents)
    doubtful |= ~exact_head
    if doubtful.any():
        index = np.flatnonzero(doubtful)
        made[index] = [
            _divide_exactly(whole[:, row].tolist(), least, int(counts[row]))
            for row in index.tolist()
        ]
    return np.where(negative, -made, made)


def _carry(digits: Array) -> Array:
    """Digits from 0 to 2^BITS - 1, but for the last, which has the sign."""
    made = np.concatenate([digits, np.zeros((1, digits.shape[1]), dtype=np.int64)])
    for place in range(len(digits)):
        made[place + 1] += made[place] >> BITS
        made[place] &= (1 << BITS) - 1
    return made


def _move(numbers: Array, up: Array) -> Array:
    """Shifted to the left, or to the right where that is negative."""
    return np.where(up >= 0, numbers << np.maximum(up, 0), numbers >> np.maximum(-up, 0))


def _divide(
    mantissa: Array, inexact: Array, counts: Array, exponents: Array
) -> tuple[Array, Array]:
    """mantissa · 2^exponents / counts as doubles, and for which this is not certain to be the
    nearest. `mantissa`: of 63 bits; `inexact`: something less than 1 is missing there."""
    one = counts == 1
    quotient, left = np.divmod(mantissa, counts)
    more, last = np.divmod(np.where(counts < 1 << 31, left, 0) << 32, counts)
    size = np.frexp(quotient.astype(np.float64))[1].astype(np.int64)
    size -= (quotient >> np.maximum(size - 1, 0)) == 0  # it was rounded up to a power of 2
    shift = np.clip(63 - size, 0, 32)
    wide = (quotient << shift) | (more >> (32 - shift))
    sticky = inexact | (last != 0) | ((more & ((1 << (32 - shift)) - 1)) != 0)
    wide = np.where(one, mantissa, wide)
    sticky = np.where(one, inexact, sticky)
    exponents = np.where(one, exponents, exponents - shift)
    with np.errstate(over="ignore", under="ignore"):  # beyond all doubles is infinite
        made = np.ldexp((wide | sticky).astype(np.float64), exponents)
    near = np.abs((wide & 1023) - 512) <= 4
    doubtful = ~one & ((inexact & near) | (counts >= 1 << 31) | (np.abs(made) < _NORMAL))
    return made, doubtful & (mantissa != 0)


def _divide_exactly(digits: list[int], least: int, count: int) -> float:
    """As Python divides whole numbers: the nearest double."""
    total = sum(digit << (BITS * (least + place)) for place, digit in enumerate(digits))
    try:
        return float(Fraction(total, count << -LEAST))
    except OverflowError:
        return float("inf")
