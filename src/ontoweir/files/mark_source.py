"""Where a label's part stands in its line: what carets, SARIF regions and marked lines show."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ontoweir.diagnostics import Label
from ontoweir.errors import Source


@dataclass(frozen=True, slots=True)
class Marked:
    """A line of a file, tabs expanded, and the part of it to mark: columns from 1, end exclusive,
    in characters of the line as shown. `start`, `stop`: the same in the line as written."""

    number: int
    text: str
    column: int
    end_column: int
    start: int
    stop: int


def mark_source(source: Source, mark: str | None = None) -> Marked | None:
    """The marked line of a place; None where it has no line or the file cannot be read.

    The part is the place's own columns; else `mark` where the line holds it as a whole word; else
    the whole line.
    """
    lines = _read_lines(source.file)
    if source.line is None or not 0 < source.line <= len(lines):
        return None
    text = lines[source.line - 1]
    first, last = _part(text, source, mark)
    shown = text.expandtabs(4)
    return Marked(
        source.line,
        shown,
        len(text[: first - 1].expandtabs(4)) + 1,
        len(text[: last - 1].expandtabs(4)) + 1,
        first,
        last,
    )


def mark_label(label: Label) -> Marked | None:
    """The marked line of a label."""
    return mark_source(label.source, label.mark)


def _part(text: str, source: Source, mark: str | None) -> tuple[int, int]:
    if source.column is not None and source.column <= len(text):
        end = source.end_column or len(text) + 1
        return source.column, max(min(end, len(text) + 1), source.column + 1)
    if mark:
        match = re.search(rf"(?<!\w){re.escape(mark)}(?!\w)", text)
        if match is not None:
            return match.start() + 1, match.end() + 1
    bare = text.strip()
    first = len(text) - len(text.lstrip()) + 1
    return (first, first + len(bare)) if bare else (1, 1)


def _read_lines(file: str) -> tuple[str, ...]:
    try:
        status = Path(file).stat()
        return _split(file, status.st_mtime_ns, status.st_size)
    except (OSError, UnicodeDecodeError, ValueError):
        return ()


@lru_cache(maxsize=64)
def _split(file: str, changed: int, size: int) -> tuple[str, ...]:
    """The lines of a file as it was at that time."""
    text = Path(file).read_text(encoding="utf-8-sig")
    return tuple(line.rstrip("\r") for line in text.split("\n"))
