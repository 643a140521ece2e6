"""Read what is nested in JSON lines: members by path, and a row for each element of an array."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from ontoweir.runtime.text.open_packed import BYTE_ORDER_MARK, cut_blocks, open_packed
from ontoweir.runtime.text.read_json import CORRUPT

_ROWS = 20_000
"""So many rows are given at once."""
MISSING = object()
"""In the place of a member that is not there."""


def read_nested(path: str, members: Mapping[str, str], unnest: str | None) -> Iterator[pa.Table]:
    """Members of the objects of a file as the texts that they are written with, and CORRUPT.

    A member is NULL where a line lacks it. What is an object or an array is its JSON, which only a
    column of strings takes.

    Args:
        path: a local file.
        members: by column, the names that lead to its member, with dots. A member whose own name
            has these dots comes first.
        unnest: the names that lead to an array, each of whose elements is a row with the rest of
            the line; members whose path begins with it are of the element. A line without it, or
            with an empty one, has no row; one where it is no array is CORRUPT.

    Raises:
        OSError: it cannot be read.
    """
    rows: list[dict[str, str | None]] = []
    for line in open_lines(path):
        rows += _rows(line, members, unnest)
        if len(rows) >= _ROWS:
            yield _table(rows, members)
            rows = []
    yield _table(rows, members)


def open_lines(path: str) -> Iterator[bytes]:
    """The lines of a file that are not blank.

    Raises:
        OSError: it cannot be read.
    """
    first = True
    with open_packed(path) as source:
        for block in cut_blocks(source):
            if first:
                block, first = block.removeprefix(BYTE_ORDER_MARK), False
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            yield from (line for line in block.split(b"\n") if line.strip(b" \t"))


def _rows(
    line: bytes, members: Mapping[str, str], unnest: str | None
) -> Iterator[dict[str, str | None]]:
    text = line.decode("utf-8", errors="replace")
    held = parse_members(text)
    if not isinstance(held, dict):
        yield {CORRUPT: text.strip()}
        return
    if unnest is None:
        yield {name: show_member(find_member(held, path)) for name, path in members.items()}
        return
    elements = find_member(held, unnest)
    if elements is MISSING or elements is None:
        return
    if not isinstance(elements, list):
        yield {CORRUPT: text.strip()}
        return
    for element in elements:
        row = {}
        for name, path in members.items():
            if path == unnest:
                found = element
            elif path.startswith(f"{unnest}."):
                found = find_member(element, path.removeprefix(f"{unnest}."))
            else:
                found = find_member(held, path)
            row[name] = show_member(found)
        yield row


def parse_members(text: str) -> Any:
    """What JSON says, with numbers as they are written (a ValueError, not raised: it is none)."""
    try:
        return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)
    except ValueError as error:
        return error
    except RecursionError:
        return ValueError("nested too deeply")


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def find_member(held: Any, path: str) -> Any:
    """What names with dots lead to (MISSING: nothing)."""
    if not isinstance(held, dict):
        return MISSING
    if path in held:
        return held[path]
    first, dot, rest = path.partition(".")
    return find_member(held[first], rest) if dot and first in held else MISSING


def show_member(value: Any) -> str | None:
    """The text of a member: as it is written; of a string, what it says (None: null, or none)."""
    if value is None or value is MISSING:
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _write(value)


def _write(value: Any) -> str:
    """JSON, with numbers as they were written."""
    match value:
        case _Number():
            return str(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(k)}:{_write(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_write, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _table(rows: list[dict[str, str | None]], members: Mapping[str, str]) -> pa.Table:
    names = (*members, CORRUPT)
    return pa.table({n: pa.array([r.get(n) for r in rows], pa.string()) for n in names})
