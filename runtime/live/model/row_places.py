"""Where the rows of streams are from: two columns that go with a row until it is admitted.

FILE and NUMBER (files: the path, and the number of the row there, as `rejects` of a replay has it),
or PARTITION and OFFSET (Kafka). What has many rows of its own is a dictionary.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.runtime.live.model.live_job import PARTITION_OF

FILE, NUMBER = "__file", "__number"
PARTITION, OFFSET = "__partition", "__offset"
PLACES = (FILE, NUMBER, PARTITION, OFFSET)


def name_place(text: str, count: int) -> pa.Array:
    """The name of a file for so many rows."""
    return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([text], pa.string()))


def count_from(first: int, count: int) -> pa.Array:
    """The numbers of so many rows of which one follows the other."""
    return pa.array(np.arange(first, first + count, dtype=np.int64))


def encode_places(rows: pa.Table) -> pa.Table:
    """Rows whose files and partitions are dictionaries, all pieces with the same one."""
    for name in (FILE, PARTITION):
        if name in rows.column_names and not pa.types.is_dictionary(rows.column(name).type):
            column = rows.column(name).dictionary_encode()
            rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows.unify_dictionaries()


def leave_unused(rows: pa.Table) -> pa.Table:
    """Rows that stay, without the names of files and partitions that none of them is from."""
    for name in (FILE, PARTITION):
        if name not in rows.column_names:
            continue
        column = rows.column(name).unify_dictionaries().combine_chunks()
        codes = column.indices.fill_null(0).to_numpy()
        used = np.bincount(codes, minlength=len(column.dictionary)) > 0
        if not used.all():
            moved = (np.cumsum(used) - 1).astype(np.int32)
            held = column.dictionary.filter(pa.array(used))
            kept = pa.array(moved[codes], mask=column.is_null().to_numpy(zero_copy_only=False))
            column = pa.DictionaryArray.from_arrays(kept, held)
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows


def show_places(rows: pa.Table, stream: str) -> "tuple[Sequence[str | None], Sequence[int | None]]":
    """Of rows of a stream the file and the number there, or topic/partition and offset (None: that
    is not known)."""
    names, numbers = (FILE, NUMBER) if FILE in rows.column_names else (PARTITION, OFFSET)
    none = [None] * rows.num_rows
    files = rows.column(names).to_pylist() if names in rows.column_names else none
    prefix = f"{stream}{PARTITION_OF}"
    return (
        [None if f is None else f.removeprefix(prefix) for f in files],
        rows.column(numbers).to_pylist() if numbers in rows.column_names else none,
    )
