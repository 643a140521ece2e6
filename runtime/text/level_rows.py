"""Give every row of a piece of CSV as many cells as the first row of its file has."""

import re

from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.csv_dialect import CsvDialect

BLANKS = bytes(range(33))


def level_rows(part: bytes, dialect: CsvDialect, cells: int) -> tuple[bytes, int]:
    """The rows without those of blanks, filled with empty cells, or cut; and their number.

    Args:
        part: whole rows, quotes inside quoted cells doubled.
        dialect: how they are written.
        cells: how many each gets.

    Raises:
        NotPlain: a cell goes on after its quotes, or a line is blank of which only Spark knows
            whether it is a row.
    """
    mark, quote = re.escape(dialect.separator), re.escape(dialect.quote)
    cell = re.compile(
        rb"(%b(?:[^%b]|%b%b)*%b|[^%b\r\n]*)(%b|\r?\n|\Z)"
        % (quote, quote, quote, quote, quote, mark, mark)
    )
    rows: list[bytes] = []
    at = start = 0
    row: list[bytes] = []
    while at < len(part):
        match = cell.match(part, at)
        if match is None:
            raise NotPlain
        row.append(match[1])
        at = match.end()
        if match[2] == dialect.separator and at < len(part):
            continue
        if match[2] == dialect.separator:
            row.append(b"")
        line = part[start:at].rstrip(b"\r\n")
        blank = not line.strip(BLANKS)
        if blank and line and dialect.multiline:
            raise NotPlain
        if not blank:
            rows.append(dialect.separator.join((row + [b""] * cells)[:cells]) + b"\n")
        row, start = [], at
    return b"".join(rows), len(rows)
