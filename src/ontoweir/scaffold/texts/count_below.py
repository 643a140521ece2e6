"""Count the lines below a header that say units, kinds of values and the like."""

import re
from collections.abc import Callable, Sequence

from ontoweir.scaffold.terms.find_units import is_unit

FEWEST = 3
"""Rows, at least, that say how rows are written."""
_BELOW = 3
"""So many lines below a header, at most, are taken for units and the like."""
_SURE = 0.9
"""So many cells of a column are values, or written alike."""
_KINDS = frozenset(
    (
        *("ts", "rn", "avg", "smp", "tot", "max", "min", "std", "med", "sum", "mean", "count"),
        *("inst", "utc", "gmt", "local", "unitless", "int", "integer", "long", "float", "double"),
        *("real", "number", "numeric", "decimal", "string", "str", "text", "char", "varchar"),
        *("bool", "boolean", "date", "time", "datetime", "timestamp", "enum", "s", "sec", "secs"),
        *("second", "seconds", "mins", "minutes", "h", "hr", "hrs", "hours", "d", "day", "days"),
        *("yr", "mo", "dy", "mn", "epoch", "unix"),
    )
)
"""What such lines say beside units: how values were made, and of what type they are."""
_CODED = re.compile(
    r"[0-9]+[sdn]|[\[(<{].*[\])>}]|[ymdhs]{1,4}([-/.: t][ymdhs]{1,4})+", re.IGNORECASE
)
"""The same as some agencies write it: `14n`; in brackets; as `yyyy-mm-dd hh:mm`."""


def count_below(
    rows: Sequence[Sequence[str]], is_value: Callable[[str], bool], is_null: Callable[[str], bool]
) -> int:
    """How many rows below the header are evidently none: where all others have values these have
    texts, most of them units or kinds, none of which comes again, and in no other column they are
    written like those below them.

    Args:
        rows: the header, and what follows.
        is_value: whether a cell is a number or a day.
        is_null: whether a cell stands for what is missing.

    >>> table = [["at", "x"], ["Mon 1", "bar"], *([f"Mon {n}", f"{n}"] for n in range(9))]
    >>> count_below(table, str.isdigit, "NA".__eq__)
    0
    >>> count_below([["at", "x"], ["", "bar"], *table[2:]], str.isdigit, "NA".__eq__)
    1
    >>> count_below([["at", "x"], ["", "ill"], *table[2:]], str.isdigit, "NA".__eq__)
    0
    """
    body = rows[1 + _BELOW :]
    if len(body) < FEWEST:
        return 0
    columns = [[row[n].strip() for row in body if n < len(row)] for n in range(len(rows[0]))]
    valued = {n for n, c in enumerate(columns) if sum(map(is_value, c)) >= _SURE * len(body)}
    for below, row in enumerate(rows[1 : 1 + _BELOW]):
        cells = [(n, cell) for n, text in enumerate(row[: len(columns)]) if (cell := text.strip())]
        said = [cell for n, cell in cells if n in valued and not is_null(cell)]
        if not said or any(map(is_value, said)) or sum(map(_is_kind, said)) * 2 < len(said):
            return below
        if any(cell in columns[n] or _is_alike(cell, columns[n]) for n, cell in cells):
            return below
    return _BELOW


def _is_kind(cell: str) -> bool:
    plain = cell.lower()
    return plain in _KINDS or bool(_CODED.fullmatch(plain)) or is_unit(cell)


def _is_alike(cell: str, others: Sequence[str]) -> bool:
    """Whether a cell with digits is written as the others are, in letters, digits and marks."""
    shape = _shape(cell)
    alike = sum(_shape(other) == shape for other in others)
    return "0" in shape and alike >= _SURE * len(others)


def _shape(cell: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"[0-9]+", "0", cell))
