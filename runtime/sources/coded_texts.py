"""Columns that Parquet files hold by dictionaries, and are read so: texts as codes, and decimals,
of which the dictionary alone is decoded."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import DecimalType, Stream, StringType
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.pick_texts import are_texts
from ontoweir.runtime.parquet.read_decimals import are_coded
from ontoweir.runtime.pool.text_table import take_rows
from ontoweir.runtime.sources.list_pieces import find_leaf

CODED = pa.dictionary(pa.int32(), pa.string())
"""Strings by their places in a dictionary."""

_CODE = 3
"""The codes of a dictionary take at most so many bytes a row; what takes more is text."""
_BESIDE = 1 << 10
"""Bytes of a row group that are neither: headers of pages."""


def find_coded(footer: "pq.FileMetaData", stream: Stream) -> tuple[str, ...]:
    """The declared columns of texts of a file whose pages hold dictionaries' codes, all or nearly
    all: where the writer has given a dictionary up, to make it costs more than it saves."""
    schema = footer.schema.to_arrow_schema()
    coded = []
    for column in stream.columns:
        if not isinstance(column.type, StringType) or column.name not in schema.names:
            continue
        kind, place = schema.field(column.name).type, find_leaf(footer, column.name)
        if place is None or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        held = [footer.row_group(i).column(place) for i in range(footer.num_row_groups)]
        if not all(c.has_dictionary_page for c in held):
            continue
        pages = (
            c.total_compressed_size - (c.data_page_offset - c.dictionary_page_offset) for c in held
        )
        if sum(pages) <= sum(_BESIDE + _CODE * c.num_values for c in held):
            coded.append(column.name)
    return tuple(coded)


def find_decimals(footer: "pq.FileMetaData", stream: Stream) -> dict[str, int]:
    """The declared columns of decimals of a file that `read_decimals` may read, with the places of
    their leaves."""
    declared = (c.name for c in stream.columns if isinstance(c.type, DecimalType))
    places = {name: find_leaf(footer, name) for name in declared}
    return {n: p for n, p in places.items() if p is not None and are_coded(footer, p)}


def find_texts(footer: "pq.FileMetaData", stream: Stream) -> dict[str, int]:
    """The declared columns of texts of a file that `TextPages` may read, with the places of their
    leaves."""
    declared = (c.name for c in stream.columns if isinstance(c.type, StringType))
    places = {name: find_leaf(footer, name) for name in declared}
    return {n: p for n, p in places.items() if p is not None and are_texts(footer, p)}


def keep_coded(values: "pa.ChunkedArray") -> "pa.ChunkedArray | None":
    """A dictionary of texts as one of strings (None: it is none, or has what is not UTF-8)."""
    if not pa.types.is_dictionary(values.type):
        return None
    dictionaries = [chunk.dictionary for chunk in values.chunks]
    kind = values.type.value_type
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not text or any(d.null_count for d in dictionaries):
        return None
    try:
        for texts in dictionaries:
            texts.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return values.cast(CODED)


def concat_rows(tables: Sequence[pa.Table]) -> pa.Table:
    """Rows one after the other; a column that has dictionaries in some tables only has texts."""
    types: dict[str, set[pa.DataType]] = {}
    for table in tables:
        for field in table.schema:
            types.setdefault(field.name, set()).add(field.type)
    mixed = {n for n, kinds in types.items() if len(kinds) > 1}
    plain = []
    for table in tables:
        for place, field in enumerate(table.schema):
            if field.name in mixed and pa.types.is_dictionary(field.type):
                texts = table.column(place).cast(field.type.value_type)
                table = table.set_column(place, field.name, texts)
        plain.append(table)
    return pa.concat_tables(plain, promote_options="permissive")


def pick_rows(table: pa.Table, rows: Array) -> pa.Table:
    """The rows at an index; where it ascends, of each chunk by itself (take_rows)."""
    if not table.num_columns or not bool((rows[1:] >= rows[:-1]).all()):
        return table.take(pa.array(rows))
    return pa.table([take_rows(c, rows) for c in table.columns], schema=table.schema)
