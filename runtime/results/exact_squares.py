"""Exact sums of products of doubles, and the variances and covariances that they make.

The product of two doubles is the sum of two (Dekker 1971, TwoProduct), unless it overflows or
underflows: what is so great or so small is scaled by a power of 2 first. Their digits are added up
as those of any double (exact_sums.py), so that the order of addition does not matter; the variance
is the exact quotient, rounded once.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import numpy as np

from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.results.exact_sums import (
    BITS,
    INFINITE,
    LEAST,
    MINUS_INFINITE,
    split_doubles,
)
from ontoweir.runtime.results.measures import Measure, MeasureKind

_SCALE = 25 * BITS
"""Very great and very small numbers are multiplied by 2^-_SCALE or 2^_SCALE."""
_MOVED = _SCALE // BITS
"""So many places that moves them by; twice as many more, and all products have places from 0 on."""
_GREAT, _SMALL = 2.0**400, 2.0**-400
_SPLIT = 2.0**27 + 1


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
    (one, first), (other, second) = (_unite(of, len(counts)) for of in sums)
    square, lowest = _unite(products, len(counts))
    twice = BITS * (first + second) + 2 * LEAST
    lower = BITS * (lowest - 2 * _MOVED) + LEAST
    base = min(twice, lower)
    many = counts.astype(object)
    above = ((many * square) << (lower - base)) - ((one * other) << (twice - base))
    below = many if function is AggregateFunction.REGR_SXX else many * (many - less)
    if base >= 0:
        above = above << base
    else:
        below = below << -base
    made = np.fromiter(map(_divide, above.tolist(), below.tolist()), np.float64, len(counts))
    for of in sums:
        for place in {INFINITE, MINUS_INFINITE} & {*of}:
            made = np.where(of[place] > 0, np.nan, made)
    return made, valid


def _divide(above: int, below: int) -> float:
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
