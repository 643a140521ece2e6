"""Find the lines of CSV that are neither its header nor rows: comments, titles, units."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ontoweir.scaffold.texts.count_below import FEWEST, count_below

_MARKS = "#%!"
"""What comments begin with."""
_LINES = 2_000
"""So many lines at the beginning of a file are looked at."""
_DEEPEST = 200
"""So many lines before a header, at most, are taken for such."""
_LEVELS = 6
"""So many lines of a header are looked for."""
_SURE = 0.9
"""So many of the rows have the same number of cells."""


@dataclass(frozen=True, slots=True)
class Preamble:
    """`skip`: so many lines are before the header; `below`: so many below it are no rows;
    `comment`: what lines of comments begin with (empty: none are there); `names`: of the columns,
    where the header is itself marked as a comment, or has several lines (empty: else); `levels`:
    the lines before the header have the rest of the names."""

    skip: int = 0
    below: int = 0
    comment: str = ""
    names: tuple[str, ...] = ()
    levels: bool = False


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
    *,
    named: bool = False,
) -> Preamble:
    """What is before the rows of a file, and between them.

    Args:
        head: the beginning of the file, whole lines.
        separators: what may part cells.
        is_value: whether a cell is a number or a day.
        is_null: whether a cell stands for what is missing.
        named: whether the columns' names are known, so that rows need no header.

    >>> value, null, rows = str.isdigit, "NA".__eq__, 6 * "1,2\\n"
    >>> find_preamble("# by SCADA\\nt,x\\n" + rows, ",;", value, null)
    Preamble(skip=0, below=0, comment='#', names=(), levels=False)
    >>> find_preamble("Site 4\\n\\nt,x\\ns,bar\\n" + rows, ",;", value, null)
    Preamble(skip=2, below=1, comment='', names=(), levels=False)
    >>> find_preamble("# by SCADA\\n# t,x\\n" + rows, ",;", value, null)
    Preamble(skip=1, below=0, comment='', names=('t', 'x'), levels=False)
    """
    test = _Test(is_value, is_null)
    lines = cut_lines(head)[:_LINES]
    marked = _count_marked(lines)
    if marked:
        return _find_marked(lines, marked, separators, test)
    if not named and (levels := _find_levels(lines, separators, test)) is not None:
        return levels
    found = [(title, s) for s in separators if (title := _find_title(lines, s)) is not None]
    first = [one for one in found if not one[0][0]]  # by other separators there would be titles
    if not found:
        return Preamble()
    (skip, _), separator = max(first or found, key=lambda f: f[0][1])
    rows = [_cut(line, separator) for line in lines[skip:] if line.strip()]
    if any(map(test.is_value, rows[0])) and not named:
        return Preamble()  # rows have no header, so what is before them is none
    return Preamble(skip=skip, below=count_below(rows, test.is_value, test.is_null))


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
        below = count_below(rows, test.is_value, test.is_null)
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


def _find_levels(lines: Sequence[str], separators: Sequence[str], test: "_Test") -> Preamble | None:
    """A header of several lines, as pandas writes columns of several levels: each name has a part
    in each line, and below them a line names the index, or the first line has a name twice (None:
    there is no such header)."""
    for separator in separators:
        rows = [_cut(line, separator) for line in lines[: _LEVELS + 2]]
        width = len(rows[0]) if rows else 0
        if width < 2 or any(len(row) != width for row in rows):
            continue
        for last in range(1, min(_LEVELS, len(rows) - 1)):
            index = _count_index(rows[: last + 1], test)
            if index is None or not any(map(test.is_value, rows[last + 1][:index])):
                continue
            closed = not any(rows[last][index:])
            levels = rows[: last if closed else last + 1]
            firsts = levels[0][index:]
            if len(levels) < 2 or not (closed or len({*firsts}) < len(firsts)):
                continue
            called = rows[last][:index] if closed else [""] * index
            names = [
                _clean(c) or ("index" if n == 0 else f"index{n}") for n, c in enumerate(called)
            ]
            names += [_clean(" ".join(part)) for part in zip(*levels, strict=True)][index:]
            if len({name.lower() for name in names}) == len(names):
                return Preamble(skip=last, names=tuple(names), levels=True)
    return None


def _count_index(rows: Sequence[Sequence[str]], test: "_Test") -> int | None:
    """How many columns of an index are before those with names in each line, but for the last line,
    which may name the index alone (None: the lines are none of a header)."""
    first, last = rows[0], rows[-1]
    if any(test.is_value(cell) for row in rows for cell in row):
        return None
    index = next((n for n, cell in enumerate(last) if not cell), 0) if first[0] else 0
    if not first[0]:
        index = next((n for n, cell in enumerate(first) if cell), 0)
    if not index or not all(all(row[index:]) for row in rows[:-1]):
        return None
    closed = all(last[:index]) and not any(last[index:])
    return index if closed or (all(last[index:]) and not any(last[:index])) else None


def _find_title(lines: Sequence[str], separator: str) -> tuple[int, int] | None:
    """How many lines with another number of cells are before the first row, and how many cells a
    row has (None: rows have no number of cells of their own)."""
    widths = [len(_cut(line, separator)) if line.strip() else 0 for line in lines]
    width = _most(widths)
    if width < 2:
        return None
    first = widths.index(width)
    rest = [w for w in widths[first:] if w]
    sure = len(rest) >= FEWEST and rest.count(width) >= _SURE * len(rest)
    return (first, width) if sure and first <= _DEEPEST else None


def _most(widths: Sequence[int]) -> int:
    """How many cells most lines have, but for empty ones."""
    counts = Counter(w for w in widths if w)
    return counts.most_common(1)[0][0] if counts else 0


def cut_lines(head: str) -> list[str]:
    """The lines of a text, as a run tells them apart: other characters may be within cells."""
    lines = [line.removesuffix("\r") for line in head.split("\n")]
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Lines that are neither a file's header nor rows: their texts, without empty ones; `values`:
    so many of them, before the header, have several cells with numbers or days, as rows have.
    `cut`: so many of the first `seen` rows have more cells than there are columns."""

    lines: tuple[str, ...] = ()
    values: int = 0
    cut: int = 0
    seen: int = 0


def list_left_out(head: str, preamble: Preamble, is_value: Callable[[str], bool]) -> LeftOut:
    """What is left out at the beginning of a file; of comments those before the first row.

    >>> list_left_out("Site 4\\n\\nt,x\\ns,bar\\n1,2\\n", Preamble(skip=2, below=1), str.isdigit)
    LeftOut(lines=('Site 4', 's,bar'), values=0, cut=0, seen=0)
    """
    lines = cut_lines(head)[:_LINES]
    mark, before, rest = preamble.comment, lines[: preamble.skip], lines[preamble.skip :]
    before = [] if preamble.levels else before
    first = next((n for n, x in enumerate(rest) if not (mark and x.startswith(mark))), len(rest))
    below = rest[first + 1 : first + 1 + preamble.below]
    cells = [max((_cut(line, s) for s in ",;\t"), key=len) for line in before]
    valued = sum(len(row) > 1 and any(map(is_value, row)) for row in cells)
    shown = (line for line in (*before, *rest[:first], *below) if line.strip())
    return LeftOut(tuple(shown), valued)


def _cut(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    return next(csv.reader([line.replace("\r", " ")], delimiter=separator), [])


def _clean(cell: str) -> str:
    return cell.strip().replace("|", " ")
