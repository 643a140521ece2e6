"""Tables of Python as files: pandas, polars, Arrow, DuckDB."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import DataError, Source, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

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
        reader = _open(name, source)
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
        f"the source of {name} is a {type(source).__name__}",
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
