"""Leave out the few rows of a table whose time is missing, or written like no other."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import ColumnType, DateType, StringType, TimestampType

if TYPE_CHECKING:
    import pyarrow as pa

    from ontoweir.scaffold.read_sample import Sample

_PARTS = 3
"""Texts that have so many numbers may be times."""
MOST = 0.8
"""So many of a column's values are written alike, if the others are left out."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows whose value in `column` is written as most are; `odd`: one of the `left_out` others,
    and one of those."""

    column: str
    rows: "pa.Table"
    left_out: int
    odd: str
    usual: str


def drop_odd(sample: "Sample", kinds: Mapping[str, ColumnType]) -> Iterator[Kept]:
    """For each column that would be a time but for few of its values, the other rows.

    Args:
        sample: a table without a time.
        kinds: the columns that are looked at, in order.
    """
    for name, kind in kinds.items():
        if not isinstance(kind, StringType | DateType | TimestampType):
            continue
        values = sample.rows.column(name).to_pylist()
        if isinstance(kind, StringType):
            shapes = ["" if v is None else _shape(str(v)) for v in values]
            usual, _ = next(iter(Counter(shapes).most_common(1)), ("", 0))
            if usual.count("0") < _PARTS:
                continue
            fits = [shape == usual for shape in shapes]
        else:
            fits = [v is not None for v in values]
        left_out = len(fits) - sum(fits)
        if left_out and sum(fits) >= MOST * len(fits):
            import pyarrow as pa

            odd, good = values[fits.index(False)], values[fits.index(True)]
            rows = sample.rows.filter(pa.array(fits))
            yield Kept(name, rows, left_out, "" if odd is None else str(odd), str(good))


def _shape(text: str) -> str:
    """A text with its letters and its numbers alike."""
    return re.sub("[^\\W\\d]+", "a", re.sub("[0-9]+", "0", text))
