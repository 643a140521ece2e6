"""Stage a stream that is no local Parquet: through Spark's reader, once, to Parquet parts."""

import shutil
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from ontoweir.errors import OntoweirError, RunError
from ontoweir.mappings.model.catalog import Column, DataSource, Stream
from ontoweir.runtime.sources.conform_parquet import conform_parquet
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.list_pieces import find_leaf, read_size, read_span
from ontoweir.runtime.sources.read_source import (
    Located,
    drop_empty,
    literal_path,
    read_source,
    unreadable,
)
from ontoweir.runtime.spark.explain_java import java_errors, tell_cause
from ontoweir.runtime.spark.read_view import VIEW

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
    """Write the columns in use, cast, to `folder`: a folder per source file, in order. Of local
    Parquet, which is staged only to be sorted, each file is read by its own columns.

    Rows keep their order within a file, unless the source is to be sorted: then all rows come in
    the order of their timestamps. A temporary view (of the session `home`) has no order, and is
    always sorted. Columns that are `spare` are NULL where a file lacks them.

    Raises:
        DataError: a file lacks a column or cannot be read.
    """
    from pyspark.sql import functions as fn

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
    csv = data.format == "csv" and dict(data.options).get("header", "").lower() == "true"
    pieces: list[Piece] = []
    for number, (path, groups_of_files) in enumerate(sources):
        target = folder / f"{number:06d}"
        if data.format == "parquet" and located.files is not None:
            raw = folder / "conformed"
            conform_parquet(stream, located.files, columns, spare, raw)
            frame = spark.read.parquet(literal_path(str(raw)))
        else:
            frames = [
                read_source(
                    spark,
                    with_folders(data, files[0] if files else path),
                    files[0] if len(files) == 1 else path,
                    wanted,
                    stream.timestamp,
                    files,
                    home,
                    spare,
                )
                for files in groups_of_files
            ]
            frame = reduce(lambda one, other: one.union(other), frames)
        if sort:
            frame = frame.orderBy(fn.col(f"`{stream.timestamp}`"))
        try:
            frame.write.parquet(str(target))
        except java_errors() as error:
            raise unreadable(path, error) from error
        except OntoweirError:
            raise
        except Exception as error:
            raise RunError(
                f"Spark failed to read {path}: {tell_cause(error)}",
                why=f"{stream.name} is staged through Spark's {data.format} reader",
                fix="see Spark's log for the cause",
            ) from error
        shutil.rmtree(folder / "conformed", ignore_errors=True)
        first = 1 + csv
        for part in sorted(target.glob("part-*.parquet")):
            try:
                with pq.ParquetFile(part) as opened:
                    place = find_leaf(opened.metadata, stream.timestamp)
                    metadata = [
                        opened.metadata.row_group(i) for i in range(opened.metadata.num_row_groups)
                    ]
                    names = (*columns, stream.timestamp)
                    groups = [
                        (g.num_rows, *read_span(g, place), read_size(g, names)) for g in metadata
                    ]
            except (OSError, pa.ArrowInvalid) as error:
                raise unreadable(str(part), error) from error
            for index, (rows, low, high, size) in enumerate(groups):
                if rows:
                    pieces.append(Piece(str(part), index, rows, path, first, {}, low, high, size))
                first += rows
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
