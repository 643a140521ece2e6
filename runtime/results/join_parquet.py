"""Put Parquet files of one schema together without decoding them.

A Parquet file is `PAR1`, row groups, a footer, its length and `PAR1`. The footer is a Thrift struct
in the compact protocol that says at which byte everything is (apache/parquet-format,
parquet.thrift; thrift-compact-protocol.md). So the row groups of other files are copied as they
are, and their places in the footer are moved.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias

_MAGIC = b"PAR1"
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_SCHEMA, _ROWS, _GROUPS = 2, 3, 4
"""Fields of FileMetaData."""
_GROUP_COLUMNS, _GROUP_PLACE, _GROUP_NUMBER = 1, 5, 7
_CHUNK_PLACES, _CHUNK_META = (2, 4, 6), 3
_META_PLACES = (9, 10, 11, 14)

Struct: TypeAlias = dict[int, tuple[int, Any]]
"""Fields by number: type and value."""


@dataclass(slots=True)
class ParquetJoiner:
    """Appends the row groups of Parquet files to an open file, which is at its beginning."""

    sink: IO[bytes]
    footer: Struct | None = None
    rows: int = 0
    groups: list[Struct] = field(default_factory=list)
    at: int = 0

    def add(self, file: Path) -> int:
        """Append a file; how many rows it has.

        Raises:
            ValueError: it is not Parquet, or has other columns than those before.
        """
        if not self.at:
            self.sink.write(_MAGIC)
            self.at = len(_MAGIC)
        with file.open("rb") as source:
            size = file.stat().st_size
            source.seek(max(size - 8, 0))
            tail = source.read(8)
            length = int.from_bytes(tail[:4], "little")
            if size < 12 or tail[4:] != _MAGIC or length > size - 12:
                raise ValueError(f"{file} is not a Parquet file")
            begin = size - 8 - length
            source.seek(begin)
            footer = _Reader(source.read(length)).struct()
            if self.footer is None:
                self.footer = footer
            elif footer[_SCHEMA] != self.footer[_SCHEMA]:
                raise ValueError(f"{file} has other columns")
            source.seek(len(_MAGIC))
            shutil.copyfileobj(_Upto(source, begin - len(_MAGIC)), self.sink, 1 << 20)
        for group in footer[_GROUPS][1][1]:
            self.groups.append(_moved(group, self.at - len(_MAGIC), len(self.groups)))
        rows = int(footer[_ROWS][1])
        self.at += begin - len(_MAGIC)
        self.rows += rows
        return rows

    def finish(self) -> None:
        """Write the footer. At least one file was added."""
        assert self.footer is not None
        whole = dict(self.footer)
        whole[_ROWS] = (_I64, self.rows)
        whole[_GROUPS] = (_LIST, (_STRUCT, self.groups))
        written = bytearray()
        _write_struct(written, whole)
        self.sink.write(bytes(written))
        self.sink.write(len(written).to_bytes(4, "little") + _MAGIC)


def _moved(group: Struct, by: int, number: int) -> Struct:
    """A row group whose bytes are further behind."""
    made = _shifted(group, (_GROUP_PLACE,), by)
    if _GROUP_NUMBER in made:
        made[_GROUP_NUMBER] = (made[_GROUP_NUMBER][0], number)
    chunks = []
    for chunk in group[_GROUP_COLUMNS][1][1]:
        moved = _shifted(chunk, _CHUNK_PLACES, by)
        kind, meta = moved[_CHUNK_META]
        moved[_CHUNK_META] = (kind, _shifted(meta, _META_PLACES, by))
        chunks.append(moved)
    made[_GROUP_COLUMNS] = (_LIST, (_STRUCT, chunks))
    return made


def _shifted(struct: Struct, fields: Sequence[int], by: int) -> Struct:
    """Places, where they are given, moved; 0 says that there is none."""
    made = dict(struct)
    for number in fields:
        if number in made and made[number][1] > 0:
            made[number] = (made[number][0], made[number][1] + by)
    return made


class _Upto:
    """The next so many bytes of a file."""

    def __init__(self, source: IO[bytes], left: int) -> None:
        self.source, self.left = source, left

    def read(self, size: int = -1) -> bytes:
        """As of a file."""
        content = self.source.read(min(size, self.left) if size >= 0 else self.left)
        self.left -= len(content)
        return content


class _Reader:
    """Reads Thrift's compact protocol."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

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
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return self._whole()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._bits())
        if kind in (_LIST, _SET):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._bits()
            inner = head & 15
            if inner in (_TRUE, _FALSE):
                return (inner, [self._byte() for _ in range(length)])
            return (inner, [self._value(inner) for _ in range(length)])
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(f"the footer has a value of type {kind}")


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, content) in sorted(struct.items()):
        if kind in (_TRUE, _FALSE):
            kind = _TRUE if content else _FALSE
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_whole(out, number)
        before = number
        if kind not in (_TRUE, _FALSE):
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
    if kind == _BYTE:
        out.append(content)
    elif kind in (_I16, _I32, _I64):
        _write_whole(out, content)
    elif kind == _DOUBLE:
        out += content
    elif kind == _BINARY:
        _write_bits(out, len(content))
        out += content
    elif kind in (_LIST, _SET):
        inner, items = content
        if len(items) < 15:
            out.append(len(items) << 4 | inner)
        else:
            out.append(15 << 4 | inner)
            _write_bits(out, len(items))
        for item in items:
            if inner in (_TRUE, _FALSE):
                out.append(item)
            else:
                _write_value(out, inner, item)
    else:
        assert kind == _STRUCT
        _write_struct(out, content)
