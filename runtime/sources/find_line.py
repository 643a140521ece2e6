"""The line of a file in which a row is."""

from collections.abc import Iterable, Iterator
from itertools import islice

from ontoweir.mappings.model.catalog import DataSource

_BLANKS = bytes(range(33))
_PACKED = (b"\x1f\x8b", b"BZ", b"\x28\xb5")


def find_line(data: DataSource, file: str, number: int) -> int:
    """The line of a row, for messages, as rows are counted without empty lines and comments.

    Args:
        data: format and options.
        file: where the row is.
        number: of the row, from 1; a header, and the lines before and below it, count.

    Returns:
        The number itself where lines do not show which rows there are: files that are packed, or no
        text, or whose cells may extend over several lines; and where there are not so many rows.
    """
    options = {name.lower(): text.lower() for name, text in data.options}
    plain = data.unnest is None and data.envelope is None and options.get("multiline") != "true"
    if data.format not in ("csv", "json") or not plain:
        return number
    counts = (options.get(name, "") for name in ("skip", "skipafterheader"))
    skip, below = (int(text) if text.isdigit() else 0 for text in counts)
    header = options.get("header") == "true"
    if data.format == "json":
        skip, below, header = 0, 0, False
    mark = options.get("comment", "").encode() if data.format == "csv" else b""
    first = 1 + skip + (1 + below if header else 0)
    try:
        with open(file, "rb") as opened:
            if opened.read(2) in _PACKED:
                return number
            opened.seek(0)
            rows = _list_rows(islice(opened, skip, None), below if header else -1, mark)
            return next((skip + n for n in islice(rows, max(0, number - first), None)), number)
    except OSError:
        return number


def _list_rows(lines: Iterable[bytes], below: int, mark: bytes) -> Iterator[int]:
    """The numbers, from 1, of lines that are rows; `below`: how many below the header are none
    (-1: there is no header)."""
    left = 0
    for number, line in enumerate(lines, 1):
        if left:
            left -= 1
        elif line.strip(_BLANKS) and not (mark and line.startswith(mark)):
            if below >= 0:
                left, below = below, -1
            else:
                yield number
