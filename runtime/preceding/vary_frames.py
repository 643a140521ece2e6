"""Variances of the values of runs of rows, rounded once."""

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import ColumnType, DecimalType
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.preceding.fold_frames import Runs, add_doubles, add_whole
from ontoweir.runtime.results.divide_exactly import divide
from ontoweir.runtime.results.exact_sums import divide_products, split_doubles, split_products

_HALF = 32
_FITS = 1 << 62


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
    sums: dict[int, Array] = {}
    products: dict[int, Array] = {}
    parts = [numbers] if numbers.dtype == np.float64 else _halve(numbers)
    for place, one in enumerate(parts):
        _join(sums, split_doubles(one, np.ones(len(one), dtype=np.int64)))
        for at, other in enumerate(parts[place:]):
            times = np.full(len(one), 2 if at else 1, dtype=np.int64)
            _join(products, split_products(one, other, times))
    added = add_doubles(sums, runs)
    times = (counts - less).astype(object) * (unit * unit)
    shown = divide_products(add_doubles(products, runs), (added, added), counts, times)
    return pa.array(shown, mask=~there)


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
