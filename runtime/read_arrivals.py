"""Read the files of a micro-batch in this process, where that gives what Spark's reader gives.

Spark then carries the files' names only: no rows pass from Java to Python. Files that are not
plainly of the types that Spark found at the start are left to Spark, with its rules and messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.mappings.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.column_types import name_column_type
from ontoweir.runtime.check_domain import arrow_type
from ontoweir.runtime.history import History
from ontoweir.runtime.list_arrivals import ArrivedFile
from ontoweir.runtime.mask_secrets import resolve_options
from ontoweir.runtime.read_source import BAD, unreadable
from ontoweir.runtime.read_stream import cast_files, find_schema, local_path
from ontoweir.runtime.take_arrivals import FILE, MODIFIED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_LISTING = {"maxfilespertrigger", "maxbytespertrigger", "maxfileage", "pathglobfilter"}
"""Options that say which files there are, not how they are read."""
_SETTINGS = {
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.fieldId.read.enabled": "false",
}
"""Settings of a session under which a file's values mean what they say."""
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_WHOLE = {"tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64()}


@dataclass(frozen=True, slots=True)
class DirectStream:
    """A stream whose files are read in this process.

    `schema`: what Spark found in its files at the start; `kinds`: Spark's types of the columns in
    use, the timestamp among them; `plain`: whether they are such that they are read in this process
    (else Spark reads the files that this process lists).
    """

    history: History
    schema: "StructType"
    kinds: Mapping[str, str]
    plain: bool = True


def open_direct(spark: "SparkSession", history: History) -> DirectStream | None:
    """Whether a stream's files can be read in this process: local Parquet, plain types, and no
    option or setting that changes what they mean (None: Spark reads them)."""
    from pyspark.errors import PySparkException

    data = history.stream.data
    options = {name.lower() for name, _ in data.options}
    if data.format != "parquet" or data.path is None or "://" in local_path(data.path):
        return None
    if not options <= _LISTING:
        return None
    if any(spark.conf.get(name, wanted) != wanted for name, wanted in _SETTINGS.items()):
        return None
    try:
        schema = find_schema(spark, history)
    except PySparkException:
        return None  # read_stream says why
    found = {f.name: f.dataType.simpleString() for f in schema.fields}
    columns = [n for n in history.columns if n in found or n not in history.spare]
    names = [*columns, history.stream.timestamp]
    if any(name not in found for name in names):
        return None
    kinds = {name: found[name] for name in names}
    for name in columns:
        column = history.stream.column(name)
        if column is None or not _is_plain(kinds[name], column.type):
            return None
    if kinds[history.stream.timestamp] not in ("bigint", "int", "timestamp", "timestamp_ntz"):
        return None
    return DirectStream(history, schema, kinds)


def open_listed(spark: "SparkSession", history: History) -> DirectStream:
    """A stream whose files this process lists, because they share a source, and Spark reads.

    Raises:
        DataError: Spark cannot read them.
    """
    from pyspark.errors import PySparkException

    try:
        return DirectStream(history, find_schema(spark, history), {}, plain=False)
    except PySparkException as error:
        raise unreadable(history.stream.data.path or "", error) from error


def _is_plain(kind: str, declared: ColumnType) -> bool:
    """Whether the cast from Spark's type to the declared one changes no value and rejects none."""
    match declared:
        case IntType():
            return kind in _WHOLE
        case FloatType():
            return kind in ("float", "double")
        case StringType() | BooleanType() | DateType():
            return kind == name_column_type(declared)
        case TimestampType():
            return kind in ("timestamp", "timestamp_ntz")
        case _:
            return False


def stream_names(
    spark: "SparkSession", direct: DirectStream, path: str, options: dict[str, str]
) -> "DataFrame":
    """The stream of a source's files, for their offsets; it has no rows."""
    from pyspark.sql import functions as fn

    data = direct.history.stream.data
    reading = spark.readStream.format(data.format).options(**options).schema(direct.schema)
    return reading.load(path).where(fn.lit(False))


def read_arrivals(
    direct: DirectStream, files: Sequence[ArrivedFile], spark: "SparkSession"
) -> pa.Table:
    """The rows of a micro-batch's files: declared columns, timestamp in µs, BAD, FILE, MODIFIED."""
    parts = []
    for file in files:
        part = _read(direct, file) if direct.plain else None
        if part is None:
            return _read_by_spark(direct, files, spark)
        parts.append(part)
    return pa.concat_tables(parts) if parts else _schema(direct).empty_table()


def _schema(direct: DirectStream) -> pa.Schema:
    stream = direct.history.stream
    declared = [c for c in stream.columns if c.name in direct.history.columns]
    return pa.schema(
        [
            *((c.name, arrow_type(c.type)) for c in declared),
            (stream.timestamp, pa.int64()),
            (BAD, pa.string()),
            (FILE, pa.string()),
            (MODIFIED, pa.int64()),
        ]
    )


def _read(direct: DirectStream, file: ArrivedFile) -> pa.Table | None:
    """A file's rows (None: it is not plain)."""
    if "=" in str(Path(file.path).parent):
        return None  # folders may name columns
    schema = _schema(direct)
    time = direct.history.stream.timestamp
    try:
        with pq.ParquetFile(file.path) as opened:
            metadata = opened.metadata.metadata or {}
            if any(name in metadata for name in _LEGACY):
                return None
            there = opened.schema_arrow
            lower = [n.lower() for n in there.names]
            for name, kind in direct.kinds.items():
                if name not in there.names or lower.count(name.lower()) != 1:
                    return None
                if not _holds(kind, there.field(name).type):
                    return None
            table = opened.read(columns=list(direct.kinds), use_threads=False)
        rows = table.num_rows
        cells = []
        for field in schema:
            match field.name:
                case name if name == time:
                    column = table.column(time)
                    if pa.types.is_timestamp(column.type):
                        column = column.cast(pa.timestamp("us", column.type.tz))
                    cells.append(column.cast(pa.int64()))
                case name if name in direct.kinds:
                    cells.append(table.column(name).cast(field.type))
                case name if name == FILE:
                    cells.append(pa.repeat(pa.scalar(file.path), rows))
                case name if name == MODIFIED:
                    cells.append(pa.repeat(pa.scalar(file.modified, pa.int64()), rows))
                case _:
                    cells.append(pa.nulls(rows, field.type))
    except (OSError, pa.ArrowException):
        return None
    return pa.table(cells, schema=schema)


def _holds(kind: str, there: pa.DataType) -> bool:
    """Whether a file's column has the type that Spark found at the start."""
    match kind:
        case "float":
            return bool(there == pa.float32())
        case "double":
            return bool(there == pa.float64())
        case "string":
            return bool(there in (pa.string(), pa.large_string()))
        case "boolean":
            return bool(there == pa.bool_())
        case "date":
            return bool(there == pa.date32())
        case "timestamp" | "timestamp_ntz":
            zoned = kind == "timestamp"
            plain = pa.types.is_timestamp(there) and there.unit in ("ms", "us")
            return bool(plain and (there.tz is not None) == zoned)
        case _:
            return kind in _WHOLE and bool(there == _WHOLE[kind])


def _read_by_spark(
    direct: DirectStream, files: Sequence[ArrivedFile], spark: "SparkSession"
) -> pa.Table:
    """The same by Spark's reader, as its file source reads them."""
    data = direct.history.stream.data
    options = {**resolve_options(dict(data.options)), "__globPaths__": "false"}
    path = local_path(data.path or "")
    if Path(path).is_dir():
        options["basePath"] = path
    reader = spark.read.format(data.format).options(**options).schema(direct.schema)
    parts = []
    for file in files:  # one by one: of several, Spark takes names with *?[]{} for patterns
        table = cast_files(reader.load(unquote(file.uri)), direct.history).toArrow()
        paths = pa.array([file.path] * table.num_rows, pa.string())
        parts.append(table.set_column(table.column_names.index(FILE), FILE, paths))
    return pa.concat_tables(parts)
