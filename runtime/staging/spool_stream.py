"""Write a stream of local text, or one that is to be sorted, to Parquet, without Spark."""

from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import RunError, Source
from ontoweir.mappings.model.catalog import Column, Stream, StringType
from ontoweir.runtime.chunks.row_groups import MAPPED
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.read_source import BAD, drop_empty
from ontoweir.runtime.staging.conform_parquet import conform_parquet
from ontoweir.runtime.staging.list_staged import list_staged
from ontoweir.runtime.staging.sort_parts import sort_parts
from ontoweir.runtime.staging.spool_arrow import spool_arrow
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.csv_dialect import number_first
from ontoweir.runtime.text.read_text import read_text_rows


def spool_stream(
    stream: Stream,
    located: Located,
    columns: Sequence[str],
    folder: Path,
    spare: Set[str] = frozenset(),
    on_rows: Callable[[int], None] = lambda rows: None,
) -> tuple[Piece, ...] | None:
    """Write the columns in use, in their declared types, to `folder`: a file for each of the
    source's, in order; of a source that is to be sorted, one, in the order of the timestamps. It is
    Parquet, or, of text that is neither sorted nor kept, a file of Arrow's.

    The rows are those that stage_stream has Spark write; it says what the arguments are.

    Returns:
        The row groups. None: only Spark is certain to read these files as Spark does.

    Raises:
        DataError: a file lacks a column or cannot be read.
        RunError: the disk does not take it.
    """
    if located.files is None or stream.data.format not in ("csv", "json", "parquet"):
        return None
    files = drop_empty(stream.data, located.files)
    parts: list[Path] = []
    pieces: list[Piece] = []
    once = not (stream.data.format == "parquet" or stream.data.sort or stream.data.keep)
    try:
        if stream.data.format == "parquet":
            conform_parquet(stream, files, columns, spare, folder)
            parts = sorted(folder.glob("*.parquet"))
        else:
            folder.mkdir(parents=True)
            for number, file in enumerate(files):
                declared = [c for c in stream.columns if c.name in columns]
                rows = read_text_rows(
                    stream.data, file, declared, stream.timestamp, spare, stream.written
                )
                parts.append(folder / f"{number:06d}{MAPPED if once else '.parquet'}")
                if once:
                    schema, start = _staged_schema(stream, declared), number_first(stream.data)
                    place = parts[-1], file, start
                    pieces += spool_arrow(stream, rows, schema, place, on_rows)
                else:
                    write_rows(stream, declared, rows, parts[-1], on_rows)
        if once:
            return tuple(pieces)
        if stream.data.sort and parts:
            whole = folder / "sorted"
            sort_parts(parts, stream.timestamp, whole)
            for part in parts:
                part.unlink()
            return tuple(list_staged([whole], stream, columns, located.path))
    except NotPlain:
        for part in parts:
            part.unlink(missing_ok=True)
        folder.rmdir()
        return None
    except OSError as error:
        raise RunError(
            f"{folder} cannot be written: {error}",
            why="the rows of a stream that is not Parquet in the order of time are kept beside the "
            "output meanwhile",
            fix="make room there, or name another place with --output",
            source=Source(str(folder)),
        ) from error
    for file, part in zip(files, parts, strict=True):
        pieces += list_staged([part], stream, columns, file)
    return tuple(pieces)


def _staged_schema(
    stream: Stream, declared: Sequence[Column], marks: Sequence[str] = ()
) -> pa.Schema:
    """The declared columns, the timestamp, BAD, and some more columns of text."""
    types = [(c.name, arrow_type(c.type)) for c in declared]
    more = [(name, pa.string()) for name in (BAD, *marks)]
    return pa.schema([*types, (stream.timestamp, pa.int64()), *more])


def write_rows(
    stream: Stream,
    declared: Sequence[Column],
    rows: Iterable[pa.Table],
    part: Path,
    on_rows: Callable[[int], None] = lambda rows: None,
    marks: Sequence[str] = (),
) -> None:
    """Write a stream's rows, as read_text gives them, to a Parquet file, with some more columns of
    text.

    Raises:
        OSError: the disk does not take it.
    """
    schema = _staged_schema(stream, declared, marks)
    text = [c.name for c in declared if isinstance(c.type, StringType)]
    with pq.ParquetWriter(
        str(part), schema, compression="none", use_dictionary=[*text, BAD, *marks]
    ) as writer:
        for table in rows:
            writer.write_table(table.select(schema.names))
            on_rows(table.num_rows)
