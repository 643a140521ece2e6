"""Tables whose cells are parted by runs of blanks, as programs print them."""

import re

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) +(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)")
_SEVERAL = re.compile(r"\S {2,}\S")
_NUMBER = re.compile(r"[+-]?[0-9.]+%?")


def read_aligned(text: str) -> tuple[list[str], list[list[str]]] | None:
    """The names of columns and the rows (None: it is no such table): a line of names, then rows of
    as many cells, some of them numbers; a date and a time of day are one cell. Lines before the
    names, or between them and the rows, as of units, and the names once more, are left out. Of rows
    alone, where several blanks part their cells, there are no names.

    Args:
        text: all of a file.

    >>> read_aligned("-- cpu --\\n us sy UTC\\n  1 20 2026-02-01 00:00:00\\n")
    (['us', 'sy', 'UTC'], [['1', '20', '2026-02-01T00:00:00']])
    >>> read_aligned("#YY  MM GST WSPD\\n#yr  mo m/s  m/s\\n2026 03 4.1  3.9\\n")
    (['YY', 'MM', 'GST', 'WSPD'], [['2026', '03', '4.1', '3.9']])
    >>> read_aligned(" 0004 19970101  2   29.33\\n 0004 19970118  1   14.96\\n")
    ([], [['0004', '19970101', '2', '29.33'], ['0004', '19970118', '1', '14.96']])
    """
    lines = [_MOMENT.sub(r"\1T\2", line).split() for line in text.splitlines() if line.strip()]
    first = next((n for n, cells in enumerate(lines) if any(map(_NUMBER.fullmatch, cells))), None)
    if first is None or len(lines[first]) < 2 or any(c[-1] in ",;|" for c in lines[first]):
        return None
    if not first:
        alike = len({len(cells) for cells in lines}) == 1 and len(lines) > 1
        return ([], lines) if alike and _SEVERAL.search(text) else None
    if len(lines[first - 1]) != len(lines[first]):
        return None
    head = lines[:first]
    names = _name(head, len(lines[first]))
    rows = [cells for cells in lines[first:] if cells not in head]
    return (names, rows) if all(len(cells) == len(names) for cells in rows) else None


def _name(head: list[list[str]], width: int) -> list[str]:
    """The names, of the lines of as many cells directly above the rows the first whose cells all
    differ, without a mark of comments before them."""
    first = len(head) - 1
    while first and len(head[first - 1]) == width:
        first -= 1
    for cells in head[first:]:
        names = [cells[0].lstrip("#%!") or cells[0], *cells[1:]]
        if len(set(names)) == width:
            return names
    return head[-1]
