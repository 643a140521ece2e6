"""Codes for rows of a table: equal ones have one."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array, group_codes


def code_rows(table: pa.Table, names: Sequence[str]) -> tuple[Array, int]:
    """A code for every row, another for each distinct value of some columns, and how many."""
    columns = []
    for name in names:
        column = table.column(name).combine_chunks()
        # of floats, numpy takes -0.0 for 0.0; NULL becomes NaN, which no row has
        if _is_whole(column.type) and not column.null_count:
            column = column.cast(pa.int64())
        elif not pa.types.is_floating(column.type):
            column = pc.fill_null(column.dictionary_encode().indices, -1).cast(pa.int64())
        columns.append(column.to_numpy(zero_copy_only=False))
    return group_codes(columns, table.num_rows)


def _is_whole(kind: pa.DataType) -> bool:
    """Whether values of a type are whole numbers of 64 bits, or become such without a loss."""
    return bool(pa.types.is_signed_integer(kind) or pa.types.is_timestamp(kind))
