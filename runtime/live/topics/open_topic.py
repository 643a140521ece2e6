"""A topic's messages as one frame, with the columns of everything that is read of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.open_changes import (
    KEY,
    SENT,
    VALUE,
    decode_frames,
    is_opened_here,
    open_changes,
)
from ontoweir.runtime.live.arrivals.read_batch import name_marks, take_columns
from ontoweir.runtime.live.arrivals.read_stream import (
    STREAM,
    load_topic,
    parse_messages,
    select_messages,
)
from ontoweir.runtime.live.model.row_places import OFFSET, PARTITION
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import quote_spark_name, refuse_written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Histories = Mapping[str, History]
"""What is read of streams, by a key for each set of columns of a stream."""


def frame_topic(frame: "DataFrame", stream: Stream, histories: Histories) -> "DataFrame":
    """What a stream's source gives of messages, as `split_rows` takes it: each is parsed for each
    set of columns. Nothing is read where there is none.

    Args:
        frame: of the source.
        stream: the stream.
        histories: what is read of it.

    Raises:
        CatalogError: it is declared to have timestamps in a format, which its reader does not know.
    """
    from pyspark.sql import functions as fn

    name = fn.lit(stream.name).alias(STREAM)
    if not histories:
        return frame.where(fn.lit(False)).select(name)
    frame = select_messages(frame, stream)
    if is_opened_here(stream):
        return frame.select(name, KEY, VALUE, SENT, PARTITION, OFFSET)
    refuse_written(stream)
    made: list[str] = []
    for key, history in sorted(histories.items()):
        keep = [fn.col(quote_spark_name(n)) for n in (VALUE, *made)]
        frame = parse_messages(frame, history, keep)
        names = [n for n in frame.columns if n not in {VALUE, PARTITION, OFFSET, *made}]
        renamed = [fn.col(quote_spark_name(n)).alias(f"{key}.{n}") for n in names]
        kept = [fn.col(quote_spark_name(n)) for n in (VALUE, PARTITION, OFFSET, *made)]
        frame = frame.select(*kept, *renamed)
        made += [f"{key}.{n}" for n in names]
    return frame.drop(VALUE).select(name, "*")


def read_topic(spark: "SparkSession", stream: Stream, histories: Histories) -> "DataFrame":
    """A stream of Kafka's for Structured Streaming, as `frame_topic` has it.

    Raises:
        DataError: Spark cannot read it as a stream.
        CatalogError: an option names a variable of the environment that is not there.
    """
    return frame_topic(load_topic(spark, stream), stream, histories)


def split_rows(whole: pa.Table, histories: Histories) -> dict[str, pa.Table]:
    """The rows by what is read of a stream, as ingest wants them.

    Args:
        whole: the rows of any number of streams.
        histories: what is wanted; of another set of columns of the same stream there may be rows.

    Raises:
        RunError: the registry that has the schemas of messages does not answer.
        DataError: what decodes them is not installed.
    """
    found: dict[str, pa.Table] = {}
    mine: dict[str, pa.Table] = {}
    for key, history in histories.items():
        stream = history.stream
        if stream.name not in mine:
            rows = whole.filter(pc.equal(whole.column(STREAM), stream.name))
            mine[stream.name] = decode_frames(stream, name_marks(rows, stream))
        rows = mine[stream.name]
        if is_opened_here(stream):
            found[key] = open_changes(history, rows)
            continue
        table = take_columns(rows, f"{key}.")
        for mark in (PARTITION, OFFSET):
            table = table.append_column(mark, rows.column(mark))
        found[key] = table
    return found
