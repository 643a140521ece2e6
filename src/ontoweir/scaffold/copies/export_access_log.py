"""What web servers log of requests, in the Common or the Combined Log Format, as CSV."""

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from ontoweir.errors import DataError, Source

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_LINE = re.compile(
    rf"(\S+) \S+ (\S+) \[([^\]]+)\] {_QUOTED} (\d{{3}}) (\d+|-)(?: {_QUOTED} {_QUOTED})?(?: .*)?"
)
_TIME = "%d/%b/%Y:%H:%M:%S %z"
_COLUMNS = ("time", "client", "username", "method", "path", "status", "bytes", "referrer", "agent")


def is_access_log(head: str) -> bool:
    """Whether the first lines of a file are requests as Apache and nginx log them.

    >>> is_access_log('::1 - - [01/Jan/2026:00:00:01 +0100] "GET / HTTP/1.1" 200 5')
    True
    """
    lines = [line for line in head.splitlines()[:20] if line.strip()]
    return bool(lines) and all(_LINE.fullmatch(line.strip()) for line in lines)


def export_access_log(file: Path, folder: Path) -> Path:
    """The requests of a file as CSV, with times in UTC; `-` is NULL, and so is a method where a
    request is none of HTTP, which is a path then.

    Args:
        file: the log.
        folder: for the CSV.

    Raises:
        DataError: a line is written otherwise.
        OSError: it cannot be read.
    """
    target = folder / f"{file.stem}.csv"
    with target.open("w", newline="", encoding="utf-8") as written:
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(_read_requests(file))
    return target


def _read_requests(file: Path) -> Iterator[list[str]]:
    with file.open(encoding="utf-8", errors="replace", newline="\n") as opened:
        for number, line in enumerate(opened, 1):
            if not line.strip():
                continue
            found = _LINE.fullmatch(line.strip())
            time = None if found is None else _read_time(found[3])
            if found is None or time is None:
                raise DataError(
                    f"the line is no request: {line.strip()[:60]}",
                    why="the lines above are in the Common or the Combined Log Format, "
                    'CLIENT - USER [TIME] "REQUEST" STATUS BYTES "REFERRER" "AGENT"',
                    fix="remove the line, or correct it",
                    source=Source(str(file), number),
                )
            client, user, _, request, status, size, *rest = found.groups(default="-")
            parts = request.split(" ")
            method, path = parts[:2] if len(parts) == 3 else ("-", request)
            cells = (client, user, method, path, status, size, *rest)
            yield [time, *("" if cell == "-" else _unescape(cell) for cell in cells)]


def _read_time(text: str) -> str | None:
    try:
        return datetime.strptime(text, _TIME).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return None


def _unescape(cell: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", cell)
