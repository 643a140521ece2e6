"""Stage a stream that is not read in this process: through Spark's reader, once, to Parquet."""

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc as orc

from ontoweir.errors import OntoweirError, RunError
from ontoweir.mappings.model.catalog import Column, DataSource, Stream
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.read_source import (
    WantedColumns,
    drop_empty,
    read_source,
    refuse_written,
    unreadable,
)
from ontoweir.runtime.spark.explain_java import describe_cause, java_errors
from ontoweir.runtime.spark.read_view import VIEW
from ontoweir.runtime.spark.write_parquet import write_parquet
from ontoweir.runtime.staging.list_staged import list_staged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def stage_stream(
    spark: "SparkSession",
    stream: Stream,
    located: Located,
    columns: Sequence[str],
    folder: Path,
    home: "SparkSession | None" = None,
    spare: Set[str] = frozenset(),
) -> tuple[Piece, ...]:
    """Write the columns in use, cast, to `folder`: a folder per source file, in order.

    Rows keep their order within a file, unless the source is to be sorted: then all rows come in
    the order of their timestamps. A temporary view (of the session `home`) has no order, and is
    always sorted. Columns that are `spare` are NULL where a file lacks them.

    Raises:
        DataError: a file lacks a column or cannot be read.
    """
    from pyspark.sql import functions as fn

    refuse_written(stream)
    data = stream.data
    wanted: list[Column] = [c for c in stream.columns if c.name in columns]
    sort = data.sort or data.format == VIEW
    if located.files is not None:
        located = Located(located.path, tuple(drop_empty(data, located.files)))
    if located.files is None:
        sources: list[tuple[str, list[tuple[str, ...]]]] = [(located.path, [()])]
    elif sort:
        sources = [(located.path, list_alike(data, located.files))]
    else:
        sources = [(file, [(file,)]) for file in located.files]
    pieces: list[Piece] = []
    for number, (path, groups_of_files) in enumerate(sources):
        target = folder / f"{number:06d}"
        frames = [
            read_source(
                spark,
                with_folders(data, files[0] if files else path),
                files[0] if len(files) == 1 else path,
                WantedColumns(wanted, stream.timestamp, spare),
                files,
                home,
            )
            for files in groups_of_files
        ]
        frame = reduce(lambda one, other: one.union(other), frames)
        if sort:
            frame = frame.orderBy(fn.col(f"`{stream.timestamp}`"))
        try:
            write_parquet(frame, str(target))
        except java_errors() as error:
            raise unreadable(path, error) from error
        except OntoweirError:
            raise
        except Exception as error:
            raise RunError(
                f"Spark failed to read {path}: {describe_cause(error)}",
                why=f"{stream.name} is staged through Spark's {data.format} reader",
                fix="see Spark's log for the cause",
            ) from error
        pieces += list_staged(sorted(target.glob("part-*.parquet")), stream, columns, path)
    return tuple(pieces)


def list_alike(data: DataSource, files: Sequence[str]) -> list[tuple[str, ...]]:
    """Files that are read together: below the same folder with columns in its folders' names, and
    with the same columns, which Spark takes from one of them."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for file in files:
        base = dict(with_folders(data, file).options).get("basePath")
        folders = tuple(p.partition("=")[0] for p in Path(file).parent.parts if "=" in p)
        groups.setdefault((base, folders, _columns(data, file)), []).append(file)
    return [tuple(group) for group in groups.values()]


def _columns(data: DataSource, file: str) -> object:
    """What two files with the same columns have in common."""
    match data.format:
        case "csv":
            with open(file, "rb") as opened:
                return opened.readline(65_536)
        case "json" | "text":
            return None  # each row has its own
        case "orc":
            try:
                return str(orc.ORCFile(file).schema)
            except (OSError, pa.ArrowException):
                return file  # its reader says what is wrong
        case _:
            return file


def with_folders(data: DataSource, path: str) -> DataSource:
    """Of a file in folders named key=value: read it so that these columns are there."""
    parts = Path(path).parts
    named = next((i for i, part in enumerate(parts) if "=" in part), len(parts) - 1)
    if named >= len(parts) - 1 or "://" in path:
        return data
    base = ("basePath", str(Path(*parts[:named])))
    return (
        data if "basePath" in dict(data.options) else replace(data, options=(*data.options, base))
    )
