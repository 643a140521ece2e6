"""Structures in Thrift's compact protocol, in which Parquet writes headers of pages and footers
(apache/parquet-format, parquet.thrift; thrift-compact-protocol.md)."""

from typing import Any, TypeAlias

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
"""Types of values; a list's value is the type of its items, and these."""

Struct: TypeAlias = dict[int, tuple[int, Any]]
"""Fields by number: type and value."""


def read_struct(content: bytes, place: int = 0) -> tuple[Struct, int]:
    """The structure that begins at a place, and the place behind it.

    Raises:
        ValueError: there is none.
    """
    reader = _Reader(content, place)
    try:
        return reader.struct(), reader.at
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


class _Reader:
    """Reads Thrift's compact protocol."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self.at = content, at

    def struct(self) -> Struct:
        """Fields up to a stop."""
        fields: Struct = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._whole()
            fields[number] = (kind, self._value(kind))
        return fields

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _bits(self) -> int:
        """A number of seven bits a byte, the lowest first."""
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _whole(self) -> int:
        """A zigzag number."""
        bits = self._bits()
        return (bits >> 1) ^ -(bits & 1)

    def _bytes(self, length: int) -> bytes:
        self.at += length
        return self.content[self.at - length : self.at]

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind in (I16, I32, I64):
            return self._whole()
        if kind == DOUBLE:
            return self._bytes(8)
        if kind == BINARY:
            return self._bytes(self._bits())
        if kind in (LIST, SET):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._bits()
            inner = head & 15
            if inner in (TRUE, FALSE):
                return (inner, [self._byte() for _ in range(length)])
            return (inner, [self._value(inner) for _ in range(length)])
        if kind == STRUCT:
            return self.struct()
        raise ValueError(f"the structure has a value of type {kind}")


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
