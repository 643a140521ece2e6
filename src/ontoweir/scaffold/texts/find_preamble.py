"""Find the lines of CSV that are neither its header nor rows: comments, titles, units."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_MARKS = "#%!"
"""What comments begin with."""
_LINES = 2_000
"""So many lines at the beginning of a file are looked at."""
_DEEPEST = 200
"""So many lines before a header, at most, are taken for such."""
_SURE = 0.9
"""So many of the rows have the same number of cells."""
_FEWEST = 3
"""Rows, at least, that say how many cells a row has."""
_BELOW = 3
"""So many lines below a header, at most, are taken for units and the like."""


@dataclass(frozen=True, slots=True)
class Preamble:
    """`skip`: so many lines are before the header; `below`: so many below it are no rows;
    `comment`: what lines of comments begin with (empty: none are there); `names`: of the columns,
    where the header is itself marked as a comment (empty: it is not)."""

    skip: int = 0
    below: int = 0
    comment: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Test:
    """Whether a cell is a number or a day, and whether it stands for what is missing."""

    is_value: Callable[[str], bool]
    is_null: Callable[[str], bool]


def find_preamble(
    head: str,
    separators: Sequence[str],
    is_value: Callable[[str], bool],
    is_null: Callable[[str], bool],
) -> Preamble:
    """What is before the rows of a file, and between them.

    Args:
        head: the beginning of the file, whole lines.
        separators: what may part cells.
        is_value: whether a cell is a number or a day.
        is_null: whether a cell stands for what is missing.

    >>> value, null, rows = str.isdigit, "NA".__eq__, 6 * "1,2\\n"
    >>> find_preamble("# by SCADA\\nt,x\\n" + rows, ",;", value, null)
    Preamble(skip=0, below=0, comment='#', names=())
    >>> find_preamble("Site 4\\n\\nt,x\\ns,bar\\n" + rows, ",;", value, null)
    Preamble(skip=2, below=1, comment='', names=())
    >>> find_preamble("# by SCADA\\n# t,x\\n" + rows, ",;", value, null)
    Preamble(skip=1, below=0, comment='', names=('t', 'x'))
    """
    test = _Test(is_value, is_null)
    lines = head.splitlines()[:_LINES]
    marked = _count_marked(lines)
    if marked:
        return _find_marked(lines, marked, separators, test)
    found = [(title, s) for s in separators if (title := _find_title(lines, s)) is not None]
    if not found or any(not skip for (skip, _), _ in found):
        return Preamble()
    (skip, _), separator = max(found, key=lambda f: f[0][1])
    rows = [_cut(line, separator) for line in lines[skip:] if line.strip()]
    if any(map(test.is_value, rows[0])):
        return Preamble()  # rows have no header, so what is before them is none
    return Preamble(skip=skip, below=_count_below(rows, test))


def _count_marked(lines: Sequence[str]) -> int:
    """How many lines at the beginning begin with the mark that the first one begins with."""
    mark = next(iter(lines), "")[:1]
    if not mark or mark not in _MARKS:
        return 0
    return next((n for n, line in enumerate(lines) if not line.startswith(mark)), len(lines))


def _find_marked(
    lines: Sequence[str],
    marked: int,
    separators: Sequence[str],
    test: "_Test",
) -> Preamble:
    """Where the first lines are marked as comments: one of these may be the header, where the first
    line after them is a row of values."""
    mark, rest = lines[0][:1], [line for line in lines[marked:] if line.strip()]
    if not rest:
        return Preamble()
    widths = {s: _most([len(_cut(line, s)) for line in rest]) for s in separators}
    separator = max(widths, key=lambda s: widths[s])
    first = _cut(rest[0], separator)
    if not any(map(test.is_value, first)):
        rows = [_cut(line, separator) for line in rest]
        below = _count_below(rows, test)
        if any(len(row) == len(first) and row[0].startswith(mark) for row in rows):
            return Preamble(skip=marked, below=below)  # such lines are rows, too
        return Preamble(below=below, comment=mark)
    for place, line in enumerate(lines[:marked]):
        cells = _cut(re.sub(rf"^{re.escape(mark)}+\s*", "", line), separator)
        named = len({c.lower() for c in cells}) == len(cells) and all(map(_clean, cells))
        if len(cells) == len(first) > 1 and named and not any(map(test.is_value, cells)):
            below = marked - place - 1
            return Preamble(skip=place, below=below, names=tuple(_clean(c) for c in cells))
    if any(len(_cut(line, separator)) == len(first) for line in lines[:marked]):
        return Preamble()  # they may be rows
    return Preamble(comment=mark)


def _find_title(lines: Sequence[str], separator: str) -> tuple[int, int] | None:
    """How many lines with another number of cells are before the first row, and how many cells a
    row has (None: rows have no number of cells of their own)."""
    widths = [len(_cut(line, separator)) if line.strip() else 0 for line in lines]
    width = _most(widths)
    if width < 2:
        return None
    first = widths.index(width)
    rest = [w for w in widths[first:] if w]
    sure = len(rest) >= _FEWEST and rest.count(width) >= _SURE * len(rest)
    return (first, width) if sure and first <= _DEEPEST else None


def _most(widths: Sequence[int]) -> int:
    """How many cells most lines have, but for empty ones."""
    counts = Counter(w for w in widths if w)
    return counts.most_common(1)[0][0] if counts else 0


def _count_below(rows: Sequence[Sequence[str]], test: "_Test") -> int:
    """How many rows below the header have texts, which do not come again, in columns all of which
    have values further below."""
    body = rows[1 + _BELOW :]
    if len(body) < _FEWEST:
        return 0
    valued = [
        n
        for n in range(len(rows[0]))
        if sum(n < len(r) and test.is_value(r[n]) for r in body) >= _SURE * len(body)
    ]
    later = [{row[n].strip() for n in valued if n < len(row)} for row in body]
    for below, row in enumerate(rows[1 : 1 + _BELOW]):
        cells = [row[n].strip() for n in valued if n < len(row)]
        said = [cell for cell in cells if cell and not test.is_null(cell)]
        if not said or any(map(test.is_value, said)) or any(s in t for t in later for s in said):
            return below
    return _BELOW


def _cut(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    return next(csv.reader([line], delimiter=separator), [])


def _clean(cell: str) -> str:
    return cell.strip().replace("|", " ")
