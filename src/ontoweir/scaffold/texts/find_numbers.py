"""How the numbers of a file are written: the mark before the fraction, and between thousands."""

import re
from collections.abc import Sequence

_POINTS = ((".", ""), (",", ""), (",", "."), (".", ","))
_OF_COMMAS = ((".", ""), (".", ","), (",", ""), (",", "."))
"""Of files whose cells have commas between them."""
_OTHER = tuple(
    (decimal, mark) for mark in ("'", "\u2019", " ", "\u00a0", "\u202f") for decimal in ".,"
)


def find_numbers(columns: Sequence[Sequence[str]], separator: str) -> tuple[str, str]:
    """The mark before the fraction and the one between thousands (empty: there is none) by which
    most columns are numbers; of several alike the plainest.

    Args:
        columns: their cells, without those that stand for what is missing.
        separator: between the cells of the file.

    >>> find_numbers([["1.234,5", "17,0"], ["x", "y"]], ";")
    (',', '.')
    >>> find_numbers([["1.234", "7.250"]], ";")
    ('.', '')
    """
    filled = [cells for cells in columns if cells]

    def count(marks: tuple[str, str]) -> int:
        number = _write(*marks)
        held = [cells for cells in filled if all(map(number.fullmatch, cells))]
        return len(held) if _is_shown(held, *marks) else 0

    marks = _OF_COMMAS if separator == "," else _POINTS
    return max((*marks, *_OTHER), key=count)


def _write(decimal: str, thousands: str) -> re.Pattern[str]:
    point, mark = re.escape(decimal), re.escape(thousands)
    whole = rf"(?:[0-9]+|[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+)" if thousands else "[0-9]+"
    return re.compile(rf"[+-]?(?:{whole}{point}?[0-9]*|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?")


def _is_shown(held: Sequence[Sequence[str]], decimal: str, thousands: str) -> bool:
    """Whether numbers show that they have marks between thousands: some numbers have fractions, or
    a column with such marks has numbers without."""
    if not thousands:
        return True
    marked = [cells for cells in held if any(thousands in c for c in cells)]
    fractions = any(decimal in c for cells in held for c in cells)
    return bool(marked) and (
        fractions or any(thousands not in c for cells in marked for c in cells)
    )
