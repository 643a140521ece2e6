"""Notice that a key over the whole stream, on which a verdict rests, is false.

That no two rows ever share a key cannot be enforced in bounded memory. What can: a table of fixed
size that remembers rows by a hash of their key, later ones in the place of earlier ones. What it
finds is certain, and ends the run with the key's name; what was overwritten is not found.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import Array

PLACES = 1 << 18
"""So many rows of a stream are remembered (6 MB)."""

MOST_RUNS = 8
"""Of so many runs in a process rows are remembered; of each, for all its keys."""

_watched: dict[str, dict[tuple[str, tuple[str, ...]], tuple[Array, Array, Array]]] = {}
"""By run, then by stream and key: two hashes and the step of the last row in each place."""


def watch_keys(
    run: str, stream: Stream, keys: Sequence[tuple[str, ...]], steps: Array, rows: pa.Table
) -> None:
    """Compare the rows of a chunk with each other and with rows before it.

    Args:
        run: a name of the run; what was seen before is remembered for it in this process.
        stream: the stream.
        keys: keys of it without the timestamp.
        steps: the timestamp of every row, in steps; a row that is read again has the same.
        rows: the rows that were let in; no column of a key is NULL.

    Raises:
        DataError: two rows of different timestamps share a key.
    """
    for key in keys if len(steps) else ():
        first, second = (_hashes(rows, key, salt) for salt in (1, 2))
        place = (first & np.uint64(PLACES - 1)).astype(np.int64)
        seen, again, when = _remembered(run, stream.name, key)
        hit = (seen[place] == first) & (again[place] == second) & (when[place] != steps)
        hit &= when[place] != _NEVER
        if hit.any():
            row = int(np.flatnonzero(hit)[0])
            _refuse(stream, key, rows, row, int(when[place][row]), int(steps[row]))
        order = np.lexsort((steps, second, first))
        before, after = order[:-1], order[1:]
        same = (first[before] == first[after]) & (second[before] == second[after])
        same &= steps[before] != steps[after]
        if same.any():
            pair = int(np.flatnonzero(same)[0])
            row = int(after[pair])
            _refuse(stream, key, rows, row, int(steps[before[pair]]), int(steps[row]))
        seen[place], again[place], when[place] = first, second, steps


_NEVER = int(np.iinfo(np.int64).min)


def _remembered(run: str, stream: str, key: tuple[str, ...]) -> tuple[Array, Array, Array]:
    """What is known of a run's key; of many runs the one that was longest idle is forgotten."""
    known = _watched.pop(run, {})
    while len(_watched) >= MOST_RUNS:
        del _watched[next(iter(_watched))]
    _watched[run] = known
    if (stream, key) not in known:
        known[stream, key] = _nothing()
    return known[stream, key]


def _nothing() -> tuple[Array, Array, Array]:
    zeros = np.zeros(PLACES, dtype=np.uint64)
    return zeros, zeros.copy(), np.full(PLACES, _NEVER, dtype=np.int64)


def _hashes(rows: pa.Table, key: tuple[str, ...], salt: int) -> Array:
    """A number of 64 bits for every row's key."""
    total = np.full(rows.num_rows, salt, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for name in key:
            total = _mix(total * np.uint64(0x9E3779B97F4A7C15) + _numbers(rows.column(name), salt))
    return total


def _numbers(column: "pa.ChunkedArray", salt: int) -> Array:
    """The values as numbers of 64 bits: whole numbers as they are, others by a hash of each
    distinct one."""
    if pa.types.is_integer(column.type):
        whole: Array = column.to_numpy().astype(np.int64, copy=False).view(np.uint64)
        return whole
    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.unify_dictionaries().combine_chunks()
    mask = (1 << 64) - 1
    hashes = [hash((salt, value)) & mask for value in coded.dictionary.to_pylist()]
    places = coded.indices.to_numpy(zero_copy_only=False)
    numbers: Array = np.array(hashes, dtype=np.uint64)[places]
    return numbers


def _mix(number: Array) -> Array:
    """splitmix64: every bit of the result depends on every bit of the number."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = number ^ (number >> np.uint64(31))
    return mixed


def _refuse(
    stream: Stream, key: tuple[str, ...], rows: pa.Table, row: int, early: int, late: int
) -> None:
    values = ", ".join(f"{name} = {rows.column(name)[row].as_py()}" for name in key)
    first, again = (show_time(step * stream.step_us) for step in (early, late))
    raise DataError(
        f"{stream.name} repeats its key ({', '.join(key)}): {values} is there at {first} and "
        f"again at {again}",
        why="the catalog declares that no two rows of the whole stream share it, and the verdict "
        "rests on it",
        fix="correct the data, or the key: with the timestamp in it, it holds within one timestamp",
        source=stream.source,
    )
