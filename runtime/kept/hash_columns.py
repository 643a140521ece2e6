"""Hashes of rows of Arrow tables, equal where rows are."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.encode import flatten
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.kept.hash_rows import hash_rows
from ontoweir.runtime.pool.hash_texts import hash_texts

_NULL = 0x1E3779B97F4A7C15
"""Stands for NULL, as no other value does that is frequent."""


def hash_columns(table: pa.Table) -> Array:
    """A number for each row; NULL equals NULL, -0.0 equals 0.0, and what is not a number itself and
    NULL. Tables that are compared have the same types."""
    words = [np.zeros(table.num_rows, dtype=np.int64)]
    for column in table.columns:
        words += _encode(flatten(column))
    return hash_rows(words)


def _encode(column: "pa.Array") -> list[Array]:
    """Whole numbers that are equal where values are."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _encode(column.cast(kind.value_type))
    if pa.types.is_floating(kind):
        wide = pc.fill_null(column.cast(pa.float64()), float("nan"))
        return [wide.to_numpy(zero_copy_only=False)]
    if pa.types.is_decimal(kind):
        bits = np.frombuffer(column.buffers()[1], dtype="<i8").reshape(-1, kind.byte_width // 8)
        bits = bits[column.offset : column.offset + len(column)]
        words = [np.ascontiguousarray(bits[:, n]) for n in range(bits.shape[1])]
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        filled = pc.fill_null(column, False if pa.types.is_boolean(kind) else 0)
        words = [filled.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False)]
    elif pa.types.is_temporal(kind):
        whole = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        words = [pc.fill_null(whole, 0).cast(pa.int64()).to_numpy(zero_copy_only=False)]
    else:
        texts = column.cast(pa.large_string())
        words = [hash_texts(texts).view(np.int64)]
    if not column.null_count:
        return words
    there = column.is_valid().to_numpy(zero_copy_only=False)
    return [np.where(there, w, _NULL) for w in words]
