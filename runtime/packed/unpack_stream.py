"""Write a stream of Arrow, Avro, Delta or Iceberg to Parquet, as which everything else reads it."""

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import RunError, Source
from ontoweir.files.name_formats import LOGGED
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.runtime.columnar.convert_column import wrong_type
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.packed.packed_file import PackedFile
from ontoweir.runtime.packed.read_packed import read_packed
from ontoweir.runtime.sources.check_columns import check_columns
from ontoweir.runtime.sources.read_source import unreadable


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A stream over Parquet files, where they are, and by file what messages name instead."""

    stream: Stream
    located: Located
    shown: dict[str, str]


def unpack_stream(
    stream: Stream, located: Located, columns: Sequence[str], spare: Set[str], folder: Path
) -> Unpacked:
    """Write the columns in use, as they are, to a file for each of the source's. Rows of Delta
    and Iceberg have no order, and are sorted when they are read.

    Args:
        stream: whose files they are.
        located: where they are.
        columns: those in use, without the timestamp.
        spare: of these, those that are NULL where a file lacks them.
        folder: it is made.

    Raises:
        DataError: a file cannot be read, or lacks a column.
        RunError: the disk does not take it.
    """
    wanted = (*columns, *stream.time_columns)
    shown: dict[str, str] = {}
    try:
        folder.mkdir(parents=True)
        for number, found in enumerate(read_packed(stream.data, located, wanted)):
            part = str(folder / f"{number:06d}.parquet")
            shown[part] = found.shown
            unpack_file(stream, found, (wanted, spare), part)
    except OSError as error:
        raise RunError(
            f"{folder} cannot be written: {error}",
            why=f"rows of {stream.data.format} are kept beside the output meanwhile",
            fix="make room there, or name another place with --output",
            source=Source(str(folder)),
        ) from error
    sort = stream.data.sort or stream.data.format in LOGGED
    data = replace(
        stream.data,
        format="parquet",
        path=located.path,
        options=(),
        sort=sort,
        keep=False,
        unnest=None,
        paths=(),
    )
    place = located.path if sort else str(folder)
    return Unpacked(replace(stream, data=data), Located(place, tuple(shown)), shown)


def check_packed(
    table: Stream | Relation, found: PackedFile, wanted: Collection[str], spare: Set[str]
) -> None:
    """Nothing, if a file has the columns wanted, of types that can hold their values.

    Raises:
        DataError: one is missing, or nested.
    """
    for name in wanted:
        if name in found.nested:
            column = table.column(name)
            kind = None if column is None else column.type
            raise wrong_type(f"{table.name}.{name}", found.nested[name], kind, found.shown)
    check_columns(found.schema, table, wanted, found.shown, spare)


def unpack_file(
    stream: Stream, found: PackedFile, columns: tuple[Collection[str], Set[str]], part: str
) -> None:
    """Write one file's columns in use, as they are, as Parquet: a row group for each portion read.

    Args:
        stream: whose file it is.
        found: the file.
        columns: those in use, and those of them that are NULL where it lacks them.
        part: the file that is written.

    Raises:
        DataError: it cannot be read, or lacks a column.
        OSError: the disk does not take it.
    """
    wanted, spare = columns
    check_packed(stream, found, wanted, spare)
    fields = [field for field in found.schema if field.name in wanted]
    schema = found.schema.empty_table().select([f.name for f in fields]).schema
    with pq.ParquetWriter(part, schema, compression="none") as writer:
        for table in found.rows:
            try:
                writer.write_table(table.select(schema.names))
            except pa.ArrowInvalid as error:  # times that Parquet has no unit for
                raise unreadable(found.shown, error) from error
