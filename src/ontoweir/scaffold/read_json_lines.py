"""Read the beginning of JSON lines, also of such as Arrow refuses."""

import json
from collections import Counter
from io import TextIOWrapper
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ontoweir.scaffold.texts.read_cells import is_plain

if TYPE_CHECKING:
    import pyarrow as pa

_LINES = 0.5
"""So many lines are objects, at least, in what is JSON lines."""
_Kinds: TypeAlias = "dict[tuple[str, ...], Counter[str]]"
"""How often a path has values of a kind: numbers, also as texts, or others."""


def read_json_lines(file: Path, most: int) -> "pa.Table":
    """The first lines of a file, with the types that their values seem to have.

    Where a path has values of several kinds, which Arrow refuses, numbers and texts are numbers if
    these are as many, and texts that are none are NULL: how many there are, all rows will say.
    Values in the place of objects or arrays are NULL. Lines that are no objects are left out, as
    they are by what reads all rows, which counts them.

    Args:
        file: text, which may be packed.
        most: of its lines.

    Raises:
        OSError: it cannot be read.
        pa.ArrowException: it is no JSON lines.
    """
    import pyarrow as pa

    try:
        return _read(str(file)).slice(0, most)
    except pa.ArrowInvalid:
        even = _even_lines(file, most)
        if even is None:
            raise
        return _read(even)


def _read(data: str | bytes) -> "pa.Table":
    """Lines of a file, or of bytes. Texts that are times but not plainly so stay texts."""
    import pyarrow as pa
    import pyarrow.json as pjson

    def read(*known: "pa.Field") -> "pa.Table":
        parsing = pjson.ParseOptions(pa.schema(known)) if known else None
        if isinstance(data, str):
            return pjson.read_json(data, parse_options=parsing)
        whole = pjson.ReadOptions(block_size=len(data))
        return pjson.read_json(pa.BufferReader(data), whole, parsing)

    rows = read()
    moments = [f.name for f in rows.schema if pa.types.is_timestamp(f.type)]
    if not moments:
        return rows
    written = read(*(pa.field(name, pa.string()) for name in moments))
    for name in moments:
        if not is_plain(written.column(name)):
            place = rows.column_names.index(name)
            rows = rows.set_column(place, name, written.column(name))
    return rows


def _even_lines(file: Path, most: int) -> bytes | None:
    """The first lines of a file, where each path has values of one kind (None: too few are
    objects)."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    count = 0
    with TextIOWrapper(pa.input_stream(str(file)), "utf-8-sig", "replace") as opened:
        for line in islice(opened, most):
            if not line.strip():
                continue
            count += 1
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                rows.append(row)
    if not rows or len(rows) < _LINES * count:
        return None
    kinds: _Kinds = {}
    for row in rows:
        _count(row, (), kinds)
    chosen = {path: _choose(found) for path, found in kinds.items()}
    even = (json.dumps(_even(row, (), chosen), ensure_ascii=False) for row in rows)
    return "\n".join(even).encode("utf-8", "replace") + b"\n"


def _kind(value: Any) -> str | None:
    match value:
        case None:
            return None
        case dict():
            return "object"
        case list():
            return "array"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text" if _number(value) is None else "digits"
        case _:
            raise TypeError(f"not JSON: {type(value).__name__}")


def _choose(found: Counter[str]) -> str:
    """The kind that a path's values are taken for; texts alone are texts, whatever is in them."""
    numbers = found["number"] + found["digits"]
    whole = found["number"] and numbers >= found["text"]
    ways = {
        "object": found["object"],
        "array": found["array"],
        "number": numbers if whole else found["number"],
        "text": found["text"] if whole else found["text"] + found["digits"],
        "boolean": found["boolean"],
    }
    return max(ways, key=lambda kind: ways[kind])


def _number(text: str) -> float | None:
    """The number that a text is, as a device writes one."""
    try:
        return float(text) if text[-1:].isdigit() and "_" not in text else None
    except ValueError:
        return None


def _count(value: Any, path: tuple[str, ...], kinds: _Kinds) -> None:
    kind = _kind(value)
    if kind is not None and path:
        kinds.setdefault(path, Counter())[kind] += 1
    if isinstance(value, dict):
        for name, inner in value.items():
            _count(inner, (*path, name), kinds)
    elif isinstance(value, list):
        for inner in value:
            _count(inner, (*path, "[]"), kinds)


def _even(value: Any, path: tuple[str, ...], chosen: dict[tuple[str, ...], str]) -> Any:
    kind = _kind(value)
    wanted = chosen[path] if path and kind is not None else kind
    match wanted, value:
        case "object", dict():
            return {name: _even(inner, (*path, name), chosen) for name, inner in value.items()}
        case "array", list():
            return [_even(inner, (*path, "[]"), chosen) for inner in value]
        case "number", str():
            return _number(value)
        case ("text", str()) | ("boolean", bool()):
            return value
        case "number", int() | float() if not isinstance(value, bool) and isfinite(value):
            return value
        case "text", int() | float():
            return json.dumps(value)
        case _:
            return None
