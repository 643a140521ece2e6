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
        if not pa.types.is_floating(column.type):
            column = pc.fill_null(column.dictionary_encode().indices, -1)
        columns.append(column.to_numpy(zero_copy_only=False))
    return group_codes(columns, table.num_rows)
