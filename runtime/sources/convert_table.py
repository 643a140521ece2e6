"""The columns of a Parquet file as their declared types."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import (
    ColumnType,
    DecimalType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.runtime.columnar.convert_column import (
    FIRST_US,
    LAST_US,
    convert_column,
    plain_type,
)
from ontoweir.runtime.columnar.decode_times import decode_times
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.coded_texts import keep_coded
from ontoweir.runtime.sources.read_source import BAD

_MARK = "\x1f"
"""Before what BAD says of a row that is none, where else it names a column."""


def convert_table(
    table: pa.Table, stream: Stream, *, timed: bool = False, narrow: bool = False
) -> pa.Table:
    """A stream's rows with their columns, but for the timestamp, as declared, dictionaries of texts
    as such; with BAD where some value is not of its type; `timed`: every row has a timestamp, as
    was seen before; `narrow`: decimals that were read so may be of 64 bits each."""
    bad: list[tuple[str, Array]] = []
    for place, name in enumerate(table.column_names):
        column = stream.column(name)
        if column is None:
            kind = plain_type(table.column(name).type)
            if name == stream.timestamp and not timed and not pa.types.is_null(kind):
                bad += _find_far(table, name, kind)
            continue
        coded = keep_coded(table.column(name)) if isinstance(column.type, StringType) else None
        if coded is not None:
            table = table.set_column(place, name, coded)
            continue
        values = table.column(name)
        if pa.types.is_decimal(values.type) and values.type.bit_width == 64:
            if narrow and _is_of(values.type, column.type):
                continue
            wide = pa.decimal128(values.type.precision, values.type.scale)
            values = values.cast(wide)  # Arrow computes little with others
        values, wrong = convert_column(values, column.type)
        if isinstance(column.type, TimestampType) and not pa.types.is_null(values.type):
            values = values.cast(pa.timestamp("us", tz="UTC"))  # files may have different zones
        table = table.set_column(place, name, values)
        if wrong is not None:
            bad.append((name, wrong))
    return table.append_column(BAD, name_bad(bad, table.num_rows)) if bad else table


def _is_of(kind: "pa.Decimal64Type", declared: ColumnType) -> bool:
    """Whether all decimals of a type are of the declared one, counted in the same units."""
    if not isinstance(declared, DecimalType):
        return False
    return bool(kind.scale == declared.scale and kind.precision <= declared.precision)


def _find_far(table: pa.Table, time: str, kind: pa.DataType) -> list[tuple[str, Array]]:
    """The timestamps beyond the years 1 to 9999, of a column that has them as such."""
    if not (pa.types.is_timestamp(kind) or pa.types.is_integer(kind) or pa.types.is_date(kind)):
        return []  # text is none then
    column = table.column(time)
    if pa.types.is_timestamp(kind) and kind == column.type and kind.unit == "us":
        ends = pc.min_max(column.cast(pa.timestamp("us")).cast(pa.int64())).as_py()
        if ends["min"] is None or (ends["min"] >= FIRST_US and ends["max"] <= LAST_US):
            return []
    values, valid = decode_times(table.column(time))
    wrong = ~valid & pc.is_valid(table.column(time)).to_numpy()
    return [(time, wrong)] if len(values) and wrong.any() else []


def mark_faults(bad: "pa.Array", faults: "pa.ChunkedArray") -> "pa.Array":
    """BAD, where a row that is no row at all says why in its place."""
    marked = pc.binary_join_element_wise(_MARK, faults.combine_chunks(), "")
    return pc.coalesce(marked, bad)


def list_faults(bad: "pa.ChunkedArray", stream: str) -> "pa.ChunkedArray":
    """Of each row of a stream, why it is no row at all (NULL: it is one), as BAD says."""
    told = {e: describe_bad(e, stream) for e in pc.unique(bad).drop_null().to_pylist()}
    faults = [told[e] if e is not None and e.startswith(_MARK) else None for e in bad.to_pylist()]
    return pa.chunked_array([pa.array(faults, pa.string())])


def describe_bad(entry: str, stream: str) -> str:
    """Why a row of a stream is rejected of which BAD says `entry`.

    >>> describe_bad("k", "s")
    'k is not of its type'
    """
    if entry.startswith(_MARK):
        return f"{stream} {entry.removeprefix(_MARK)}"
    return f"{entry} is not of its type"


def name_bad(bad: Sequence[tuple[str, Array]], rows: int) -> "pa.Array":
    """BAD: of each row, the first column whose value is not of its type (NULL: none is)."""
    if not bad:
        return pa.nulls(rows, pa.string())
    names = np.full(rows, None, dtype=object)
    for name, wrong in reversed(bad):
        names[wrong] = name
    return pa.array(names, pa.string())
