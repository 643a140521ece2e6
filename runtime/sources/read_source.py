"""Read a declared source through Spark's readers, its columns cast to their declared types."""

import os
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import (
    LIVE_OPTIONS,
    Column,
    DataSource,
    DateType,
    DecimalType,
    IntType,
    Relation,
    Stream,
    TimestampType,
)
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.runtime.columnar.convert_column import (
    FIRST_US,
    LAST_US,
    holds_times,
    holds_type,
    wrong_type,
)
from ontoweir.runtime.spark.explain_java import describe_cause, java_errors, suggest_package
from ontoweir.runtime.spark.read_view import VIEW, read_view

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

_TEXT = ("csv", "json", "text", "xml")
_OURS = (
    ("decimal", ".", "whose numbers have a decimal comma"),
    ("thousands", "", "whose numbers have marks between thousands"),
    ("nullvalues", "", "in which several texts are NULL"),
    ("units", "", "whose numbers have units behind them"),
    ("names", "", "whose columns are named in its options"),
    ("skip", "0", "with lines before it"),
    ("skipafterheader", "0", "with lines below its header"),
)
BAD = "__bad"
"""The column that names the first column of a row that is not of its declared type (or NULL)."""

_ARROW = {
    "void": pa.null(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal": pa.decimal128(38, 0),
    "string": pa.string(),
    "char": pa.string(),
    "varchar": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
"""Spark's types as Arrow's; convert_column says what these hold. Others, such as arrays,
hold nothing that is declared."""


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """The columns that are read of a source.

    `columns`: as they are declared; `timestamp`: the column of that name too; `spare`: of these,
    those that are NULL where the data lacks them; `keep`: more columns, of Spark's reader;
    `corrupt`: of JSON, the column that has the text of what is not an object.
    """

    columns: Sequence[Column]
    timestamp: str | None = None
    spare: Set[str] = frozenset()
    keep: Sequence["SparkColumn"] = ()
    corrupt: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the declared columns and the timestamp."""
        return [c.name for c in self.columns] + ([] if self.timestamp is None else [self.timestamp])


def read_source(
    spark: "SparkSession",
    data: DataSource,
    path: str,
    wanted: WantedColumns,
    files: Sequence[str] = (),
    home: "SparkSession | None" = None,
) -> "DataFrame":
    """The declared columns, cast, with BAD; the timestamp, if any, in microseconds.

    Args:
        spark: the session.
        data: format and options.
        path: a path; a pattern only where no local file has this name.
        wanted: the columns.
        files: what to read instead of the path, local files with the same columns.
        home: the session whose temporary views are meant (default: `spark`).

    Raises:
        DataError: a column is missing, or Spark cannot read the data.
    """
    if data.format == VIEW:
        frame = read_view(home or spark, spark, path, streaming=False)
        return cast_declared(frame, data, path, replace(wanted, keep=()))
    names, corrupt = wanted.names, wanted.corrupt
    reader = spark.read.format(data.format).options(**dict(data.options))
    given = names if data.format == "json" else read_header(data, files[0] if files else path)
    if given is not None:
        if corrupt is not None and data.format == "json":
            given = [*given, corrupt]
            reader = reader.options(columnNameOfCorruptRecord=corrupt, mode="PERMISSIVE")
        reader = reader.schema(", ".join(f"{quote_spark_name(n)} STRING" for n in given))
    try:
        places = [literal_path(f) for f in files] if files else literal_path(path)
        frame = reader.load(places)
        if "void" in (kind for _, kind in frame.dtypes):
            # a folder's column that is NULL everywhere has no type, which ORC's reader refuses
            held = ((n, "string" if kind == "void" else kind) for n, kind in frame.dtypes)
            shape = ", ".join(f"{quote_spark_name(n)} {kind}" for n, kind in held)
            frame = reader.schema(shape).load(places)
        return cast_declared(frame, data, path, wanted)
    except java_errors() as error:
        raise unreadable(path, error) from error


def quote_spark_name(name: str) -> str:
    """A name as Spark's SQL takes it, whatever characters it has.

    >>> quote_spark_name("a`b")
    '`a``b`'
    """
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def drop_empty(data: DataSource, files: Sequence[str]) -> list[str]:
    """Local files without those of 0 bytes, which are text without rows.

    Raises:
        DataError: the format is none of text: a file of 0 bytes is not whole.
    """
    kept = []
    for file in files:
        if "://" in file or os.path.getsize(file):
            kept.append(file)
        elif data.format not in _TEXT:
            raise unreadable(file, ValueError("it has 0 bytes"))
    return kept


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
    options = {n: text for name, text in data.options if (n := name.lower()) not in LIVE_OPTIONS}
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
    frame: "DataFrame", data: DataSource, path: str, wanted: WantedColumns
) -> "DataFrame":
    """The declared columns of a frame, also a streaming one, as read_source gives them, then those
    to keep.

    Raises:
        DataError: a column is missing.
    """
    from pyspark.sql import functions as fn

    columns, timestamp = wanted.columns, wanted.timestamp
    held = dict(frame.dtypes)
    for name in wanted.names:
        if name not in held and name not in wanted.spare:
            raise missing_column(name, tuple(held), path, data)
    _check_types(frame, columns, timestamp, path)
    cells: list[SparkColumn] = []
    bad: list[SparkColumn] = []
    for column in columns:
        kind = column.type
        target = "bigint" if isinstance(kind, IntType) else name_column_type(kind)
        if column.name not in held:
            cells.append(fn.lit(None).cast(target).alias(column.name))
            continue
        cell = fn.col(quote_spark_name(column.name))
        cast = cell.try_cast(target)
        if isinstance(kind, DateType | TimestampType):
            cast = fn.when(fn.year(cast).between(1, 9999), cast)
        cells.append(cast.alias(column.name))
        wrong = cell.isNotNull() & cast.isNull()
        there = held[column.name]
        if isinstance(kind, DecimalType) and there in ("float", "double"):
            wrong = wrong | (cast.cast(there) != cell)  # the double nearest to the decimal
        elif isinstance(kind, DecimalType):
            exact = cell.try_cast(f"decimal(38,{min(kind.scale + 9, 38)})")
            wrong = wrong | fn.coalesce(exact != cast, fn.lit(False))
            if there == "string":
                wrong = wrong | _is_finer(cell, cast, kind.scale)
        elif isinstance(kind, IntType) and there.startswith(("float", "double", "decimal")):
            wrong = wrong | (cell != cast)
        bad.append(fn.when(wrong, fn.lit(column.name)))
    if timestamp is not None:
        cell = fn.col(quote_spark_name(timestamp))
        if held[timestamp] in ("bigint", "int"):
            moment = cell.cast("bigint")
        else:
            moment = fn.unix_micros(cell.try_cast("timestamp"))
        moment = fn.when((moment >= FIRST_US) & (moment <= LAST_US), moment)
        bad.append(fn.when(cell.isNotNull() & moment.isNull(), fn.lit(timestamp)))
        cells.append(moment.alias(timestamp))
    cells.append((fn.coalesce(*bad) if bad else fn.lit(None).cast("string")).alias(BAD))
    return frame.select(*cells, *wanted.keep)


def _is_finer(text: "SparkColumn", cast: "SparkColumn", scale: int) -> "SparkColumn":
    """Whether a number has more digits after its point than a decimal's, however small they are."""
    from pyspark.sql import functions as fn

    digits = fn.regexp_extract(text, r"^\s*[+-]?[0-9]*\.([0-9]*?)0*\s*$", 1)
    vanished = text.rlike(r"[1-9].*[eE]") & (cast == 0)
    return (fn.length(digits) > scale) | fn.coalesce(vanished, fn.lit(False))


def _check_types(
    frame: "DataFrame", columns: Sequence[Column], timestamp: str | None, path: str
) -> None:
    """Raise DataError where a column's type holds no values of its declared type."""
    declared = {c.name: c.type for c in columns}
    for name, there in frame.dtypes:
        if name not in declared and name != timestamp:
            continue
        kind = declared.get(name)
        arrow = _ARROW.get(there.partition("(")[0])
        if arrow is None or not (holds_times(arrow) if kind is None else holds_type(arrow, kind)):
            raise wrong_type(name, there, kind, path)


def refuse_nested(table: Stream | Relation) -> None:
    """Raise DataError for columns by a path, or in an envelope, where Spark is to read them."""
    data = table.data
    nested = data.unnest is not None or data.envelope is not None
    if nested or any(c.path is not None for c in table.columns):
        raise DataError(
            f"Spark is to read {table.name}, which has columns from paths, or unnest"
            if data.envelope is None
            else f"Spark is to read {table.name}, which has an envelope",
            why="they are read in this process, of local files of CSV, JSON lines, Parquet, Arrow "
            "and Avro, and of Delta and Iceberg where the package that reads these is installed",
            fix="read local files, or write the members as columns where the data is made",
            source=table.source,
        )
    refuse_comma(data, table.source)


def refuse_comma(data: DataSource, source: Source | None) -> None:
    """Raise DataError for options that Spark does not know, where it is to read the file."""
    given = {name.lower(): text for name, text in data.options}
    found = [said for name, plain, said in _OURS if given.get(name, plain) != plain]
    if found:
        raise DataError(
            f"Spark is to read CSV {found[0]}",
            why="it knows of no such thing; this is read in this process, of local files without "
            "NUL bytes, quotes in the midst of a cell, or cells over several lines unless "
            "multiLine says so",
            fix='say how cells are quoted (escape = "\\"", multiLine = "true"), write points, or '
            "take NUL bytes out: tr -d '\\000' <FILE >OTHER",
            source=source,
        )


def refuse_written(stream: Stream) -> None:
    """Raise DataError for timestamps in a format, or columns by a path, where Spark is to read
    them."""
    refuse_nested(stream)
    if stream.written is not None:
        raise DataError(
            f"Spark is to read {stream.name}, whose timestamps have a format, zone or from",
            why="they are read in this process, of local CSV, JSON lines and Parquet",
            fix="remove them and write timestamps (ISO 8601, or whole microseconds) where the data "
            "is written, or read local files",
            source=stream.source,
        )


def missing_column(name: str, there: Sequence[str], path: str, data: DataSource) -> DataError:
    """The error of a declared column that the data lacks."""
    alike = next((t for t in there if t.lower() == name.lower()), None)
    headless = data.format == "csv" and all(t.startswith("_c") for t in there)
    return DataError(
        f"there is no column {name!r}",
        why=f"the data has {', '.join(there) or 'no columns'}",
        fix='add options = { header = "true" } to its source, or names = "a|b" where it has none'
        if headless
        else (
            f"write {alike!r} in the catalog: names of columns differ in their case"
            if alike is not None
            else "correct the column's name in the catalog, or the data"
        ),
        source=Source(path),
    )


def unreadable(path: str, error: Exception) -> DataError:
    """The error of data that a reader does not take."""
    package = suggest_package(path, error)
    return DataError(
        f"the data cannot be read: {describe_cause(error)}",
        why="its reader does not take it"
        if package is None
        else "Spark, as it is installed, does not read this",
        fix=package or "check the source's format, path and options, or restore the file",
        source=Source(path),
    )
