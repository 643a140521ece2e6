"""What a kernel carries from chunk to chunk: its tables, and the strings of their codes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.columns import is_value
from ontoweir.runtime.columnar.frame import Array, Frame, Name
from ontoweir.runtime.kept.kept_rows import KeptRows
from ontoweir.runtime.pool.text_table import TextTable

Members: TypeAlias = frozenset[int]
Stored: TypeAlias = Mapping[Members, Frame | KeptRows]


@dataclass(frozen=True, slots=True)
class KernelState:
    """What is carried from chunk to chunk: the rows of every stored table, as a frame, or where
    chunks touch few of them, so that these are found.

    `coded`: where codes of strings are those of a table that has others too (None: they are those
    of the strings that the state uses).
    """

    stored: Stored = field(default_factory=dict)
    coded: "CodedTexts | None" = None

    @property
    def tables(self) -> Mapping[Members, Frame]:
        """The rows of every stored table, in any order, with codes of the strings it uses."""
        return _Frames(self.stored if self.coded is None else self.coded.trim()[0])

    @property
    def rows(self) -> int:
        """All rows held."""
        return sum(held.rows for held in self.stored.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return KernelState, (dict(self.tables),)


class _Frames(Mapping[Members, Frame]):
    """Frames that are made where they are asked for."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    def __getitem__(self, members: Members) -> Frame:
        return frame_of(self._stored[members])

    def __iter__(self) -> Iterator[Members]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def frame_of(held: Frame | KeptRows) -> Frame:
    """The rows of a stored table as a frame."""
    return held if isinstance(held, Frame) else held.frame()


class CodedTexts:
    """The strings of a state, whose codes are those of a table that grows from chunk to chunk.
    Those that it uses are found where they are asked for, as that takes time that follows the
    state.

    Args:
        stored: the state's tables.
        table: has the strings of codes from `start` on; strings of less codes are elsewhere.
        classes: the value classes that are strings.
    """

    __slots__ = ("_trimmed", "classes", "start", "stored", "table")

    def __init__(
        self, stored: Stored, table: TextTable, start: int, classes: frozenset[int]
    ) -> None:
        self.stored, self.table, self.start, self.classes = stored, table, start, classes
        self._trimmed: tuple[Stored, pa.LargeStringArray] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self.texts,)

    @property
    def texts(self) -> "pa.LargeStringArray":
        """The strings that the state uses, in the order of the codes that its tables have."""
        return self.trim()[1]

    def find_used(self) -> Array:
        """The codes, in order, that the state has of strings in the table, less `start`."""
        columns = [
            held.column(name)
            for held in self.stored.values()
            for name in text_columns(held, self.classes)
        ]
        used = np.zeros(len(self.table), dtype=np.bool_)
        for column in columns:
            inside = (column >= self.start) & (column < self.start + len(used))
            used[column[inside] - self.start] = True
        return np.flatnonzero(used)

    def trim(self) -> "tuple[Stored, pa.LargeStringArray]":
        """The tables with codes of the strings that they use alone, and these."""
        if self._trimmed is None:
            used = self.find_used()
            moved = np.full(self.start + len(self.table), -1, dtype=np.int64)
            moved[: self.start] = np.arange(self.start)
            moved[self.start + used] = self.start + np.arange(len(used))
            tables = self.stored
            if len(used) and int(used[-1]) >= len(used):
                frames = _Frames(tables)
                tables = {z: recode(frames[z], self.classes, moved) for z in tables}
            self._trimmed = tables, self.table.take(used)
        return self._trimmed


def text_columns(held: Frame | KeptRows, classes: frozenset[int]) -> list[Name]:
    """The columns of a table that hold codes of strings; `classes`: the value classes that are."""
    return [n for n in held.names if is_value(n) and n[1] in classes]


def recode(frame: Frame, classes: frozenset[int], moved: Array) -> Frame:
    """A table with other codes of strings; `moved`: by code the new one. What is no code of a
    string stays as it is."""
    changed = {}
    for name in text_columns(frame, classes):
        column = frame.columns[name]
        known = (column >= 0) & (column < len(moved))
        changed[name] = np.where(known, moved[np.where(known, column, 0)], column)
    return frame.with_columns(changed)


def _same(texts: "pa.LargeStringArray") -> "pa.LargeStringArray":
    return texts
