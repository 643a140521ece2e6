"""Columns of tables whose texts are codes of a table of texts, and such columns as texts again."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.pool.hash_slots import EMPTY
from ontoweir.runtime.pool.order_texts import order_texts
from ontoweir.runtime.pool.text_table import Codes, TextTable

CODE = pa.uint32()
"""The type of a column of codes. No other column of matches has it: whole numbers have a sign."""


def code_schema(schema: pa.Schema) -> pa.Schema:
    """The columns with codes in place of texts."""
    return pa.schema(
        [f.with_type(CODE) if _holds_texts(f.type) else f for f in schema],
        schema.metadata,
    )


def code_columns(rows: pa.Table, texts: TextTable) -> pa.Table:
    """The rows with the codes of their texts, which get new ones where they are not there."""
    for place, field in enumerate(rows.schema):
        if _holds_texts(field.type):
            codes = write_codes(texts.add(rows.column(place)))
            rows = rows.set_column(place, field.with_type(CODE), codes)
    return rows


def show_columns(rows: pa.Table, texts: TextTable) -> pa.Table:
    """The rows with the texts of their codes."""
    for place, field in enumerate(rows.schema):
        if field.type == CODE:
            column = rows.column(place)
            if column.null_count:
                found = texts.texts.take(column.combine_chunks())
            else:
                found = texts.take(read_codes(column))
            rows = rows.set_column(place, field.with_type(pa.string()), found.cast(pa.string()))
    return rows


def order_columns(rows: pa.Table, texts: TextTable) -> Codes:
    """The order of rows by their columns, the first one first, texts by their code points."""
    if rows.schema.types == [CODE] and not rows.column(0).null_count:
        return order_texts(texts.take(read_codes(rows.column(0))))
    shown = show_columns(rows, texts)
    order: Codes = pc.sort_indices(shown, [(n, "ascending") for n in shown.column_names]).to_numpy()
    return order


def write_codes(codes: Codes) -> "pa.Array":
    """Codes as a column; EMPTY is NULL."""
    absent = codes == EMPTY
    if not absent.any():
        return pa.array(codes.astype(np.uint32))
    return pa.array(np.where(absent, 0, codes).astype(np.uint32), mask=absent)


def read_codes(column: "pa.ChunkedArray") -> Codes:
    """The codes of a column; of NULL EMPTY."""
    if not column.null_count:
        whole: Codes = column.to_numpy().astype(np.int64)
        return whole
    codes: Codes = column.fill_null(0).to_numpy().astype(np.int64)
    codes[column.is_null().to_numpy()] = EMPTY
    return codes


def _holds_texts(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
