"""Variances of the values of runs of rows, rounded once."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import ColumnType, DecimalType
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.preceding.fold_frames import PLACES, Runs, add_doubles, add_whole
from ontoweir.runtime.results.divide_exactly import divide
from ontoweir.runtime.results.exact_sums import (
    MINUS_INFINITE,
    divide_products,
    split_doubles,
    split_products,
)

_HALF = 32
_FITS = 1 << 62
_PRODUCTS = 174
"""The places of the digits of products: 170 is the last one of the greatest doubles' squares."""


SUMS = len(PLACES) + _PRODUCTS
"""So many digits are kept of the sums of values, and of those of their products."""


def vary_on(
    values: tuple[Array, Array],
    kind: ColumnType,
    runs: Runs,
    less: int,
    before: tuple[Array, Sequence["pa.Array"]],
) -> "tuple[pa.Array, pa.Array, pa.Array]":
    """As `vary`, of runs that go on from the first row; and beside it how many values they have,
    and the digits of their sums (SUMS for each).

    Args:
        values: at which places there is a value, and the values.
        kind: their type.
        runs: the runs.
        less: 1: of a sample; 0: of all there is.
        before: the places at which what was kept of a run stands for its rows until there, and
            that: how many values, and the digits.
    """
    (valid, numbers), (heads, kept) = values, before
    valid = valid.copy()
    valid[heads] = False
    each = valid.astype(np.int64)
    digits = kept[1].flatten().to_numpy().reshape(-1, SUMS) if len(heads) else np.zeros((0, SUMS))
    if len(heads):
        each[heads] = kept[0].to_numpy()
    counts = runs.add(np.cumsum(each))
    there = counts > less
    sums, products = _split(np.where(valid, numbers, 0))
    added = _add_kept(sums, heads, digits[:, : len(PLACES)], MINUS_INFINITE, runs)
    times = _add_kept(products, heads, digits[:, len(PLACES) :], 0, runs)
    unit = 10**kind.scale if isinstance(kind, DecimalType) else 1
    some = np.where(there, counts, less + 1)
    below = (some - less).astype(object) * (unit * unit)
    shown = pa.array(divide_products(times, (added, added), some, below), mask=~there)
    made = np.zeros((len(counts), SUMS), dtype=np.int64)
    for first, of in ((-MINUS_INFINITE, added), (len(PLACES), times)):
        for place, column in of.items():
            made[:, first + place] = column
    flat = pa.array(made.reshape(-1))
    return shown, pa.array(counts), pa.FixedSizeListArray.from_arrays(flat, SUMS)


def _add_kept(
    digits: dict[int, Array], heads: Array, kept: Array, least: int, runs: Runs
) -> dict[int, Array]:
    """Sums of runs, as digits, those that were kept among them, from the place `least` on."""
    for place in np.flatnonzero(kept.any(axis=0)):
        column = digits.get(int(place) + least, np.zeros(0, dtype=np.int64))
        column = np.zeros(len(runs.first), dtype=np.int64) if not len(column) else column.copy()
        column[heads] = kept[:, place]
        digits[int(place) + least] = column
    return add_doubles(digits, runs)


def vary(valid: Array, numbers: Array, kind: ColumnType, runs: Runs, less: int) -> "pa.Array":
    """(n · Σx² - (Σx)²) / (n · (n - less)) of each run, exact but for one rounding; NULL where it
    has no more values than `less`, and not a number where one is infinite.

    Args:
        valid: at which places there is a value.
        numbers: the values, doubles, or whole numbers in units of a type's last place.
        kind: their type.
        runs: the runs.
        less: 1: of a sample; 0: of all there is.
    """
    numbers = np.where(valid, numbers, 0)
    counts = runs.add(np.cumsum(valid.astype(np.int64)))
    there = counts > less
    counts = np.where(there, counts, less + 1)
    unit = 10**kind.scale if isinstance(kind, DecimalType) else 1
    most = int(counts.max(initial=1))
    if numbers.dtype != np.float64 and _fits(numbers, most) and most * unit * unit < 1 << 53:
        above = counts * add_whole(numbers * numbers, runs) - add_whole(numbers, runs) ** 2
        shown = divide(np.where(there, above, 0), counts * (counts - less), unit * unit)
        return pa.array(shown, mask=~there)
    sums, products = _split(numbers)
    added = add_doubles(sums, runs)
    times = (counts - less).astype(object) * (unit * unit)
    shown = divide_products(add_doubles(products, runs), (added, added), counts, times)
    return pa.array(shown, mask=~there)


def _split(numbers: Array) -> tuple[dict[int, Array], dict[int, Array]]:
    """The digits of numbers, and of their squares."""
    sums: dict[int, Array] = {}
    products: dict[int, Array] = {}
    parts = [numbers] if numbers.dtype == np.float64 else _halve(numbers)
    for place, one in enumerate(parts):
        _join(sums, split_doubles(one, np.ones(len(one), dtype=np.int64)))
        for at, other in enumerate(parts[place:]):
            times = np.full(len(one), 2 if at else 1, dtype=np.int64)
            _join(products, split_products(one, other, times))
    return sums, products


def _fits(numbers: Array, most: int) -> bool:
    """Whether n² · x² fits 64 bits."""
    greatest = max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
    return (most * greatest) ** 2 < _FITS


def _halve(numbers: Array) -> list[Array]:
    """Whole numbers as sums of doubles."""
    high = (numbers >> _HALF).astype(np.float64) * 2.0**_HALF
    return [high, (numbers & ((1 << _HALF) - 1)).astype(np.float64)]


def _join(digits: dict[int, Array], more: dict[int, Array]) -> None:
    for place, found in more.items():
        digits[place] = digits[place] + found if place in digits else found
