"""Compare two results: the rows that only one of them has."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

_MULTIPLICITY = "multiplicity"
_NAN = float("nan")
"""One object, as rows with it are alike then."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows of which one result has more than the other, with how many more, and how many rows both
    have; in the order of the results."""

    columns: tuple[str, ...]
    gone: tuple[tuple[tuple[object, ...], int], ...]
    come: tuple[tuple[tuple[object, ...], int], ...]
    same: int


def compare_answers(
    before: "Iterable[pa.Table]", after: "Iterable[pa.Table]", ignored: Iterable[str] = ()
) -> Difference:
    """Compare two results as bags: a row counts as often as its multiplicity says.

    Args:
        before, after: their rows, some at a time.
        ignored: columns that do not matter.

    Raises:
        UsageError: they have different columns.
    """
    without = {*ignored, _MULTIPLICITY}
    first, one = _count(before, without)
    second, other = _count(after, without)
    if first is not None and second is not None and set(first) != set(second):
        apart = sorted(set(first) ^ set(second))
        raise UsageError(
            f"the results have different columns: {', '.join(apart)} in one of them only",
            why="rows are compared column by column",
            fix="compare results of one query, or leave columns out by --ignore",
        )
    columns = first or second or ()
    if second is not None and columns != second:
        places = [second.index(name) for name in columns]
        moved: Counter[tuple[object, ...]] = Counter()
        for row, count in other.items():
            moved[tuple(row[p] for p in places)] += count
        other = moved
    gone = tuple((row, n - other[row]) for row, n in one.items() if n > other[row])
    come = tuple((row, n - one[row]) for row, n in other.items() if n > one[row])
    return Difference(columns, gone, come, (one & other).total())


def _count(
    tables: "Iterable[pa.Table]", without: set[str]
) -> tuple[tuple[str, ...] | None, Counter[tuple[object, ...]]]:
    """The columns, and how often each row is there."""
    names: tuple[str, ...] | None = None
    counts: Counter[tuple[object, ...]] = Counter()
    for table in tables:
        names = names or tuple(n for n in table.column_names if n not in without)
        often = (
            table.column(_MULTIPLICITY).to_pylist() if _MULTIPLICITY in table.column_names else None
        )
        cells = [_values(table.column(name)) for name in names]
        rows = zip(*cells, strict=True) if cells else iter([()] * table.num_rows)
        for place, row in enumerate(rows):
            counts[row] += 1 if often is None else often[place]
    return names, counts


def _values(column: "pa.ChunkedArray") -> list[object]:
    """The cells, of times and numbers alike whatever file they are from."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
        column = column.cast(pa.timestamp("us"))
    values: list[object] = column.to_pylist()
    if pa.types.is_floating(column.type):
        values = [v if v == v else _NAN for v in values]
    return values
