"""Find the columns that tell the rows of a timestamp apart."""

from collections.abc import Sequence
from itertools import combinations

import pyarrow as pa

from ontoweir.mappings.model.catalog import Column, FloatType
from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys
from ontoweir.runtime.columnar.frame import Array

WIDEST = 2
"""Keys of at most so many columns, beside the timestamp, are looked for."""


class KeyFinder:
    """What may still be a key, chunk by chunk: every set of columns, until rows repeat it."""

    def __init__(self, columns: Sequence[Column]) -> None:
        names = [c.name for c in columns if not isinstance(c.type, FloatType)]
        self.open: list[tuple[str, ...]] = [
            key for width in range(1, WIDEST + 1) for key in combinations(names, width)
        ]

    def add(self, table: pa.Table, times: Array) -> None:
        """More rows, whole timestamps in order."""
        there = {name for name in table.column_names if not table.column(name).null_count}
        held: dict[tuple[str, ...], None] = {}
        for key in self.open:  # those with fewer columns first
            if not there.issuperset(key):
                continue
            narrower = any(less in held for less in combinations(key, len(key) - 1))
            if narrower or not find_repeated_keys(times, [table.column(n) for n in key]).any():
                held[key] = None
        self.open = list(held)

    def finish(self) -> tuple[tuple[str, ...], ...]:
        """The keys of which no column can be left out, those with few columns first."""
        found: dict[tuple[str, ...], None] = {}
        for key in self.open:
            widths = range(1, len(key))
            if not any(less in found for width in widths for less in combinations(key, width)):
                found[key] = None
        return tuple(found)
