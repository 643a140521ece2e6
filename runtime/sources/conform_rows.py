"""Bring the rows of a file to the declared types: what is not of its type is NULL, and marked."""

from collections.abc import Sequence

import pyarrow as pa

from ontoweir.mappings.model.catalog import IntType, TimestampType
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.convert_column import convert_column, keep_years, plain_type
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.check_columns import check_columns
from ontoweir.runtime.sources.convert_table import name_bad
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.times.read_times import read_times

RAW = "__raw"
"""The column that shows what a file holds in a row of which something is not of its type."""


def conform_rows(history: History, rows: pa.Table, file: str) -> pa.Table:
    """The declared columns in use in their declared types, the timestamp in µs, BAD: the first
    column of a row that is not of its type, and RAW: what the file has in such a row.

    What a file's columns may be, and what becomes of their values, is as in a replay
    (check_columns, convert_column).

    Args:
        history: the stream.
        rows: as a file has them, all these columns among them.
        file: for messages.

    Raises:
        DataError: a column is of a type that cannot hold the declared one's values.
    """
    stream = history.stream
    check_columns(rows.schema, stream, [*history.columns, *stream.time_columns], file)
    cells: dict[str, pa.ChunkedArray | pa.Array] = {}
    bad: list[tuple[str, Array]] = []
    for name in [*history.columns, stream.timestamp]:
        column = stream.column(name)
        if column is not None:
            converted, wrong = convert_column(rows.column(name), column.type)
            cells[name] = converted.cast(arrow_type(column.type))
        elif stream.written is None:
            cells[name], wrong = _convert_times(rows.column(name))
        else:
            parts = [rows.column(part) for part in stream.written.columns]
            cells[name], wrong = read_times(parts, stream.written)
        if wrong is not None:
            bad.append((name, wrong))
    cells[stream.timestamp] = cells[stream.timestamp].cast(pa.int64())
    return pa.table({**cells, **_describe(rows, bad)})


def _convert_times(values: pa.ChunkedArray) -> "tuple[pa.ChunkedArray, Array | None]":
    """A stream's timestamps in microseconds, as whole numbers, and which are none."""
    if pa.types.is_integer(plain_type(values.type)):
        return keep_years(*convert_column(values, IntType()))
    moments, wrong = convert_column(values, TimestampType())
    return moments.cast(pa.int64()), wrong


def _describe(table: pa.Table, bad: "Sequence[tuple[str, Array]]") -> "dict[str, pa.Array]":
    """BAD, and as RAW what the file has in its rows."""
    names = name_bad(bad, table.num_rows)
    texts: list[str | None] = [None] * table.num_rows
    for row, name in enumerate(names.to_pylist() if bad else ()):
        if name is not None:
            texts[row] = str({c: _show(table.column(c)[row]) for c in table.column_names})
    return {BAD: names, RAW: pa.array(texts, pa.string())}


def _show(cell: "pa.Scalar") -> object:
    """A value for a sample of rejected rows."""
    try:
        return cell.as_py()
    except (ValueError, OverflowError):  # not UTF-8, or beyond or finer than Python's times
        times = pa.types.is_timestamp(cell.type) or pa.types.is_date(cell.type)
        shown: object = cell.cast(pa.string() if times else pa.binary()).as_py()
        return shown
