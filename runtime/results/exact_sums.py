"""Exact sums of doubles: in whole numbers, so that the order of addition does not matter.

A double is a whole multiple of 2^-1074. It is cut into digits of 26 bits, which are added up digit
by digit in 64 bits: that is associative, folds over chunks, ranges and groups, and 2^37 numbers
fit. What is shown is the exact sum, or mean, rounded once (half to even, as IEEE 754 does).

For variances and covariances products are added up so, too: that of two doubles is the sum of two
(Dekker 1971, TwoProduct), unless it overflows or underflows: what is so great or so small is scaled
by a power of 2 first. The exact quotient is rounded once.
"""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import frexp
from typing import Any

import numpy as np

from ontoweir.errors import RunError
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.results.measures import Measure, MeasureKind

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
_SCALE = 25 * BITS
"""Very great and very small numbers are multiplied by 2^-_SCALE or 2^_SCALE."""
_MOVED = _SCALE // BITS
"""So many places that moves them by; twice as many more, and all products have places from 0 on."""
_GREAT, _SMALL = 2.0**400, 2.0**-400
_SPLIT = 2.0**27 + 1


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


def name_sums(arguments: Sequence[str]) -> tuple[str, ...]:
    """The names of an argument's sum among measures; of two arguments, those of their sums over
    what has both, and of the squares of the first one. Those of y and x are others than those of
    x and y, which are of another part."""
    if len(arguments) < 2:
        return tuple(arguments)
    both = " ".join(arguments)
    return both, f"{both} second", f"{both} squares"


def add_doubles(
    arguments: Sequence[str],
    values: Sequence[Array],
    times: Array,
    functions: Collection[AggregateFunction],
) -> dict[Measure, Array]:
    """What functions of an argument add up: the digits of its values, and of their squares where
    a variance is asked for; of two arguments, of both, and of their products.

    Args:
        arguments: one or two names.
        values: of each float64, no NaN.
        times: int64, how often each is added.
        functions: COUNT, SUM, AVG, variances and covariances.

    Raises:
        RunError: a value is added too often at once.
    """
    names = name_sums(arguments)
    made: dict[Measure, Array] = {}
    for name, column in zip(names, values, strict=False):
        for place, digits in split_doubles(column, times).items():
            made[(MeasureKind.SUM, name, place)] = digits
    for function in functions:
        if function.varies:
            name, (one, other) = _choose(function, names)
            for place, digits in split_products(values[one], values[other], times).items():
                made[(MeasureKind.SQUARES, name, place)] = digits
    return made


def _choose(function: AggregateFunction, names: Sequence[str]) -> tuple[str, tuple[int, int]]:
    """What the products that a function adds up are called, and of which arguments they are."""
    if function is AggregateFunction.COVAR_POP:
        return names[0], (0, 1)
    return names[-1], (0, 0)


def split_products(left: Array, right: Array, times: Array) -> dict[int, Array]:
    """The digits of the products of doubles, each multiplied by a whole number, by their places:
    2 * _MOVED more than those of split_doubles. Those of infinite ones are left out."""
    digits: dict[int, Array] = {}
    finite = np.isfinite(left) & np.isfinite(right)
    sizes = _list_sizes(left), _list_sizes(right)
    for (one, scale, moved), (other, by, more) in product(*sizes):
        mine = one & other & finite
        if not mine.any():
            continue
        first = np.ldexp(np.where(mine, left, 0.0), scale)
        second = np.ldexp(np.where(mine, right, 0.0), by)
        for part in _multiply(first, second):
            for place, found in split_doubles(part, times).items():
                at = place + 2 * _MOVED + moved + more
                digits[at] = digits[at] + found if at in digits else found
    return digits


def _list_sizes(values: Array) -> list[tuple[Array, int, int]]:
    """Which numbers are multiplied by a power of 2, and by how many places that moves them back."""
    size = np.abs(values)
    small, great = (size < _SMALL) & (size > 0), size > _GREAT
    return [(~small & ~great, 0, 0), (small, _SCALE, -_MOVED), (great, -_SCALE, _MOVED)]


def _multiply(left: Array, right: Array) -> tuple[Array, Array]:
    """Products of doubles as sums of two: each is exact, where nothing over- or underflows."""
    (high, low), (upper, lower) = _halve(left), _halve(right)
    made = left * right
    return made, ((high * upper - made) + high * lower + low * upper) + low * lower


def _halve(values: Array) -> tuple[Array, Array]:
    """Doubles as sums of two of 26 bits."""
    wide = values * _SPLIT
    high = wide - (wide - values)
    return high, values - high


def round_variance(
    digits: Mapping[Measure, Array], aggregate: Aggregate, counts: Array
) -> tuple[Array, Array]:
    """(n · Σxy - Σx · Σy) / (n · n), or by n · (n - 1) of a sample, or by n for REGR_SXX: the
    nearest doubles to it, and where there are enough values. Where one is infinite, it is not a
    number.

    Args:
        digits: added up (add_doubles); those of other arguments are passed over.
        aggregate: of a variance, whose one argument is x and y; or of a covariance.
        counts: int64, n.
    """
    names, function = name_sums(aggregate.arguments), aggregate.function
    name, places = _choose(function, names)
    keys = [(MeasureKind.SQUARES, name), *((MeasureKind.SUM, names[p]) for p in places)]
    products, *sums = ({n[2]: c for n, c in digits.items() if n[:2] == key} for key in keys)
    less = int(function is AggregateFunction.VAR_SAMP)
    valid, counts = counts > less, np.maximum(counts, less + 1)
    times = 1 if function is AggregateFunction.REGR_SXX else counts.astype(object) - less
    return divide_products(products, (sums[0], sums[1]), counts, times), valid


def divide_products(
    products: Mapping[int, Array],
    sums: tuple[Mapping[int, Array], Mapping[int, Array]],
    counts: Array,
    times: Any,
) -> Array:
    """(n · Σxy - Σx · Σy) / (n · times): the nearest doubles. Where one is infinite, it is not a
    number.

    Args:
        products: the digits of Σxy, by their places (split_products, added up).
        sums: those of Σx and of Σy (split_doubles, added up).
        counts: int64, n, of at least 1.
        times: whole numbers of at least 1, Python's own where they are many.
    """
    (one, first), (other, second) = (_unite(of, len(counts)) for of in sums)
    square, lowest = _unite(products, len(counts))
    twice = BITS * (first + second) + 2 * LEAST
    lower = BITS * (lowest - 2 * _MOVED) + LEAST
    base = min(twice, lower)
    many = counts.astype(object)
    above = ((many * square) << (lower - base)) - ((one * other) << (twice - base))
    below = many * times
    if base >= 0:
        above = above << base
    else:
        below = below << -base
    made = np.fromiter(map(_divide_whole, above.tolist(), below.tolist()), np.float64, len(counts))
    for of in sums:
        for place in {INFINITE, MINUS_INFINITE} & {*of}:
            made = np.where(of[place] > 0, np.nan, made)
    return made


def _divide_whole(above: int, below: int) -> float:
    """As Python divides whole numbers: the nearest double."""
    try:
        return above / below
    except OverflowError:
        return float("inf") if above > 0 else -float("inf")


def _unite(digits: Mapping[int, Array], rows: int) -> tuple[Array, int]:
    """Whole numbers of any size, and the place of their last digit."""
    places = sorted((place for place in digits if place >= 0), reverse=True)
    made = np.zeros(rows, dtype=object)
    for before, place in zip([None, *places], places, strict=False):
        if before is not None:
            made = made << BITS * (before - place)
        made = made + digits[place].astype(object)
    return made, places[-1] if places else 0
