"""The history of a stream: row groups of Parquet files in order, and a place in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.find_line import find_line
from ontoweir.runtime.sources.identify_file import FileIdentity
from ontoweir.runtime.sources.verified_rows import VerifiedRows
from ontoweir.runtime.times.late_rows import NOT_LATE, LateRows


@dataclass(frozen=True, slots=True)
class Piece:
    """A row group to read.

    `shown` is the file that messages name, `first` the number there (from 1) of its first row, or,
    of a piece that is made of several row groups (Disorder), that among all rows in order;
    `constants`: columns that the folders' names hold (key=value; None is NULL); `low`, `high`:
    its first and last timestamp in µs, where the file's statistics say; `size`: about how many
    bytes its columns in use take when they are read; `groups`: so many row groups of the file, from
    `group` on, are read as one (unite_groups).
    """

    file: str
    group: int
    rows: int
    shown: str
    first: int
    constants: Mapping[str, str | None] = field(default_factory=dict)
    low: int | None = None
    high: int | None = None
    size: int = 0
    groups: int = 1

    @property
    def all_groups(self) -> list[int]:
        """The numbers of its row groups."""
        return list(range(self.group, self.group + self.groups))


class HeldTimes:
    """Timestamps of row groups, as columns, that were decoded when their order was looked at: each
    is given once, to the process that has decoded it."""

    MOST = 1 << 22
    """Rows of which the timestamps are held at most: 8 bytes each."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int], pa.ChunkedArray] = {}
        self._left = self.MOST

    def __reduce__(self) -> tuple[type["HeldTimes"], tuple[()]]:
        """A copy for another process holds none."""
        return HeldTimes, ()

    def hold(self, piece: Piece, column: "pa.ChunkedArray") -> None:
        """The timestamps of a row group, if there is room for them."""
        if len(column) <= self._left:
            self._left -= len(column)
            self._held[piece.file, piece.group] = column

    def take(self, piece: Piece) -> "pa.ChunkedArray | None":
        """The timestamps of a row group (None: they are not held any more)."""
        return self._held.pop((piece.file, piece.group), None)


@dataclass(frozen=True, slots=True)
class Disorder:
    """How the pieces of a history are made whose rows come late, but no later than declared.

    The piece of `group` g has those rows of the row groups up to number g, late ones left out,
    whose timestamps are at or after `cuts[g]` and before `cuts[g + 1]`, in the order of time, equal
    ones as they came; and the rows of row group g without a timestamp, first of all.

    `groups`: the row groups, in order; `reach`: the last timestamp before each (µs); `late`:
    whether it has late rows; `since`: for each piece by its number, the first row group that has
    rows of it or of a later one; `lateness_us`: rows that come longer after a later timestamp are
    late; `times`: timestamps that are decoded already.
    """

    groups: tuple[Piece, ...]
    reach: tuple[int, ...]
    late: tuple[bool, ...]
    cuts: tuple[int, ...]
    since: tuple[int, ...]
    lateness_us: int
    times: HeldTimes = field(default_factory=HeldTimes, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class History:
    """A stream's history: what to read, and which columns; `staged`: its rows do not come
    from the declared files directly (always so live); `spare`:
    columns that no query asks for, which are NULL where the data lacks them; `filled`: columns that
    are not read, as all that is asked of them is that they are not NULL, and none is; `verified`:
    which rows are rejected, where that is known (None: rows are held to what is declared);
    `repeats`: another replay of the same files finds the same rows in the same places, which what
    Spark has staged need not do; `kept`: how its files were, if an earlier replay has made them;
    `disorder`: how the pieces are made, where they are no row groups of files; `late`: the rows
    that they lack."""

    stream: Stream
    columns: tuple[str, ...]
    pieces: tuple[Piece, ...]
    staged: bool
    spare: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    verified: VerifiedRows | None = None
    repeats: bool = True
    kept: tuple[FileIdentity, ...] = ()
    disorder: Disorder | None = None
    late: LateRows = NOT_LATE

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(p.rows for p in self.pieces)

    @property
    def size(self) -> int:
        """About how many bytes the columns in use take."""
        return sum(p.size for p in self.pieces)

    def rejected(self, cursor: "Cursor", count: int) -> list[tuple[str, Array]]:
        """Of the `count` rows that come after a cursor, those known to be rejected, by reason, each
        reason once: how many rows after the cursor each is."""
        found: dict[str, list[Array]] = {}
        index, offset, done = cursor.piece, cursor.offset, 0
        while self.verified is not None and done < count:
            piece = self.pieces[index]
            rows = min(piece.rows - offset, count - done)
            first = piece.first - 1 + offset
            for reason, numbers in self.verified.find(piece.shown, first, rows):
                found.setdefault(reason, []).append(numbers + done)
            index, offset, done = index + 1, 0, done + rows
        return [(reason, np.concatenate(parts)) for reason, parts in found.items()]

    def place(self, cursor: "Cursor", position: int) -> Source:
        """Where the row is that comes `position` rows after a cursor; of rows that were put into
        order, the file alone."""
        index, offset = cursor.piece, cursor.offset + position
        while offset >= self.pieces[index].rows:
            offset -= self.pieces[index].rows
            index += 1
        if self.disorder is not None:
            return Source(self.pieces[index].shown)
        file, number = self.pieces[index].shown, self.pieces[index].first + offset
        return Source(file, find_line(self.stream.data, file, number))


@dataclass(frozen=True, slots=True)
class Cursor:
    """The first row not processed yet; `last_us`: the last timestamp before it (µs)."""

    piece: int = 0
    offset: int = 0
    last_us: int | None = None

    def moved(self, history: History, rows: int, last_us: int | None) -> "Cursor":
        """The cursor after some more rows."""
        index, offset = self.piece, self.offset + rows
        while index < len(history.pieces) and offset >= history.pieces[index].rows:
            offset -= history.pieces[index].rows
            index += 1
        return Cursor(index, offset, last_us)
