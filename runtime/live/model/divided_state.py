"""The state of a query whose rows are divided by key, each part in files of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ontoweir.runtime.division.division import Division


@dataclass(frozen=True, slots=True)
class Piece:
    """A content in a file of the folder of parts: the file's name there, its first byte, how many
    there are, and their hash."""

    file: str
    start: int
    length: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PartState:
    """What a part keeps after a step.

    `version`: names it (empty: it keeps nothing yet); `tables`: by name, a whole table, and its
    changes since; `rows`: all rows that it keeps; `sizes`: rows and bytes of each synopsis, in the
    order of measure_state; `text_bytes`: of the strings that these number.
    """

    version: str = ""
    tables: Mapping[str, Sequence[Piece]] = field(default_factory=dict)
    rows: int = 0
    sizes: tuple[tuple[int, int], ...] = ()
    text_bytes: int = 0

    @property
    def files(self) -> frozenset[str]:
        """The files that it is in."""
        return frozenset(piece.file for pieces in self.tables.values() for piece in pieces)


@dataclass(frozen=True, slots=True)
class DividedState:
    """The state of a query, part by part."""

    parts: tuple[PartState, ...]

    @property
    def rows(self) -> int:
        """All rows that are kept."""
        return sum(part.rows for part in self.parts)

    @property
    def text_bytes(self) -> int:
        """Bytes of the strings that synopses number; one that several parts have counts in each."""
        return sum(part.text_bytes for part in self.parts)

    @property
    def files(self) -> frozenset[str]:
        """The files that it is in."""
        return frozenset(file for part in self.parts for file in part.files)

    def size(self, synopsis: int) -> tuple[int, int]:
        """Rows and bytes of a synopsis, of all parts together."""
        sizes = [part.sizes[synopsis] for part in self.parts if part.sizes]
        return sum(rows for rows, _ in sizes), sum(size for _, size in sizes)


PartName: TypeAlias = tuple[str, int]
"""A query, and the number of one of its parts."""

RunParts: TypeAlias = Callable[[Mapping[PartName, bytes]], Mapping[PartName, bytes]]
"""Runs the tasks of a step, each of which advances a part: what each returns."""


@dataclass(frozen=True, slots=True)
class Placement:
    """How a query runs whose rows are divided: `order`: the columns by which its answers are in
    order; `folder`: of the files of its parts."""

    division: Division
    order: tuple[str, ...]
    folder: Path
