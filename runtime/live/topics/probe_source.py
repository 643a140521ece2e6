"""Whether a stream's source can be read at all."""

from typing import TYPE_CHECKING

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.framed.schema_registry import open_registry
from ontoweir.runtime.live.arrivals.read_stream import (
    is_listed,
    read_stream,
    source_options,
    stream_names,
    watched_path,
)
from ontoweir.runtime.live.topics.read_range import list_partitions
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import refuse_written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COUNTS = frozenset(
    ("maxoffsetspertrigger", "minoffsetspertrigger", "minpartitions", "maxfilespertrigger")
)

_CONFLICT = "CONFLICTING_DIRECTORY_STRUCTURES"


def probe_source(spark: "SparkSession", history: History) -> None:
    """Nothing, if Spark takes the options of a stream's source, its folder is there, or its broker
    and its registry answer: what would end the streaming query that others share is found before.

    Raises:
        DataError: Spark cannot read it as a stream.
        CatalogError: an option names a variable of the environment that is not there.
        RunError: the broker does not answer in ten seconds, or the registry in five.
    """
    stream = history.stream
    for name, text in source_options(stream).items():
        if name.lower() in _COUNTS and not (text.isascii() and text.isdigit() and int(text)):
            raise DataError(
                f"{stream.name}: the option {name} is {text!r}",
                why="it is a number, of at least one",
                fix=f'write {name} = "1000"',
                source=stream.source,
            )
    if stream.data.format == "parquet" or (is_listed(stream) and not _spark_reads(stream)):
        # as the query that is shared does: to find columns, Spark would read a file, and one that
        # cannot be read is for who reads it (on_bad_file)
        stream_names(spark, stream, watched_path(stream.data.path), source_options(stream))
        return
    try:
        read_stream(spark, history)
    except DataError as error:
        if _CONFLICT not in str(error.__cause__):
            raise
        # folders of columns and others: each file is read by itself
        stream_names(spark, stream, watched_path(stream.data.path), source_options(stream))
    if stream.data.format == "kafka":
        list_partitions(spark, stream)
        if stream.data.registry:
            open_registry(stream).probe()


def _spark_reads(stream: Stream) -> bool:
    """Whether Spark would read a stream as it is declared: local files of others are read in this
    process alone, and remote ones are refused."""
    if "://" in (stream.data.path or "").removeprefix("file://"):
        return True
    try:
        refuse_written(stream)
    except DataError:
        return False
    return True
