"""The places of rows in an order of several columns."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array, group_codes


def order_codes(table: pa.Table, order: Sequence[tuple[str, bool, bool]]) -> Array:
    """A number for every row, less for those that come before, the same for equal ones.

    Texts are in the order of their code points, as SQL has it; -0.0 is equal to 0.0.

    Args:
        table: the rows; no value is NaN.
        order: columns, each with whether greater values come before, and whether NULL does.
    """
    columns = [_code_column(table.column(name), *how) for name, *how in order]
    return group_codes(columns, table.num_rows)[0]


def _code_column(column: pa.ChunkedArray, down: bool, nulls_first: bool) -> Array:
    values = column.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        values = pc.add(values, 0.0)
    elif pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    coded = values.dictionary_encode()
    different = coded.dictionary
    place = np.empty(len(different) + 1, dtype=np.int64)
    sorted_ = pc.array_sort_indices(different, order="descending" if down else "ascending")
    place[sorted_.to_numpy()] = np.arange(len(different)) + 1
    place[-1] = 0 if nulls_first else len(different) + 1
    made: Array = place[pc.fill_null(coded.indices, len(different)).to_numpy()]
    return made
