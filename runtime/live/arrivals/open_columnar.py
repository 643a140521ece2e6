"""Open the local files of columns that a stream brings: Parquet; Arrow and Avro by way of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.ingest import MODIFIED
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.read_stream import LISTING
from ontoweir.runtime.live.model.row_places import FILE, NUMBER, count_from, name_place
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.packed.read_packed import is_packed, read_packed
from ontoweir.runtime.packed.unpack_stream import unpack_file
from ontoweir.runtime.sources.conform_rows import conform_rows
from ontoweir.runtime.sources.history import History, Piece
from ontoweir.runtime.sources.list_pieces import add_absent, list_pieces
from ontoweir.runtime.sources.read_source import drop_empty, unreadable
from ontoweir.runtime.spark.redact_secrets import resolve_options

_NOT_READING = LISTING - {"recursivefilelookup"}
_FEW = 1 << 14
"""Rows of a row group that are read by one thread."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Rows of a file (or some), to be read at once.

    `file`: its path; `low`, `high`: their first and last timestamp (µs), where that is known;
    `rows`, `size`: how many they are, and about how many bytes; `load` reads them.
    """

    file: str
    low: int | None
    high: int | None
    rows: int
    size: int
    load: Callable[[], pa.Table]


def stream_is_packed(stream: Stream) -> bool:
    """Whether a stream's local files are read here by a package, which Spark may not have."""
    data = replace(stream.data, options=reading_options(stream))
    return is_packed(data, Located(data.path or "", ()))


def open_packed(history: History, file: ArrivedFile, part: Path) -> list[Portion]:
    """The rows of a file of Arrow or Avro: row groups of what is written to `part`.

    Raises:
        DataError: it cannot be read.
        RunError: the disk does not take it.
    """
    stream = history.stream
    wanted = (*history.columns, *stream.time_columns)
    try:
        (found,) = read_packed(stream.data, Located(file.place, (file.place,)), wanted)
    except OSError as error:
        raise unreadable(file.place, error) from error
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        unpack_file(stream, found, (wanted, history.spare), str(part))
    except OSError as error:
        raise not_kept(part, stream.data.format, error) from error
    return list(open_parquet(history, file, part))


def not_kept(place: Path, what: str, error: OSError) -> RunError:
    """The error of a disk that does not take what is read of a file, of which it says the kind."""
    return RunError(
        f"{place} cannot be written: {error.strerror or error}",
        why=f"the rows of a large file of {what} are kept beside the checkpoint meanwhile",
        fix="make room there, and start again: what was committed is intact",
    )


def open_parquet(
    history: History, file: ArrivedFile, part: Path | None = None
) -> Iterator[Portion]:
    """The row groups of a file, or of what was written of it to `part`, with what folders say.

    Raises:
        DataError: it cannot be read.
    """
    stream = history.stream
    if Path(file.place).exists():
        drop_empty(stream.data, [file.place])
    wanted = (*history.columns, *stream.time_columns)
    held = file.place if part is None else str(part)
    spare = history.spare
    pieces = list_pieces([held], stream, wanted, start_us=None, stop_us=None, spare=spare)
    if part is not None:
        pieces = tuple(replace(piece, constants={}) for piece in pieces)
    for piece in pieces:
        yield Portion(
            file.path,
            piece.low,
            piece.high,
            piece.rows,
            piece.size,
            lambda piece=piece: _read_piece(history, file, piece),  # type: ignore[misc]
        )


def reading_options(stream: Stream) -> tuple[tuple[str, str], ...]:
    """The options that say how files are read, not which there are."""
    options = resolve_options(dict(stream.data.options), stream.source)
    return tuple((n, text) for n, text in options.items() if n.lower() not in _NOT_READING)


def _read_piece(history: History, file: ArrivedFile, piece: Piece) -> pa.Table:
    """A row group in the declared types.

    Raises:
        DataError: it cannot be read.
    """
    wanted = [*history.columns, *history.stream.time_columns]
    try:
        with pq.ParquetFile(piece.file) as opened:
            names = opened.schema_arrow.names
            there = set(names)
            twice = next((n for n in wanted if names.count(n) > 1), None)
            if twice is not None:
                raise unreadable(piece.file, ValueError(f"it has the column {twice} twice"))
            names = [n for n in wanted if n in there]
            # to give few rows to other threads takes longer than to read them
            aside = piece.rows > _FEW
            rows = opened.read_row_group(piece.group, columns=names, use_threads=aside)
    except (OSError, pa.ArrowException) as error:
        if piece.file != file.place:
            raise  # it is ours, and no fault of the file's
        raise unreadable(piece.file, error) from error
    rows = add_absent(rows, wanted, piece, history.stream)
    rows = conform_rows(history, rows, file.path)
    rows = rows.append_column(FILE, name_place(file.path, rows.num_rows))
    rows = rows.append_column(NUMBER, count_from(piece.first, rows.num_rows))
    modified = pa.repeat(pa.scalar(file.modified, pa.int64()), rows.num_rows)
    return rows.append_column(MODIFIED, modified)
