"""Structures in Thrift's compact protocol, in which Parquet writes headers of pages and footers
(apache/parquet-format, parquet.thrift; thrift-compact-protocol.md)."""

from typing import Any, TypeAlias

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
"""Types of values; a list's value is the type of its items, and these."""

_WHOLE = (I16, I32, I64)

Struct: TypeAlias = dict[int, tuple[int, Any]]
"""Fields by number: type and value."""


def read_struct(content: bytes, place: int = 0) -> tuple[Struct, int]:
    """The structure that begins at a place, and the place behind it.

    Raises:
        ValueError: there is none.
    """
    try:
        return _read_fields(content, place)
    except (IndexError, RecursionError) as error:
        raise ValueError("the structure is cut off, or nested too deeply") from error


def write_struct(struct: Struct) -> bytes:
    """A structure, its fields in the order of their numbers.

    >>> read_struct(write_struct({1: (I32, -3), 30: (LIST, (BINARY, [b"a", b"b"]))}))
    ({1: (5, -3), 30: (9, (8, [b'a', b'b']))}, 10)
    """
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


def _read_fields(content: bytes, at: int) -> tuple[Struct, int]:
    """Fields up to a stop, and the place behind it."""
    fields: Struct = {}
    number = 0
    while head := content[at]:
        kind, step = head & 15, head >> 4
        at += 1
        if step:
            number += step
        else:
            number, at = _read_whole(content, at)
        if kind in _WHOLE:
            byte = content[at]
            if byte < 128:  # as most are
                at += 1
                fields[number] = kind, (byte >> 1) ^ -(byte & 1)
            else:
                whole, at = _read_whole(content, at)
                fields[number] = kind, whole
        elif kind in (TRUE, FALSE):
            fields[number] = kind, kind == TRUE
        else:
            value, at = _read_value(content, at, kind)
            fields[number] = kind, value
    return fields, at + 1


def _read_bits(content: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first."""
    number = shift = 0
    while (byte := content[at]) > 127:
        number |= (byte & 127) << shift
        shift += 7
        at += 1
    return number | byte << shift, at + 1


def _read_whole(content: bytes, at: int) -> tuple[int, int]:
    """A zigzag number."""
    bits, at = _read_bits(content, at)
    return (bits >> 1) ^ -(bits & 1), at


def _read_value(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == BYTE:
        return content[at], at + 1
    if kind in _WHOLE:
        return _read_whole(content, at)
    if kind == DOUBLE:
        return content[at : at + 8], at + 8
    if kind == BINARY:
        length, at = _read_bits(content, at)
        return content[at : at + length], at + length
    if kind in (LIST, SET):
        return _read_list(content, at)
    if kind == STRUCT:
        return _read_fields(content, at)
    raise ValueError(f"the structure has a value of type {kind}")


def _read_list(content: bytes, at: int) -> tuple[Any, int]:
    head, at = content[at], at + 1
    length, inner = head >> 4, head & 15
    if length == 15:
        length, at = _read_bits(content, at)
    items: list[Any] = []
    for _ in range(length):
        item, at = (
            (content[at], at + 1) if inner in (TRUE, FALSE) else _read_value(content, at, inner)
        )
        items.append(item)
    return (inner, items), at


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, content) in sorted(struct.items()):
        if kind in (TRUE, FALSE):
            kind = TRUE if content else FALSE
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_whole(out, number)
        before = number
        if kind not in (TRUE, FALSE):
            _write_value(out, kind, content)
    out.append(0)


def _write_bits(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def _write_whole(out: bytearray, number: int) -> None:
    _write_bits(out, number << 1 if number >= 0 else (-number << 1) - 1)


def _write_value(out: bytearray, kind: int, content: Any) -> None:
    if kind == BYTE:
        out.append(content)
    elif kind in (I16, I32, I64):
        _write_whole(out, content)
    elif kind == DOUBLE:
        out += content
    elif kind == BINARY:
        _write_bits(out, len(content))
        out += content
    elif kind in (LIST, SET):
        inner, items = content
        if len(items) < 15:
            out.append(len(items) << 4 | inner)
        else:
            out.append(15 << 4 | inner)
            _write_bits(out, len(items))
        for item in items:
            if inner in (TRUE, FALSE):
                out.append(item)
            else:
                _write_value(out, inner, item)
    else:
        assert kind == STRUCT
        _write_struct(out, content)
