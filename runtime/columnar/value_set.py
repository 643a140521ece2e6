"""Which values of a column are among some."""

from dataclasses import dataclass

import numpy as np

from ontoweir.runtime.columnar.frame import Array

_TABLE = 1 << 20
"""Whole numbers up to so far apart are looked up in a table of bits."""


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Numbers to be looked up again and again; make it with `value_set`.

    `table`: of whole numbers near to each other, from the least on, whether each is there, with a
    False before and behind.
    """

    values: Array
    low: int
    table: Array | None

    def holds(self, column: Array) -> Array:
        """Which numbers of a column are in the set."""
        if self.table is None or column.dtype != np.int64:
            return np.isin(column, self.values)
        # a difference that overflows is none of those inside
        place = column - self.low
        place += 1
        return self.table.take(place, mode="clip")


def value_set(values: Array) -> ValueSet:
    """The set of some numbers."""
    if len(values) == 0 or values.dtype != np.int64:
        return ValueSet(values, 0, None)
    low, high = int(values.min()), int(values.max())
    if high - low > _TABLE:
        return ValueSet(np.unique(values), low, None)
    table = np.zeros(high - low + 3, dtype=np.bool_)
    table[values - low + 1] = True
    return ValueSet(values, low, table)
