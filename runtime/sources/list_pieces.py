"""List the row groups of Parquet files, leaving out those outside a span of time."""

from collections.abc import Sequence, Set
from datetime import UTC, date, datetime, time
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.column_types import epoch_us
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.sources.check_columns import check_columns
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.read_source import unreadable
from ontoweir.runtime.times.align_times import align_time


def list_pieces(
    files: Sequence[str],
    stream: Stream,
    columns: Sequence[str],
    *,
    start_us: int | None,
    stop_us: int | None,
    spare: Set[str] = frozenset(),
) -> tuple[Piece, ...]:
    """The row groups of a stream's files, in order.

    Args:
        files: in order.
        stream: whose they are.
        columns: the columns wanted, the timestamp among them; each is in every file, or in the
            name of a folder (key=value).
        start_us, stop_us: row groups whose statistics lie outside [start, stop) are left out.
        spare: of these columns, those that are NULL where a file lacks them.

    Raises:
        DataError: a file is not Parquet, or a column is missing, is there twice, or is of a type
            that cannot hold its values.
    """
    pieces: list[Piece] = []
    for file in files:
        constants = folder_constants(file)
        try:
            with pq.ParquetFile(file) as opened:
                metadata, schema = opened.metadata, opened.schema_arrow
        except (OSError, pa.ArrowInvalid) as error:
            raise unreadable(file, error) from error
        check_columns(schema, stream, columns, file, constants.keys() | spare)
        place = find_leaf(metadata, stream.timestamp) if stream.written is None else None
        first = 1
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            low, high = read_time_span(group, place, stream)
            if group.num_rows and _overlaps(low, high, start_us, stop_us):
                size = read_size(group, columns)
                pieces.append(
                    Piece(file, index, group.num_rows, file, first, constants, low, high, size)
                )
            first += group.num_rows
    return tuple(pieces)


def folder_constants(file: str) -> dict[str, str | None]:
    """What the folders' names say, as Spark and Hive write them."""
    pairs = [p.partition("=") for p in Path(file).parent.parts if "=" in p]
    return {
        unquote(key, "latin-1"): None
        if text == "__HIVE_DEFAULT_PARTITION__"
        else unquote(text, "latin-1")  # Hive escapes characters up to U+00FF only
        for key, _, text in pairs
    }


def find_leaf(metadata: "pq.FileMetaData", name: str) -> int | None:
    """The leaf column of a name, where it has one."""
    if metadata.num_row_groups:
        # not of the schema: it and the metadata would hold each other, until garbage is collected
        group = metadata.row_group(0)
        paths = (group.column(index).path_in_schema for index in range(metadata.num_columns))
    else:
        paths = (metadata.schema.column(index).path for index in range(metadata.num_columns))
    return next((index for index, path in enumerate(paths) if path == name), None)


def read_ends(statistics: "pq.Statistics") -> tuple[object, object] | None:
    """The least and the greatest value (None: there are none, or Python has no such values)."""
    try:
        return (statistics.min, statistics.max) if statistics.has_min_max else None
    except (ValueError, OverflowError):  # times finer than a microsecond, or of no year up to 9999
        return None


def read_time_span(
    group: "pq.RowGroupMetaData", place: int | None, stream: Stream
) -> tuple[int | None, int | None]:
    """The first and last timestamp of a row group of a stream in µs, where its statistics say."""
    statistics = None if place is None else group.column(place).statistics
    ends = None if statistics is None else read_ends(statistics)
    if ends is None:
        return None, None
    low, high = _micros(ends[0]), _micros(ends[1])
    if low is None or high is None:
        return None, None
    return align_time(low, stream), align_time(high, stream)


def read_size(group: "pq.RowGroupMetaData", columns: Sequence[str]) -> int:
    """About how many bytes columns of a row group take when they are read: eight a cell, or what
    they take in the file without compression, if that is more."""
    held = {
        c.path_in_schema: c.total_uncompressed_size
        for c in map(group.column, range(group.num_columns))
    }
    return sum(max(8 * group.num_rows, held.get(name, 0)) for name in columns)


def _overlaps(low: int | None, high: int | None, start_us: int | None, stop_us: int | None) -> bool:
    if low is None or high is None:
        return True
    return not (
        (start_us is not None and high < start_us) or (stop_us is not None and low >= stop_us)
    )


def _micros(value: object) -> int | None:
    match value:
        case datetime():
            return epoch_us(value if value.tzinfo else value.replace(tzinfo=UTC))
        case date():
            return epoch_us(datetime.combine(value, time(), tzinfo=UTC))
        case int():
            return value
        case _:
            return None


def check_file(path: str, table: str) -> DataError:
    """The error of a source without any file."""
    return DataError(
        f"there is no file of {table} in this folder",
        why="the stream's history is read from it",
        fix="put the data there, or correct the path of its source",
        source=Source(path),
    )


def add_absent(table: pa.Table, names: Sequence[str], piece: Piece, stream: Stream) -> pa.Table:
    """Rows of a piece with those columns that its file lacks: what the folders' names say, else
    NULL."""
    for name in names:
        if name in table.column_names:
            continue
        if name in piece.constants:
            text = pa.scalar(piece.constants[name], pa.string())
            cells = pa.repeat(text, table.num_rows)
        else:
            column = stream.column(name)
            cells = pa.nulls(table.num_rows, None if column is None else arrow_type(column.type))
        table = table.append_column(name, cells)
    return table
