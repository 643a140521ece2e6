"""Structures in Thrift's compact protocol, in which Parquet writes headers of pages and footers.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

_TRUE, _FALSE, _BYTE, _, _I32, _I64, _DOUBLE, _BINARY = range(1, 9)
_LIST, _SET, _STRUCT = 9, 10, 12
_LONG = 15
"""A list of so many, or more, says its length in bytes of its own."""

Read: TypeAlias = "bool | int | bytes | list[Read] | dict[int, Read] | None"
"""A value; a structure is its fields by number, and a double None."""

Write: TypeAlias = "int | bytes | Sequence[Write] | Mapping[int, Write]"
"""A value to be written; whole numbers have 64 bits, but those of I32."""


class I32(int):
    """A whole number that is written as one of 32 bits."""


def read_struct(data: bytes, place: int = 0) -> tuple[dict[int, Read], int]:
    """The structure that begins at a place, and the place behind it.

    Raises:
        ValueError: there is none.
    """
    reader = _Reader(data, place)
    try:
        return reader.struct(), reader.place
    except (IndexError, RecursionError) as error:
        raise ValueError("the structure is cut off, or nested too deeply") from error


class _Reader:
    def __init__(self, data: bytes, place: int) -> None:
        self.data, self.place = data, place

    def struct(self) -> dict[int, Read]:
        """The fields up to the end of a structure."""
        fields: dict[int, Read] = {}
        number = 0
        while (head := self._byte()) != 0:
            more, kind = head >> 4, head & 15
            number = number + more if more else self._signed()
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Read:
        if kind in (_TRUE, _FALSE):
            return self._byte() == _TRUE  # in a list
        if kind == _BYTE:
            return self._byte()
        if kind in (_I32, _I64):
            return self._signed()
        if kind == _DOUBLE:
            self.place += 8
            return None
        if kind == _BINARY:
            size = self._unsigned()
            self.place += size
            return self.data[self.place - size : self.place]
        if kind in (_LIST, _SET):
            head = self._byte()
            count = self._unsigned() if head >> 4 == _LONG else head >> 4
            return [self._value(head & 15) for _ in range(count)]
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(f"{kind} is no type that Parquet's headers have")

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _unsigned(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)


def write_struct(fields: Mapping[int, Write]) -> bytes:
    """A structure of fields by number, in ascending order.

    >>> read_struct(write_struct({1: I32(-3), 4: [b"a", b"b"], 30: {2: 5}}))[0]
    {1: -3, 4: [b'a', b'b'], 30: {2: 5}}
    """
    made, before = bytearray(), 0
    for number, value in fields.items():
        kind, more = _kind(value), number - before
        if more <= _LONG:
            made.append(more << 4 | kind)
        else:
            made.append(kind)
            made += _write_signed(number)
        made += _write(value)
        before = number
    made.append(0)
    return bytes(made)


def _kind(value: Write) -> int:
    if isinstance(value, I32):
        return _I32
    if isinstance(value, int):
        return _I64
    if isinstance(value, bytes):
        return _BINARY
    return _STRUCT if isinstance(value, Mapping) else _LIST


def _write(value: Write) -> bytes:
    if isinstance(value, int):
        return _write_signed(value)
    if isinstance(value, bytes):
        return _write_unsigned(len(value)) + value
    if isinstance(value, Mapping):
        return write_struct(value)
    kind = _kind(value[0])
    if len(value) < _LONG:
        head = bytes([len(value) << 4 | kind])
    else:
        head = bytes([_LONG << 4 | kind]) + _write_unsigned(len(value))
    return head + b"".join(map(_write, value))


def _write_unsigned(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    made.append(number)
    return bytes(made)


def _write_signed(number: int) -> bytes:
    return _write_unsigned(number << 1 if number >= 0 else (-number << 1) - 1)
