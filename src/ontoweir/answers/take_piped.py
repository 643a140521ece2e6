"""Take answers from standard input."""

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ontoweir.errors import Source, UsageError

_KINDS = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"\xff\xff\xff\xff", ".arrow"),
    (b"Obj\1", ".avro"),
    (b'{"head"', ".srj"),
    (b"{", ".jsonl"),
    (b"<", ".nq"),
    (b"_:", ".nq"),
)
"""What files of answers begin with; all others are CSV."""
_QUERY = re.compile(
    rb"(?:\s|#[^\n]*\n|--[^\n]*\n)*(?:PREFIX\s+[^\s:]*:\s*<|SELECT\s[^;]*(?:\{|\sFROM\s))",
    re.IGNORECASE,
)
"""What a query begins with, and no CSV."""


@contextmanager
def take_piped(path: Path) -> Iterator[Path]:
    """The file that has, for a while, what standard input has, where the path is `-`; else the
    path.

    Args:
        path: of answers.

    Raises:
        UsageError: standard input has none.
    """
    if str(path) != "-":
        yield path
        return
    held = b"" if sys.stdin is None else sys.stdin.buffer.read()
    if not held.strip():
        raise UsageError(
            "standard input has no answers",
            why="- reads them there",
            fix="pipe them in, as in `ontoweir replay … --output - | ontoweir show -`",
            source=Source("-"),
        )
    if _QUERY.match(held):
        raise UsageError(
            "standard input has a query, and no answers",
            why="- reads answers there",
            fix="write --query -, which reads a query there",
            source=Source("-"),
        )
    suffix = next((s for begin, s in _KINDS if held.lstrip().startswith(begin)), ".csv")
    with tempfile.TemporaryDirectory(prefix="ontoweir-piped-") as folder:
        file = Path(folder, f"stdin{suffix}")
        file.write_bytes(held)
        yield file
