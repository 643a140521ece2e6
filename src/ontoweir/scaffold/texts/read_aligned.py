"""Tables whose cells are parted by runs of blanks, as programs print them."""

import re

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) +(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)")
_NUMBER = re.compile(r"[+-]?[0-9.]+%?")


def read_aligned(text: str) -> tuple[list[str], list[list[str]]] | None:
    """The names of columns and the rows (None: it is no such table): a line of names, then rows of
    as many cells, some of them numbers; a date and a time of day are one cell. Lines before the
    names, and the names once more, are left out.

    Args:
        text: all of a file.

    >>> read_aligned("-- cpu --\\n us sy UTC\\n  1 20 2026-02-01 00:00:00\\n")
    (['us', 'sy', 'UTC'], [['1', '20', '2026-02-01T00:00:00']])
    """
    lines = [_MOMENT.sub(r"\1T\2", line).split() for line in text.splitlines() if line.strip()]
    first = next((n for n, cells in enumerate(lines) if any(map(_NUMBER.fullmatch, cells))), None)
    if not first or len(lines[first]) < 2 or len(lines[first - 1]) != len(lines[first]):
        return None
    names = lines[first - 1]
    head = lines[:first]
    rows = [cells for cells in lines[first:] if cells not in head]
    return (names, rows) if all(len(cells) == len(names) for cells in rows) else None
