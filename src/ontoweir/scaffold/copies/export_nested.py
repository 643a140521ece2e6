"""Parquet files whose time is nested, as flat Parquet files, which a project reads."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import DataError, Source
from ontoweir.scaffold.flatten_rows import flatten_rows, make_name
from ontoweir.scaffold.guess_tables import guess_tables
from ontoweir.scaffold.read_sample import form_of, list_files, name_table, read_sample

if TYPE_CHECKING:
    import pyarrow as pa


def export_nested(path: Path, folder: Path) -> list[Path]:
    """Write a table whose rows have objects in them, and no time outside of these, with a column
    for each of their members; and the elements of its array of objects, if it has one, as another
    table, each with what its row has. Which (empty: it has no such rows).

    Args:
        path: a file of Parquet, or a folder of such.
        folder: for the tables.

    Raises:
        DataError: its files are not of one shape, or one cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = list_files(path)
    if not files or any(form_of(file) != "parquet" for file in files):
        return []
    try:
        kinds = [field.type for field in pq.read_schema(files[0])]
    except (OSError, pa.ArrowException):  # told when it is read
        return []
    if not any(_has_objects(kind) for kind in kinds):
        return []
    if guess_tables([read_sample(path)]).catalog.streams:
        return []
    try:
        return _write(files, folder / f"{name_table(path)}.parquet")
    except (OSError, pa.ArrowException, ValueError) as error:
        raise DataError(
            f"it cannot be made flat: {next(iter(str(error).splitlines()), '')[:200]}",
            why="its time is within an object, so that a copy is made in which each member has a "
            "column; all of its files need the same columns",
            fix="write it anew with such columns",
            source=Source(str(path)),
        ) from error


def _write(files: Sequence[Path], target: Path) -> list[Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(files[0]) as opened:
        empty = opened.schema_arrow.empty_table()
    _, _, array = flatten_rows(empty)
    made = [target]
    if array is not None:
        inner = make_name(array.rpartition(".")[2])
        made.append(target.with_name(f"{target.stem}_{inner}.parquet"))
    writers: list[pq.ParquetWriter] = []
    try:
        writers += [
            pq.ParquetWriter(file, table.schema, store_schema=False)
            for file, table in zip(made, _flatten(empty, array), strict=True)
        ]
        for file in files:
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches():
                    rows = pa.Table.from_batches([batch])
                    for writer, table in zip(writers, _flatten(rows, array), strict=True):
                        writer.write_table(table)
    finally:
        for writer in writers:
            writer.close()
    return made


def _flatten(rows: "pa.Table", array: str | None) -> "Iterator[pa.Table]":
    """The rows without the array, and its elements."""
    yield flatten_rows(rows, leave=array)[0]
    if array is not None:
        yield flatten_rows(rows)[0]


def _has_objects(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_struct(kind)) or bool(
        pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)
    )
