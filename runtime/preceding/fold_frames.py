"""Aggregates of runs of rows, by what is added up until each place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ontoweir.errors import RunError
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.results.exact_sums import INFINITE, MINUS_INFINITE, split_doubles

_HALF = 32
_LOW = (1 << _HALF) - 1
PLACES = tuple(range(MINUS_INFINITE, 82))
"""Of the digits of a sum of doubles: those of infinities, and those of numbers."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of places, from `first` to `last`; where last < first there is none."""

    first: Array
    last: Array

    @property
    def there(self) -> Array:
        """Which have a row."""
        there: Array = self.last >= self.first
        return there

    def add(self, until: Array) -> Array:
        """Sums of numbers, of which this is what is added up until each place."""
        padded = np.concatenate([np.zeros(1, dtype=until.dtype), until])
        until_last = padded[np.where(self.there, self.last + 1, 0)]
        made: Array = until_last - padded[np.where(self.there, self.first, 0)]
        return made


def add_whole(values: Array, runs: Runs) -> Array:
    """Sums of whole numbers.

    Raises:
        RunError: one does not fit 64 bits.
    """
    high = runs.add(np.cumsum(values >> _HALF))
    low = runs.add(np.cumsum(values & _LOW))
    high += low >> _HALF
    limit = 1 << (63 - _HALF)
    if len(high) and (int(high.min()) < -limit or int(high.max()) >= limit):
        raise RunError(
            "a sum of rows before a row does not fit 64 bits",
            why="whole numbers are kept in 64 bits (decimals in units of their last place)",
            fix="sum fewer rows, or CAST(… AS DOUBLE)",
        )
    made: Array = (high << _HALF) | (low & _LOW)
    return made


def add_doubles(digits: Mapping[int, Array], runs: Runs) -> dict[int, Array]:
    """Sums of doubles, as digits (exact_sums)."""
    return {place: runs.add(np.cumsum(of)) for place, of in digits.items()}


def cut_doubles(values: Array, heads: Array, kept: Mapping[int, Array]) -> dict[int, Array]:
    """The digits of doubles, and in some places those of sums that were kept, instead.

    Args:
        values: of all places.
        heads: the places of the sums.
        kept: the digits of each of these.
    """
    values = values.copy()
    values[heads] = 0.0
    digits = split_doubles(values, np.ones(len(values), dtype=np.int64))
    for place, of in kept.items():
        if of.any():
            column = digits.setdefault(place, np.zeros(len(values), dtype=np.int64))
            if not column.flags.writeable:
                column = digits[place] = column.copy()
            column[heads] = of
    return digits


def find_extremes(values: Array, runs: Runs, function: Literal["min", "max"]) -> Array:
    """The least or greatest of each run; anything where there is no row. By tables of runs of 1, 2,
    4, … rows, two of which make each run (Bender and Farach-Colton, The LCA problem revisited,
    2000)."""
    best = np.minimum if function == "min" else np.maximum
    made = np.zeros(len(runs.first), dtype=values.dtype)
    length = np.where(runs.there, runs.last - runs.first + 1, 0)
    level = np.frexp(length.astype(np.float64))[1] - 1  # of 0: -1
    for power in range(int(level.max(initial=-1)) + 1):
        if power:
            half = 1 << (power - 1)
            values = best(values[:-half], values[half:])
        mine = np.flatnonzero(level == power)
        last = runs.last[mine] - (1 << power) + 1
        made[mine] = best(values[runs.first[mine]], values[last])
    return made


def list_digits(digits: Mapping[int, Array], rows: int) -> Array:
    """Digits of sums as a row of numbers for each."""
    made = np.zeros((rows, len(PLACES)), dtype=np.int64)
    for place, of in digits.items():
        made[:, place - MINUS_INFINITE] = of
    return made


def name_digits(rows: Array) -> dict[int, Array]:
    """What list_digits made, by places."""
    return {p: rows[:, p - MINUS_INFINITE] for p in PLACES if rows[:, p - MINUS_INFINITE].any()}


assert MINUS_INFINITE < INFINITE < 0
