"""Tables of Python as files: pandas, polars, Arrow, DuckDB."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import DataError, OntoweirError, Source, UsageError, with_article
from ontoweir.project.write_project import BuiltProject

if TYPE_CHECKING:
    import pyarrow as pa

_LEVEL = re.compile("__index_level_([0-9]+)__$")
_ACCEPTED = (
    "a frame of pandas or polars, a table, reader or dataset of Arrow, a relation of DuckDB, a "
    "dictionary of columns, a list of rows, a Spark DataFrame, or the name of a temporary view"
)


def is_spark(source: object) -> bool:
    """Whether a source is the name of a temporary view, or a DataFrame of Spark."""
    return isinstance(source, str) or type(source).__module__.startswith("pyspark.")


def write_frames(sources: Mapping[str, Any], folder: Path) -> dict[str, Path]:
    """Write tables as they are now, each to a Parquet file; batch by batch, so that what is not in
    memory, such as a dataset, need not fit there.

    Args:
        sources: by stream or relation, anything that gives its rows to Arrow.
        folder: for the files.

    Raises:
        UsageError: one is no table.
        DataError: the rows of one cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = {}
    for number, (name, source) in enumerate(sources.items()):
        reader = _name_index(_open(name, source))
        file = folder / f"{number}-{''.join(c if c.isalnum() else '_' for c in name)}.parquet"
        try:
            # types as Parquet has them: a dictionary of texts is text when it is read
            with reader, pq.ParquetWriter(file, reader.schema, store_schema=False) as writer:
                for batch in reader:
                    writer.write_batch(batch)
        except (pa.ArrowException, OSError, ValueError, TypeError) as error:
            raise _unreadable(name, error) from error
        files[name] = file
    return files


def _name_index(reader: "pa.RecordBatchReader") -> "pa.RecordBatchReader":
    """The same, with the levels of an index of pandas that have no name called as the columns of
    CSV that have none, where pandas writes them: `_c0`."""
    import pyarrow as pa

    levels = {
        name: f"_c{found[1]}" for name in reader.schema.names if (found := _LEVEL.match(name))
    }
    if not levels or any(name in reader.schema.names for name in levels.values()):
        return reader
    fields = (field.with_name(levels.get(field.name, field.name)) for field in reader.schema)
    schema = pa.schema(fields)
    named = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in reader)
    return pa.RecordBatchReader.from_batches(schema, named)


def name_places(error: OntoweirError, built: BuiltProject | None, folder: object) -> None:
    """Put the names that the user knows into an error of what was written to files: the documents
    of a project in memory, and the tables that `write_frames` wrote to a folder."""
    if built is not None:
        built.rename_in(error)
    place = error.source
    if place is not None and Path(place.file).parent == getattr(folder, "path", None):
        error.source = Source(f"sources: {Path(place.file).stem.partition('-')[2]}")


def _open(name: str, source: Any) -> "pa.RecordBatchReader":
    import pyarrow as pa

    try:
        if hasattr(source, "collect_schema") and hasattr(source, "collect"):  # lazy, of polars
            source = source.collect()
        if hasattr(source, "scanner"):  # a dataset
            return source.scanner().to_reader()
        if hasattr(source, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(source)
        if isinstance(source, Mapping):
            return pa.table(source).to_reader()
        if isinstance(source, list) and all(isinstance(row, Mapping) for row in source):
            return pa.Table.from_pylist(source).to_reader()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _unreadable(name, error) from error
    raise UsageError(
        f"the source of {name} is {with_article(type(source).__name__)}",
        why=f"a source is {_ACCEPTED}",
        fix="give one of these",
        source=Source("sources"),
    )


def _unreadable(name: str, error: Exception) -> DataError:
    return DataError(
        f"the rows of {name} cannot be read: {str(error).splitlines()[0][:200]}",
        why="they are written to a file by Arrow, which has a type for each column",
        fix="give the column that it names one type",
        source=Source("sources"),
    )
