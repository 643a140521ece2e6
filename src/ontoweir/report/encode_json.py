"""JSON as `json.dumps` indents it, in a fraction of the time: that writes piece by piece."""

from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

_INDENT = "  "


def encode_json(value: Any) -> str:
    """The text of `json.dumps(value, indent=2, ensure_ascii=False)`, of dicts whose keys are texts,
    lists, tuples, texts, numbers, booleans and None. A list or dict that is there several times as
    the same object, at one depth, is written out once.

    Raises:
        TypeError: it is something else.
    """
    return _encode(value, "\n", {})


def _encode(value: Any, line: str, known: dict[tuple[int, str], str]) -> str:
    """`line`: the break before what is as deep as the value; `known`: what was written of objects,
    which stay while the whole is written."""
    match value:
        case str():
            return encode_basestring(value)
        case None | True | False | int() | float():
            return _encode_plain(value)
        case dict() | list() | tuple():
            made = known.get((id(value), line))
            if made is None:
                made = known[id(value), line] = _encode_whole(value, line, known)
            return made
        case _:
            raise TypeError(f"not JSON: {type(value).__name__}")


def _encode_plain(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    named = {float("inf"): "Infinity", float("-inf"): "-Infinity"}
    return "NaN" if value != value else named.get(value, float.__repr__(value))


def _encode_whole(value: Any, line: str, known: dict[tuple[int, str], str]) -> str:
    inner = line + _INDENT
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key of an object is no text")
        parts = [f"{encode_basestring(k)}: {_encode(v, inner, known)}" for k, v in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if not value:
        return "[]"
    parts = [_encode(v, inner, known) for v in value]
    return f"[{inner}{f',{inner}'.join(parts)}{line}]"
