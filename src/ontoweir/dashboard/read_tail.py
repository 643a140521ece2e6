"""The last records of a file of JSON lines, however long it is and wherever its writer died."""

import json
import os
from pathlib import Path
from typing import Any

LONGEST = 1 << 20
"""Bytes that are read, from the end."""


def read_tail(file: Path, *, most: int = 300, longest: int = LONGEST) -> list[dict[str, Any]]:
    """The last `most` objects of the file's last `longest` bytes, the oldest first.

    A line cut by the reading or by a writer that was killed, and what is not a JSON object, is left
    out. A missing file has no records.
    """
    try:
        with open(file, "rb") as lines:
            size = lines.seek(0, os.SEEK_END)
            start = max(0, size - longest)
            lines.seek(start)
            text = lines.read(longest)
    except OSError:
        return []
    records: list[dict[str, Any]] = []
    whole = text.split(b"\n")[1 if start else 0 : -1]
    for line in whole[-most:]:
        record = parse_object(line)
        if record is not None:
            records.append(record)
    return records


def read_object(file: Path, *, longest: int = LONGEST) -> dict[str, Any] | None:
    """The JSON object that a small file holds; None where there is none."""
    try:
        with open(file, "rb") as content:
            return parse_object(content.read(longest))
    except OSError:
        return None


def parse_object(text: bytes) -> dict[str, Any] | None:
    """A JSON object; None for anything else."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
