"""Notice that a key over the whole stream, on which a verdict rests, is false.

That no two rows ever share a key cannot be enforced in bounded memory. What can: a table that
remembers rows by a hash of their key, and grows with them up to a share of a budget; then later
ones take the place of earlier ones. What it finds is certain, and ends the run with the key's name;
what was overwritten is not found.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.encode import flatten
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.columnar.write_texts import write_texts
from ontoweir.runtime.pool.hash_texts import hash_texts
from ontoweir.runtime.pool.text_table import TEXT

PLACES = 1 << 18
"""So many rows are remembered at most for a key (6 MB)."""

BUDGET = 1 << 21
"""So many rows are remembered for all keys of this process together (48 MB), in equal shares."""

_LEAST = 1 << 6
"""So many rows are remembered for each key at any rate."""

MAX_RUNS = 8
"""Of so many runs in a process rows are remembered; of each, for all its keys."""

_NEVER = int(np.iinfo(np.int64).min)


def _zeros() -> Array:
    return np.zeros(_LEAST, dtype=np.uint64)


@dataclass(slots=True)
class _Table:
    """Two hashes and the time of the last row in each place; how many rows came, all in all."""

    first: Array = field(default_factory=_zeros)
    second: Array = field(default_factory=_zeros)
    when: Array = field(default_factory=lambda: np.full(_LEAST, _NEVER, dtype=np.int64))
    rows: int = 0

    def fit(self, places: int) -> None:
        """As many places as there are rows, if not more than given; a power of two."""
        wanted = _LEAST
        while wanted < min(places, self.rows):
            wanted *= 2
        if wanted == len(self.when):
            return
        kept = np.flatnonzero(self.when != _NEVER)
        kept = kept[np.argsort(self.when[kept], kind="stable")]  # of two in a place the later one
        first, second, when = self.first[kept], self.second[kept], self.when[kept]
        place = (first & np.uint64(wanted - 1)).astype(np.int64)
        self.first, self.second = np.zeros((2, wanted), dtype=np.uint64)
        self.when = np.full(wanted, _NEVER, dtype=np.int64)
        self.first[place], self.second[place], self.when[place] = first, second, when


_watched: dict[str, dict[tuple[str, tuple[str, ...]], _Table]] = {}
"""By run, then by stream and key."""


def watch_keys(
    run: str, stream: Stream, keys: Sequence[tuple[str, ...]], steps: Array, rows: pa.Table
) -> None:
    """Compare the rows of a chunk with each other and with rows before it.

    Args:
        run: a name of the run; rows before are remembered for it in this process.
        stream: the stream.
        keys: keys of it without the timestamp.
        steps: the timestamp of every row, in steps of the stream as the query has them, which the
            queries of a run may count otherwise; a row that is read again has the same.
        rows: the rows that were admitted; no column of a key is NULL.

    Raises:
        DataError: two rows of different timestamps share a key.
    """
    times = steps * stream.step_us if keys else steps
    for key in keys if len(steps) else ():
        first, second = (hash_keys(rows, key, salt) for salt in (1, 2))
        table = _remembered(run, stream.name, key)
        table.rows += len(steps)
        table.fit(_share())
        firsts, seconds, when = table.first, table.second, table.when
        place = (first & np.uint64(len(when) - 1)).astype(np.int64)
        hit = (firsts[place] == first) & (seconds[place] == second) & (when[place] != times)
        hit &= when[place] != _NEVER
        if hit.any():
            row = int(np.flatnonzero(hit)[0])
            _refuse(stream, key, rows, row, int(when[place][row]), int(times[row]))
        order = np.lexsort((times, second, first))
        before, after = order[:-1], order[1:]
        same = (first[before] == first[after]) & (second[before] == second[after])
        same &= times[before] != times[after]
        if same.any():
            pair = int(np.flatnonzero(same)[0])
            row = int(after[pair])
            _refuse(stream, key, rows, row, int(times[before[pair]]), int(times[row]))
        firsts[place], seconds[place], when[place] = first, second, times


def _remembered(run: str, stream: str, key: tuple[str, ...]) -> _Table:
    """What is known of a run's key; of many runs the one that was longest idle is forgotten."""
    known = _watched.pop(run, {})
    while len(_watched) >= MAX_RUNS:
        del _watched[next(iter(_watched))]
    _watched[run] = known
    if (stream, key) not in known:
        known[stream, key] = _Table()
        for tables in _watched.values():
            for table in tables.values():
                table.fit(_share())
    return known[stream, key]


def _share() -> int:
    """How many rows are remembered for a key."""
    keys = sum(map(len, _watched.values()))
    return min(PLACES, max(_LEAST, 1 << (BUDGET // keys).bit_length() - 1 if keys < BUDGET else 1))


def hash_keys(rows: pa.Table, key: tuple[str, ...], salt: int) -> Array:
    """A number of 64 bits for every row's key, which is nowhere NULL; by another salt another."""
    total = np.full(rows.num_rows, salt, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for name in key:
            total = _mix(total * np.uint64(0x9E3779B97F4A7C15) + _numbers(rows.column(name), salt))
    return total


def _numbers(column: "pa.ChunkedArray", salt: int) -> Array:
    """The values as numbers of 64 bits: whole numbers, dates, times and doubles as they are, texts
    by a hash."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    flat = flatten(column)
    if pa.types.is_decimal(flat.type):  # files may differ in their scales
        flat = write_texts(flat)
    if pa.types.is_string(flat.type) or pa.types.is_large_string(flat.type):
        return hash_texts(flat.cast(TEXT), salt, whole=True)
    if pa.types.is_floating(flat.type):
        dense: Array = flat.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0  # -0.0 is 0.0
        return dense.view(np.uint64)
    if pa.types.is_boolean(flat.type) or pa.types.is_date32(flat.type):
        flat = flat.cast(pa.int32())
    whole: Array = flat.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return whole.view(np.uint64)


def _mix(number: Array) -> Array:
    """splitmix64, which scatters the keys' hashes: every bit of the result depends on every bit."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = number ^ (number >> np.uint64(31))
    return mixed


def _refuse(
    stream: Stream, key: tuple[str, ...], rows: pa.Table, row: int, early: int, late: int
) -> None:
    values = ", ".join(f"{name} = {rows.column(name)[row].as_py()}" for name in key)
    first, later = (show_time(time) for time in (early, late))
    raise DataError(
        f"{stream.name} repeats its key ({', '.join(key)}): {values} is there at {first} and "
        f"again at {later}",
        why="the catalog declares that no two rows of the whole stream share it, and the verdict "
        "rests on it",
        fix="correct the data, or the key: with the timestamp in it, it holds within one timestamp",
        source=stream.source,
    )
