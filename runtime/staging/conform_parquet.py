"""Bring local Parquet files to one schema, by the reader of all replays, to be sorted."""

from collections.abc import Sequence, Set
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import OntoweirError, RunError, Source
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.sources.conform_rows import conform_rows
from ontoweir.runtime.sources.history import History, Piece
from ontoweir.runtime.sources.list_pieces import add_absent, list_pieces
from ontoweir.runtime.sources.read_source import BAD, drop_empty, unreadable


def conform_parquet(
    stream: Stream, files: Sequence[str], columns: Sequence[str], spare: Set[str], folder: Path
) -> None:
    """Write each file's columns in use as one in `folder`: in their declared types, the timestamp
    in microseconds, with BAD. One row group is in memory at a time.

    Spark would take names and types of columns from one file, and read the others by them.

    Args:
        stream: whose files they are.
        files: local Parquet.
        columns: those in use, without the timestamp.
        spare: of these, those that are NULL where a file lacks them.
        folder: it is made.

    Raises:
        DataError: a file is not Parquet, or a column is missing, there twice, or of a type that
            cannot hold its values.
        RunError: the disk does not take it.
    """
    history = History(stream, tuple(columns), (), True, frozenset(spare))
    wanted = (*columns, *stream.time_columns)
    types = {c.name: arrow_type(c.type) for c in stream.columns if c.name in columns}
    schema = pa.schema({**types, stream.timestamp: pa.int64(), BAD: pa.string()})
    try:
        folder.mkdir(parents=True)
        for number, file in enumerate(drop_empty(stream.data, files)):
            pieces = list_pieces(
                [file], stream, wanted, start_us=None, stop_us=None, spare=history.spare
            )
            with pq.ParquetWriter(str(folder / f"{number:06d}.parquet"), schema) as writer:
                for piece in pieces:
                    rows = _read_piece(history, piece, wanted)
                    writer.write_table(rows.select(schema.names).cast(schema))
    except OntoweirError:
        raise
    except OSError as error:
        raise RunError(
            f"{folder} cannot be written: {error}",
            why="the rows of a stream that is to be sorted are kept beside the output meanwhile",
            fix="make room there, or name another place with --output",
            source=Source(str(folder)),
        ) from error


def _read_piece(history: History, piece: Piece, wanted: Sequence[str]) -> pa.Table:
    """The rows of a row group.

    Raises:
        DataError: they cannot be read.
    """
    try:
        with pq.ParquetFile(piece.file) as opened:
            there = set(opened.schema_arrow.names)
            rows = opened.read_row_group(piece.group, columns=[n for n in wanted if n in there])
    except (OSError, pa.ArrowException) as error:
        raise unreadable(piece.file, error) from error
    return conform_rows(history, add_absent(rows, wanted, piece, history.stream), piece.file)
