"""Read a declared source through Spark's readers, its columns cast to their declared types."""

import glob
import os
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import DataError, Source
from ontoweir.mappings.catalog import Column, DataSource, DecimalType, IntType
from ontoweir.mappings.column_types import name_column_type
from ontoweir.runtime.read_view import VIEW, read_view

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

BAD = "__bad"
"""The column that names the first column of a row that is not of its declared type (or NULL)."""


@dataclass(frozen=True, slots=True)
class Located:
    """A source's path: local files in the order of their names, or a remote path."""

    path: str
    files: tuple[str, ...] | None


def locate_source(data: DataSource, table: str, catalog_file: str) -> Located:
    """Find a source's files.

    Raises:
        DataError: it has no path, or nothing is there.
    """
    if data.path is None:
        raise DataError(
            f"{table} has no path",
            why=f"the {data.format} reader needs to know where its data is",
            fix=f'add path = "…" to the source of {table}',
            source=Source(catalog_file),
        )
    if data.format == VIEW:
        return Located(data.path, None)
    path = data.path.removeprefix("file://") if data.path.startswith("file:///") else data.path
    if "://" in path:
        return Located(path, None)
    if os.path.isdir(path):
        files = sorted(
            str(f)
            for f in Path(path).rglob("*")
            if f.is_file() and not any(p.startswith(("_", ".")) for p in f.relative_to(path).parts)
        )
        return Located(path, tuple(files))
    matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not matches:
        raise DataError(
            f"there is no data for {table}",
            why="the catalog names this file or folder",
            fix="put the data there, or correct the path of its source",
            source=Source(path),
        )
    found: list[str] = []
    for match in matches:
        if os.path.isdir(match):
            inner = locate_source(DataSource(data.format, match), table, catalog_file).files
            found.extend(inner or ())
        else:
            found.append(match)
    return Located(path, tuple(found))


def read_source(
    spark: "SparkSession",
    data: DataSource,
    path: str,
    columns: Sequence[Column],
    timestamp: str | None,
    files: Sequence[str] = (),
    home: "SparkSession | None" = None,
    spare: Set[str] = frozenset(),
) -> "DataFrame":
    """The declared columns, cast, with BAD; the timestamp, if any, in microseconds.

    Args:
        spark: the session.
        data: format and options.
        path: a path; a pattern only where no local file has this name.
        columns: those wanted.
        timestamp: the column of that name too.
        files: what to read instead of the path, local files with the same columns.
        home: the session whose temporary views are meant (default: `spark`).
        spare: columns that are NULL where the data lacks them.

    Raises:
        DataError: a column is missing, or Spark cannot read the data.
    """
    from pyspark.errors import PySparkException

    if data.format == VIEW:
        frame = read_view(home or spark, spark, path, streaming=False)
        return cast_declared(frame, data, path, columns, timestamp, spare=spare)
    names = [c.name for c in columns] + ([timestamp] if timestamp is not None else [])
    reader = spark.read.format(data.format).options(**dict(data.options))
    given = names if data.format == "json" else read_header(data, files[0] if files else path)
    if given is not None:
        reader = reader.schema(", ".join(f"`{n}` STRING" for n in given))
    try:
        places = [literal_path(f) for f in files] if files else literal_path(path)
        frame = reader.load(places)
        if "void" in (kind for _, kind in frame.dtypes):
            # a folder's column that is NULL everywhere has no type, which ORC's reader refuses
            held = ((n, "string" if kind == "void" else kind) for n, kind in frame.dtypes)
            frame = reader.schema(", ".join(f"`{n}` {kind}" for n, kind in held)).load(places)
        return cast_declared(frame, data, path, columns, timestamp, spare=spare)
    except PySparkException as error:
        raise unreadable(path, error) from error


def literal_path(path: str) -> str:
    r"""A path as Spark's readers take it, which see a pattern in every name with one of *?[]{}\: of
    what is there by this name these are escaped.

    >>> literal_path("s3://bucket/*.csv")
    's3://bucket/*.csv'
    """
    if "://" in path or not os.path.exists(path):
        return path
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


def read_header(data: DataSource, path: str) -> list[str] | None:
    """The names in a plain CSV header, which saves Spark a job to find them (None: it has to)."""
    options = {name.lower(): text for name, text in data.options}
    if data.format != "csv" or set(options) != {"header"} or options["header"].lower() != "true":
        return None
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline(65_536)
    except (OSError, UnicodeDecodeError):
        return None
    names = line.removesuffix("\n").split(",")
    plain = all(n.isascii() and n.replace("_", "a").isalnum() for n in names)
    distinct = len({n.lower() for n in names}) == len(names)
    return names if plain and distinct and line.endswith("\n") else None


def cast_declared(
    frame: "DataFrame",
    data: DataSource,
    path: str,
    columns: Sequence[Column],
    timestamp: str | None,
    keep: Sequence["SparkColumn"] = (),
    spare: Set[str] = frozenset(),
) -> "DataFrame":
    """The declared columns of a frame, also a streaming one, as read_source gives them, then those
    to `keep`; `spare` columns are NULL where it lacks them.

    Raises:
        DataError: a column is missing.
    """
    from pyspark.sql import functions as fn

    names = [c.name for c in columns] + ([timestamp] if timestamp is not None else [])
    held = dict(frame.dtypes)
    for name in names:
        if name not in held and name not in spare:
            raise missing_column(name, tuple(held), path, data)
    cells: list[SparkColumn] = []
    bad: list[SparkColumn] = []
    for column in columns:
        kind = column.type
        target = "bigint" if isinstance(kind, IntType) else name_column_type(kind)
        if column.name not in held:
            cells.append(fn.lit(None).cast(target).alias(column.name))
            continue
        cell = fn.col(f"`{column.name}`")
        cast = cell.try_cast(target)
        cells.append(cast.alias(column.name))
        wrong = cell.isNotNull() & cast.isNull()
        if isinstance(kind, DecimalType):
            exact = cell.try_cast(f"decimal(38,{min(kind.scale + 9, 38)})")
            wrong = wrong | (exact != cast)
        elif isinstance(kind, IntType) and held[column.name] in ("float", "double"):
            wrong = wrong | (cell != cast)
        bad.append(fn.when(wrong, fn.lit(column.name)))
    if timestamp is not None:
        cell = fn.col(f"`{timestamp}`")
        if held[timestamp] in ("bigint", "int"):
            moment = cell.cast("bigint")
        else:
            moment = fn.unix_micros(cell.try_cast("timestamp"))
            bad.append(fn.when(cell.isNotNull() & moment.isNull(), fn.lit(timestamp)))
        cells.append(moment.alias(timestamp))
    cells.append((fn.coalesce(*bad) if bad else fn.lit(None).cast("string")).alias(BAD))
    return frame.select(*cells, *keep)


def missing_column(name: str, there: Sequence[str], path: str, data: DataSource) -> DataError:
    """The error of a declared column that the data lacks."""
    headless = data.format == "csv" and all(t.startswith("_c") for t in there)
    return DataError(
        f"there is no column {name!r}",
        why=f"the data has {', '.join(there) or 'no columns'}",
        fix='add options = { header = "true" } to its source'
        if headless
        else "correct the column's name in the catalog, or the data",
        source=Source(path),
    )


def unreadable(path: str, error: Exception) -> DataError:
    """The error of data that a reader does not take."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return DataError(
        f"the data cannot be read: {(lines or [type(error).__name__])[0][:300]}",
        why="its reader does not take it",
        fix="check the source's format, path and options, or restore the file",
        source=Source(path),
    )
