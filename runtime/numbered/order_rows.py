"""Rows in the order by which they are numbered."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.rewriter.model.aggregation import FirstRows
from ontoweir.runtime.columnar.frame import Array, group_codes
from ontoweir.runtime.results.render_results import MULTIPLICITY


def code_order(table: pa.Table, order: Sequence[tuple[str, bool, bool]]) -> Array:
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


def find_told(first: FirstRows, rows: pa.Table) -> Array:
    """Whether each row is told, where its number is."""
    told: Array = np.ones(rows.num_rows, dtype=np.bool_)
    return told if first.told is None else rows.column(first.told).to_numpy() == 1


def show_rows(
    whole: pa.Table, rows: Array, often: Array, numbers: Array, number: str | None
) -> pa.Table:
    """Some rows, with how often they hold and their number."""
    table = whole.take(pa.array(rows, pa.int64())).combine_chunks()
    for name, values in ((MULTIPLICITY, often), (number, numbers)):
        if name is not None and name in table.column_names:
            place, of = table.column_names.index(name), table.schema.field(name)
            table = table.set_column(place, of, pa.array(values, pa.int64()).cast(of.type))
    return table
