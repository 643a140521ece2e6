"""Find how far time may go while files are there that a live run has not read yet."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.column_types import epoch_us
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.packed.read_packed import is_packed, read_packed
from ontoweir.runtime.sources.list_pieces import find_leaf, folder_constants, read_time_span
from ontoweir.runtime.times.align_times import align_time
from ontoweir.runtime.times.read_times import read_times


def find_horizon(stream: Stream, files: Iterable[str], known: dict[str, int | None]) -> int | None:
    """The first timestamp (µs) in files that wait to be read: none from it on is finished yet.

    Files are read in the order of their modification times. Those that are there already can have
    any order of time all the same: rows of others wait for them.

    Args:
        stream: whose files they are.
        files: local ones.
        known: what was found before; it is added to, and others are forgotten.

    Returns:
        None where no file says so: there is none, or its times are found by reading it with Spark
        alone.
    """
    firsts = {file: known[file] if file in known else _read_first(stream, file) for file in files}
    known.clear()
    known.update(firsts)
    return min((first for first in firsts.values() if first is not None), default=None)


def _read_first(stream: Stream, file: str) -> int | None:
    try:
        named = folder_constants(file)
        if set(stream.time_columns) <= named.keys():
            return align_time(_first_of_folder(named, stream), stream)
        match stream.data.format:
            case "parquet":
                return align_time(_first_of_parquet(file, stream), stream)
            case "csv":
                return align_time(_first_of_csv(file, stream), stream)
            case "arrow" | "avro" | "nested parquet":
                return align_time(_first_of_packed(file, stream), stream)
            case _:
                return None
    except (OSError, ValueError, KeyError, pa.ArrowException, DataError):
        return None  # whoever reads it says what is wrong


def _first_of_folder(named: Mapping[str, str | None], stream: Stream) -> int | None:
    """The one timestamp of all rows of a file, which its folders' names say."""
    rows = pa.table({n: pa.array([named[n]], pa.string()) for n in stream.time_columns})
    if stream.written is not None:
        return _least_written(rows, stream)
    return _least(rows.column(stream.timestamp))


def _first_of_parquet(file: str, stream: Stream) -> int | None:
    if stream.written is not None:
        return _least_written(pq.read_table(file, columns=list(stream.time_columns)), stream)
    time = stream.timestamp
    with pq.ParquetFile(file) as opened:
        metadata = opened.metadata
        place = find_leaf(metadata, time)
        if place is None:
            return None
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        lows = [read_time_span(g, place, stream)[0] for g in groups if g.num_rows]
        if None not in lows:
            return min((low for low in lows if low is not None), default=None)
        return _least(opened.read(columns=[time]).column(time))


def _first_of_packed(file: str, stream: Stream) -> int | None:
    located = Located(file, (file,))
    if not is_packed(replace(stream.data, options=()), located):
        return None
    (found,) = read_packed(stream.data, located, stream.time_columns)
    firsts = [
        _least(rows.column(stream.timestamp))
        if stream.written is None
        else _least_written(rows, stream)
        for rows in found.rows
    ]
    return min((first for first in firsts if first is not None), default=None)


def _first_of_csv(file: str, stream: Stream) -> int | None:
    options = {name.lower(): text.lower() for name, text in stream.data.options}
    if options.get("header") != "true" or not set(options) <= {"header", "maxfilespertrigger"}:
        return None
    times = list(stream.time_columns)
    kinds = pcsv.ConvertOptions(
        include_columns=times, column_types=dict.fromkeys(times, pa.string())
    )
    rows = pcsv.read_csv(file, convert_options=kinds)
    if stream.written is not None:
        return _least_written(rows, stream)
    return _least(rows.column(stream.timestamp))


def _least_written(rows: pa.Table, stream: Stream) -> int | None:
    assert stream.written is not None
    times, _ = read_times([rows.column(part) for part in stream.written.columns], stream.written)
    return cast("int | None", pc.min(times).as_py())


def _least(column: "pa.ChunkedArray") -> int | None:
    if pa.types.is_string(column.type):
        zoned = pc.any(pc.match_substring_regex(column, r"(Z|[+-]\d\d:?\d\d)$")).as_py()
        column = column.cast(pa.timestamp("us", "UTC" if zoned else None))
    least = pc.min(column).as_py()
    match least:
        case datetime():
            return epoch_us(least if least.tzinfo else least.replace(tzinfo=UTC))
        case int():
            return least
        case _:
            return None
