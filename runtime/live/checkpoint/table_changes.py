"""What has changed of a large table, so that a commit need not have all of it."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.live.checkpoint.state_tables import decode_table, encode_table

LARGE = 1 << 16
"""Rows from which on the changes of a table are looked for."""
_ROW = "__row"
_MOST = 4
"""A change has at most one row in so many; otherwise the whole table is written."""


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A large table as commits have it: whole, and changed so many times since. `hashes`: of the
    whole and of each change; `whole`, `changes`: their bytes."""

    table: pa.Table
    hashes: tuple[str, ...]
    whole: int
    changes: int = 0

    @property
    def is_worn(self) -> bool:
        """Whether its changes together are about as long as it is."""
        return 2 * self.changes > self.whole


def encode_change(before: pa.Table, after: pa.Table) -> bytes | None:
    """The rows that are other ones now, or new at the end, with their numbers (none: no byte; None:
    most are, or rows have gone, or the columns cannot be compared)."""
    rows = before.num_rows
    if after.num_rows < rows or after.schema != before.schema:
        return None
    head = after.slice(0, rows)
    other: pa.Array | None = None
    try:
        for one, two in zip(before.columns, head.columns, strict=True):
            if not _is_same(one, two):
                more = _differ(one.combine_chunks(), two.combine_chunks())
                other = more if other is None else pc.or_(other, more)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None
    if not before.num_columns:
        return None
    none = pa.array([], pa.int64())
    places = none if other is None else pc.indices_nonzero(other).cast(pa.int64())
    fresh = pa.array(np.arange(rows, after.num_rows, dtype=np.int64))
    if _MOST * (len(places) + len(fresh)) > after.num_rows:
        return None
    numbers = pa.concat_arrays([places, fresh])
    if not len(numbers) and after.schema.equals(before.schema, check_metadata=True):
        return b""
    return encode_table(after.take(numbers).append_column(_ROW, numbers))


def _is_same(one: pa.ChunkedArray, two: pa.ChunkedArray) -> bool:
    """Whether two columns are one and the same memory, so that they need not be compared."""
    if one.type != two.type or one.num_chunks != 1 or two.num_chunks != 1:
        return False
    first, second = one.chunk(0), two.chunk(0)
    held, other = (
        [None if b is None else (b.address, b.size) for b in c.buffers()] for c in (first, second)
    )
    plain = pa.types.is_primitive(one.type)  # what has a dictionary, or parts, has more memory
    return plain and held == other and (first.offset, len(first)) == (second.offset, len(second))


def _differ(one: pa.Array, two: pa.Array) -> pa.Array:
    """Where two columns differ; numbers with a fraction by their bits."""
    if pa.types.is_float64(one.type):
        one, two = one.view(pa.int64()), two.view(pa.int64())
    values = pc.fill_null(pc.not_equal(one, two), False)
    return pc.or_(values, pc.xor(pc.is_null(one), pc.is_null(two)))


def apply_change(table: pa.Table, content: bytes) -> pa.Table:
    """A table after a change.

    Raises:
        pa.ArrowInvalid: the change is not one of this table.
    """
    change = decode_table(content)
    numbers = change.column(_ROW).to_numpy()
    rows = change.drop_columns([_ROW])
    length = max(table.num_rows, int(numbers[-1]) + 1 if len(numbers) else 0)
    order = np.arange(length, dtype=np.int64)
    order[numbers] = table.num_rows + np.arange(len(numbers), dtype=np.int64)
    after = pa.concat_tables([table, rows]).take(pa.array(order)).combine_chunks()
    return after.replace_schema_metadata(rows.schema.metadata)
