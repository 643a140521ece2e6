"""Read a declared stream by Structured Streaming: its columns, cast, and what the source marks."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ontoweir.errors import DataError, Source
from ontoweir.files.name_formats import NESTED_PARQUET
from ontoweir.mappings.model.catalog import LIVE_OPTIONS, Stream
from ontoweir.runtime.live.arrivals.ingest import FAULT, MODIFIED
from ontoweir.runtime.live.arrivals.open_changes import KEY, SENT, VALUE, is_opened_here
from ontoweir.runtime.live.model.row_places import FILE, OFFSET, PARTITION
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import (
    BAD,
    WantedColumns,
    cast_declared,
    quote_spark_name,
    refuse_written,
    unreadable,
)
from ontoweir.runtime.spark.explain_java import describe_cause, java_errors, suggest_package
from ontoweir.runtime.spark.read_view import VIEW, read_view
from ontoweir.runtime.spark.redact_secrets import redact_secrets, resolve_options

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

STREAM = "__stream"
FILE_DEFAULTS = {
    "maxFilesPerTrigger": "16",  # what one micro-batch takes in is bounded
    "maxFileAge": "36500d",  # Spark's default drops files older than a week without a word
}
KAFKA_DEFAULTS = {
    "startingOffsets": "earliest",  # Spark's default drops what is there when a run begins
    "maxOffsetsPerTrigger": "100000",
}
_BELOW = "recursivefilelookup"
LISTING = LIVE_OPTIONS | {"pathglobfilter", _BELOW}
"""Options that say which files there are, not how they are read."""
_FORMATS = ("parquet", "csv", "json", "orc", "arrow", "avro", "xml", "text", NESTED_PARQUET)
_REFUSED = {
    "latestFirst": ("files are taken in the order they came", "leave it out"),
    "cleanSource": (
        "replays, and queries that join, read the files again, and a server that moves them waits",
        "leave it out, and move old files away when all queries have read them",
    ),
    "includeExistingFiles": ("a run reads what is there, then what comes", "leave it out"),
}
_CORRUPT = "__corrupt"


def read_stream(
    spark: "SparkSession", history: History, home: "SparkSession | None" = None
) -> "DataFrame":
    """A stream's rows: its name, timestamp in µs, BAD, columns and marks, prefixed by its name; of
    Kafka's messages that are opened here, what open_changes makes rows of.

    `home`: the session whose temporary views are meant (default: `spark`).

    Raises:
        DataError: Spark cannot read it as a stream.
        CatalogError: an option names a variable of the environment that is not there.
    """
    from pyspark.sql import functions as fn

    stream = history.stream
    changes = is_opened_here(stream)
    if not changes:
        refuse_written(stream)
    options = source_options(stream)
    try:
        match stream.data.format:
            case "kafka":
                cast = select_messages(load_topic(spark, stream), stream)
                if not changes:
                    cast = parse_messages(cast, history)
            case format if format == VIEW:
                view = read_view(home or spark, spark, stream.data.path or "", streaming=True)
                cast = _cast(view, history, [])
            case _:
                cast = _read_files(spark, history, options)
    except java_errors() as error:
        raise _unstreamed(stream, error, options) from error
    renamed = [fn.col(quote_spark_name(c)).alias(f"{stream.name}.{c}") for c in cast.columns]
    return cast.select(fn.lit(stream.name).alias(STREAM), *renamed)


def load_topic(spark: "SparkSession", stream: Stream) -> "DataFrame":
    """A stream of Kafka's messages, as its source gives them.

    Raises:
        DataError: Spark cannot read it as a stream.
        CatalogError: an option names a variable of the environment that is not there.
    """
    options = source_options(stream)
    try:
        return spark.readStream.format("kafka").options(**options).load()
    except java_errors() as error:
        raise _unstreamed(stream, error, options) from error


def _unstreamed(stream: Stream, error: Exception, options: Mapping[str, str]) -> DataError:
    first, package = describe_cause(error), suggest_package(stream.data.path or "", error)
    if package is not None:
        return unreadable(stream.data.path or "", error)
    missing = stream.data.format == "kafka" and "Failed to find data source" in str(error)
    return DataError(
        redact_secrets(f"{stream.name} cannot be read as a stream: {first}", options),
        why="Spark has no Kafka connector of its own"
        if missing
        else "a live run reads every stream by Structured Streaming",
        fix="add --spark spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION"
        " (Spark's version), or --spark spark.jars=FILE,…"
        if missing
        else "check the format, path and options of its source",
        source=stream.source or Source(stream.data.path or ""),
    )


def source_options(stream: Stream) -> dict[str, str]:
    """The options of a stream's source, secrets filled in, over our defaults.

    Raises:
        CatalogError: an option names a variable of the environment that is not there.
        DataError: an option would lose rows.
    """
    given = resolve_options(dict(stream.data.options), stream.source)
    for name, (why, fix) in _REFUSED.items():
        if name.lower() in {g.lower() for g in given}:
            raise DataError(
                f"{stream.name}: the option {name} does not go with a live run",
                why=why,
                fix=fix,
                source=stream.source,
            )
    path = stream.data.path or ""
    if "**" in path.split("/") and "://" not in local_path(path) and not os.path.exists(path):
        raise DataError(
            f"{stream.name}: a pattern with ** does not go with a live run",
            why="Spark takes ** for the names of one level, and a replay for those of any number",
            fix="name the folder: the files in it and in the folders below it are read",
            source=stream.source,
        )
    defaults = KAFKA_DEFAULTS if stream.data.format == "kafka" else FILE_DEFAULTS
    mine = {g.lower() for g in given}
    if "maxbytespertrigger" in mine:  # Spark takes one of the two
        mine.add("maxfilespertrigger")
    return {**{n: v for n, v in defaults.items() if n.lower() not in mine}, **given}


def is_listed(stream: Stream) -> bool:
    """Whether a stream comes in files that Spark only lists: this process reads them."""
    return stream.data.format in _FORMATS


def stream_names(
    spark: "SparkSession", stream: Stream, path: str, options: dict[str, str]
) -> "DataFrame":
    """The stream of a source's files, for their offsets; it has no rows.

    Raises:
        DataError: Spark cannot list them.
    """
    from pyspark.errors import PySparkException

    kept = {name: text for name, text in options.items() if name.lower() in LISTING - {_BELOW}}
    try:
        reading = spark.readStream.format("text").options(**kept).option(_BELOW, "true").load(path)
    except PySparkException as error:
        raise DataError(
            f"{stream.name} cannot be read as a stream: {str(error).strip().splitlines()[0][:300]}",
            why="a live run has Spark list the files of every stream",
            fix="check the path of its source, and its options",
            source=stream.source or Source(stream.data.path or ""),
        ) from error
    return without_rows(reading, stream)


def without_rows(reading: "DataFrame", stream: Stream) -> "DataFrame":
    """What a source's files are of: its first stream's name, and no row."""
    from pyspark.sql import functions as fn

    return reading.where(fn.lit(False)).select(fn.lit(stream.name).alias(STREAM))


def watched_path(path: str | None) -> str:
    """What Spark is to watch: a folder or a pattern, as given; one file by a pattern that is only
    its name's, since Spark takes other paths for folders.

    >>> watched_path("/no/such/file.csv")
    '/no/such/file.csv'
    """
    local = local_path(path or "")
    if not os.path.isfile(local) or any(c in local for c in "*?[]{}\\"):
        return path or ""
    return f"{local[:-1]}[{local[-1]}]"


def _names(history: History) -> list[str]:
    stream = history.stream
    wanted = [c.name for c in stream.columns if c.name in history.columns]
    return [*wanted, stream.timestamp]


def _cast(frame: "DataFrame", history: History, marks: list["SparkColumn"]) -> "DataFrame":
    """The declared columns cast, beside the source's marks."""
    stream = history.stream
    columns = [c for c in stream.columns if c.name in history.columns]
    path = stream.data.path or stream.data.format
    cast = cast_declared(
        frame,
        stream.data,
        path,
        WantedColumns(columns, stream.timestamp, history.spare, marks),
    )
    assert BAD in cast.columns
    return cast


def find_schema(spark: "SparkSession", history: History) -> "StructType":
    """The columns that Spark finds in a stream's files.

    Raises:
        DataError: the source has no path.
    """
    stream, data = history.stream, history.stream.data
    if data.path is None:
        raise DataError(
            f"{stream.name} has no path",
            why=f"the {data.format} reader needs to know where its data is",
            fix=f'add path = "…" to the source of {stream.name}',
            source=stream.source,
        )
    reader = spark.read.format(data.format).options(**resolve_options(dict(data.options)))
    if not _have_columns(data.path):
        reader = reader.option(_BELOW, "true")
    return reader.load(data.path).schema


def _file_marks() -> list["SparkColumn"]:
    from pyspark.sql import functions as fn

    return [
        fn.col("_metadata.file_path").alias(FILE),
        fn.unix_millis("_metadata.file_modification_time").alias(MODIFIED),
    ]


def _read_files(spark: "SparkSession", history: History, options: dict[str, str]) -> "DataFrame":
    from pyspark.sql import functions as fn

    data = history.stream.data
    schema: Any
    marks = _file_marks()
    if data.format == "json" and data.path is not None:
        schema = ", ".join(f"{quote_spark_name(n)} STRING" for n in [*_names(history), _CORRUPT])
        options = {**options, "columnNameOfCorruptRecord": _CORRUPT, "mode": "PERMISSIVE"}
        fault = fn.when(fn.col(_CORRUPT).isNotNull(), fn.lit("is not a JSON object"))
        marks += [fault.alias(FAULT), fn.col(_CORRUPT).alias(RAW)]
    else:
        schema = find_schema(spark, history)
    if not _have_columns(data.path or ""):  # else Spark reads all that is below by itself
        options = {**options, _BELOW: "true"}
    reading = spark.readStream.format(data.format).options(**options).schema(schema)
    return _cast(reading.load(watched_path(data.path)), history, marks)


def _have_columns(folder: str) -> bool:
    """Whether the names of folders below one say columns (`day=7`)."""
    below = (name for _, names, _ in os.walk(local_path(folder)) for name in names)
    return any("=" in name for name in below)


def select_messages(frame: "DataFrame", stream: Stream) -> "DataFrame":
    """Messages of Kafka's as decode_frames takes them, of what its source gives."""
    from pyspark.sql import functions as fn

    key, value = (read_bytes(name, stream) for name in ("key", "value"))
    return frame.select(
        key.alias(KEY),
        value.alias(VALUE),
        fn.unix_millis("timestamp").alias(SENT),
        fn.concat_ws("/", "topic", "partition").alias(PARTITION),
        fn.col("offset").alias(OFFSET),
    )


def read_bytes(name: str, stream: Stream) -> "SparkColumn":
    """The bytes of messages as text, with U+FFFD for what is none of UTF-8; where a registry has
    their schemas, as base64."""
    from pyspark.sql import functions as fn

    if stream.data.registry:
        return fn.base64(name)
    return fn.make_valid_utf8(fn.col(name).cast("string"))


def parse_messages(
    frame: "DataFrame", history: History, keep: "Sequence[SparkColumn]" = ()
) -> "DataFrame":
    """The columns of messages whose values are JSON objects with the declared columns as fields.

    A field that is missing is a fault, unless its column may be NULL, but an object with the
    timestamp alone is a heartbeat.
    A timestamp is text, or a whole number of microseconds.

    Args:
        frame: VALUE, PARTITION and OFFSET, and what else is kept.
        history: the stream, with the columns that are read.
        keep: columns of the frame that stay.
    """
    from pyspark.sql import functions as fn

    stream = history.stream
    names = _names(history)
    schema = ", ".join(f"{quote_spark_name(n)} STRING" for n in [*names, _CORRUPT])
    parsing = {"columnNameOfCorruptRecord": _CORRUPT, "mode": "PERMISSIVE"}
    frame = frame.select(
        "*",
        fn.from_json(VALUE, schema, parsing).alias("row"),
        fn.json_object_keys(VALUE).alias("keys"),
    )
    there = [fn.array_contains("keys", n) for n in names]
    fault = fn.when(
        fn.col("keys").isNull() | fn.col(f"row.{_CORRUPT}").isNotNull(),
        fn.lit("is not a JSON object"),
    )
    alone = fn.lit(True)
    for held in there[:-1]:
        alone = alone & ~held
    optional = {c.name for c in stream.columns if c.nullable}
    for name, held in zip(names, there, strict=True):
        if name in optional:
            continue
        needed = ~held if name == stream.timestamp else ~held & ~alone
        fault = fault.when(needed, fn.lit(f"{stream.name} lacks the field {name}"))
    moment = fn.col(f"row.{quote_spark_name(stream.timestamp)}")
    number = fn.timestamp_micros(moment.try_cast("bigint")).cast("string")
    cells = [fn.col(f"row.{quote_spark_name(n)}").alias(n) for n in names[:-1]]
    cells.append(fn.coalesce(number, moment).alias(stream.timestamp))
    bad = fn.when(fault.isNotNull(), fn.col(VALUE)).alias(RAW)
    frame = frame.select(*cells, fault.alias(FAULT), bad, PARTITION, OFFSET, *keep)
    marks = [fn.col(n) for n in (FAULT, RAW, PARTITION, OFFSET)]
    return _cast(frame, history, [*marks, *keep])
