"""Runs of rows on disk: Parquet files sorted by a hash, each beside an index of its hashes.

A run has its rows once for each order. The index is the hashes of the rows, 8 bytes each, in their
order; it is mapped, not read, so that a look-up touches few pages of it, and no more memory than
the row groups that have what is looked for.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import RunError
from ontoweir.runtime.columnar.frame import Array, expand

GROUP = 1 << 12
"""Rows of a row group."""
_AT_ONCE = 64
"""Row groups that are read at once."""
_HASH = np.dtype("<u8")


@dataclass(frozen=True, slots=True)
class Run:
    """Rows of a table in files that begin with a name."""

    name: str
    rows: int
    bytes: int


def list_names(run: Run, orders: int) -> list[str]:
    """The names of a run's files."""
    return [f"{run.name}-{n}.{end}" for n in range(orders) for end in ("parquet", "hashes")]


def write_run(folder: Path, table: pa.Table, hashes: Sequence[Array]) -> Run:
    """Write rows; of each order, their hashes.

    Raises:
        RunError: the disk does not take it.
    """
    name = uuid.uuid4().hex
    with _writing(folder):
        for number, column in enumerate(hashes):
            order = np.argsort(column, kind="stable")
            with _Writer(folder, name, number, table.schema) as writer:
                writer.add(table.take(pa.array(order)), column[order])
        return _measure(folder, Run(name, table.num_rows, 0), len(hashes))


def find_rows(folder: Path, run: Run, order: int, wanted: Array) -> pa.Table | None:
    """The rows of a run that have one of some hashes, distinct ones in order; None: none has.

    Raises:
        RunError: a file is missing, or is not as it was written.
    """
    with _reading(folder):
        index = _open_index(folder, run.name, order)
        start = np.searchsorted(index, wanted, side="left")
        stop = np.searchsorted(index, wanted, side="right")
        places = expand(start, stop - start)[1]
        if not len(places):
            return None
        return _read_places(folder, run.name, order, places)


def read_rows(folder: Path, run: Run) -> pa.Table:
    """All rows of a run.

    Raises:
        RunError: a file is missing, or is not as it was written.
    """
    with _reading(folder), pq.ParquetFile(_file(folder, run.name, 0)) as file:
        return file.read()


def merge_runs(folder: Path, first: Run, second: Run, orders: int) -> Run:
    """Two runs as one, in memory that does not grow with them; their files stay.

    Raises:
        RunError: the disk does not take it, or a file is not as it was written.
    """
    name = uuid.uuid4().hex
    with _writing(folder):
        for order in range(orders):
            sources = [_Reader(folder, run.name, order) for run in (first, second)]
            try:
                _merge(folder, name, order, sources)
            finally:
                for source in sources:
                    source.close()
        return _measure(folder, Run(name, first.rows + second.rows, 0), orders)


def _merge(folder: Path, name: str, order: int, sources: "list[_Reader]") -> None:
    with _Writer(folder, name, order, sources[0].schema) as writer:
        while open_ones := [source for source in sources if source.more()]:
            limit = min(source.hashes[-1] for source in open_ones)
            parts = [source.take(limit) for source in open_ones]
            hashes = np.concatenate([h for _, h in parts])
            table = pa.concat_tables([t for t, _ in parts])
            by = np.argsort(hashes, kind="stable")
            writer.add(table.take(pa.array(by)), hashes[by])


class _Writer:
    """Writes rows that come in order, in row groups of one size."""

    def __init__(self, folder: Path, name: str, order: int, schema: pa.Schema) -> None:
        self._rows = pq.ParquetWriter(_file(folder, name, order), schema, compression="zstd")
        self._index = (folder / f"{name}-{order}.hashes").open("wb")
        self._waiting: list[pa.Table] = []

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *error: object) -> None:
        if self._waiting:
            self._put(pa.concat_tables(self._waiting))
        self._rows.close()
        self._index.close()

    def add(self, table: pa.Table, hashes: Array) -> None:
        """More rows, with their hashes."""
        self._index.write(hashes.astype(_HASH, copy=False).tobytes())
        self._waiting.append(table)
        count = sum(part.num_rows for part in self._waiting)
        if count < GROUP:
            return
        whole = pa.concat_tables(self._waiting)
        full = count - count % GROUP
        self._put(whole.slice(0, full))
        self._waiting = [whole.slice(full)] if full < count else []

    def _put(self, table: pa.Table) -> None:
        self._rows.write_table(table, row_group_size=GROUP)


class _Reader:
    """Reads the rows of a run in order, row group by row group."""

    def __init__(self, folder: Path, name: str, order: int) -> None:
        self._file = pq.ParquetFile(_file(folder, name, order))
        self.schema = self._file.schema_arrow
        self._index = _open_index(folder, name, order)
        self._next = self._place = 0
        self._table = self.schema.empty_table()
        self.hashes: Array = np.zeros(0, dtype=_HASH)

    def more(self) -> bool:
        """Whether there are rows left; some are read then."""
        if not len(self.hashes) and self._next < self._file.metadata.num_row_groups:
            self._table = self._file.read_row_group(self._next)
            rows = self._table.num_rows
            self.hashes = np.array(self._index[self._place : self._place + rows])
            self._next, self._place = self._next + 1, self._place + rows
        return bool(len(self.hashes))

    def take(self, limit: int) -> tuple[pa.Table, Array]:
        """Of those that are read, the rows whose hashes are not greater."""
        count = int(np.searchsorted(self.hashes, limit, side="right"))
        taken = self._table.slice(0, count), self.hashes[:count]
        self._table, self.hashes = self._table.slice(count), self.hashes[count:]
        return taken

    def close(self) -> None:
        """Read no more."""
        self._file.close()


def _read_places(folder: Path, name: str, order: int, places: Array) -> pa.Table:
    """The rows at some places."""
    groups = places // GROUP
    wanted = np.unique(groups)
    parts = []
    with pq.ParquetFile(_file(folder, name, order)) as file:
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            table = file.read_row_groups(some.tolist())
            mine = (groups >= some[0]) & (groups <= some[-1])
            begins = np.searchsorted(some, groups[mine]) * GROUP
            parts.append(table.take(pa.array(begins + places[mine] % GROUP)))
    return pa.concat_tables(parts)


def _file(folder: Path, name: str, order: int) -> Path:
    return folder / f"{name}-{order}.parquet"


def _open_index(folder: Path, name: str, order: int) -> Array:
    index: Array = np.memmap(folder / f"{name}-{order}.hashes", dtype=_HASH, mode="r")
    return index


def _measure(folder: Path, run: Run, orders: int) -> Run:
    size = sum((folder / name).stat().st_size for name in list_names(run, orders))
    return Run(run.name, run.rows, size)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except (OSError, pa.ArrowException) as error:
        raise RunError(
            f"rows cannot be written to {folder}: {error}",
            why='what a rule with on_violation = "spill" drops is kept on disk',
            fix="make room, or mend the disk, and start again",
        ) from error


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        raise RunError(
            f"rows cannot be read from {folder}: {error}",
            why='what a rule with on_violation = "spill" drops is kept on disk, and found there',
            fix="restore the files from a copy, or start with a new checkpoint and replay the "
            "history",
        ) from error
