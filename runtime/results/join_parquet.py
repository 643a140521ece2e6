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
from typing import IO

import pyarrow.parquet as pq

from ontoweir.runtime.parquet.compact_thrift import (
    I64,
    LIST,
    STRUCT,
    Struct,
    read_struct,
    write_struct,
)

_MAGIC = b"PAR1"
_SCHEMA, _ROWS, _GROUPS = 2, 3, 4
"""Fields of FileMetaData."""
_GROUP_COLUMNS, _GROUP_PLACE, _GROUP_NUMBER = 1, 5, 7
_CHUNK_PLACES, _CHUNK_META = (2, 4, 6), 3
_META_PLACES = (9, 10, 11, 14)


@dataclass(slots=True)
class ParquetJoiner:
    """Appends the row groups of Parquet files to an open file, which is at its beginning. The first
    file's footer is kept as it is, and only understood when there is a second one.

    `only`: the footer of the first file, while there is no other.
    """

    sink: IO[bytes]
    only: bytes | None = None
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
            content = source.read(length)
            if self.only is None and self.footer is None:
                self.only, rows = content, int(pq.read_metadata(file).num_rows)
            else:
                rows = self._take_footer(content, file)
            source.seek(len(_MAGIC))
            shutil.copyfileobj(_Upto(source, begin - len(_MAGIC)), self.sink, 1 << 20)
        self.at += begin - len(_MAGIC)
        self.rows += rows
        return rows

    def _take_footer(self, content: bytes, file: Path) -> int:
        """Take a later file's footer in; how many rows it says there are."""
        if self.only is not None:
            self.footer, _ = read_struct(self.only)
            self.groups += _list_groups(self.footer)
            self.only = None
        assert self.footer is not None
        footer, _ = read_struct(content)
        if footer[_SCHEMA] != self.footer[_SCHEMA]:
            raise ValueError(f"{file} has other columns")
        for group in _list_groups(footer):
            self.groups.append(_moved(group, self.at - len(_MAGIC), len(self.groups)))
        return int(footer[_ROWS][1])

    def finish(self) -> None:
        """Write the footer. At least one file was added."""
        written = self.only
        if written is None:
            assert self.footer is not None
            whole = dict(self.footer)
            whole[_ROWS] = (I64, self.rows)
            whole[_GROUPS] = (LIST, (STRUCT, self.groups))
            written = write_struct(whole)
        self.sink.write(written)
        self.sink.write(len(written).to_bytes(4, "little") + _MAGIC)


def _list_groups(footer: Struct) -> list[Struct]:
    groups: list[Struct] = footer[_GROUPS][1][1]
    return groups


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
    made[_GROUP_COLUMNS] = (LIST, (STRUCT, chunks))
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
