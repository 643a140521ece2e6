"""Some messages of a topic, to see what they are like."""

import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ontoweir.errors import RunError, Source
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.framed.open_frames import open_frames
from ontoweir.runtime.live.arrivals.read_stream import load_topic, read_bytes
from ontoweir.runtime.live.topics.probe_source import probe_source
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spark.explain_java import describe_cause, java_errors
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WHY = "the first messages are taken from this topic of Kafka"
_FIX = "start the broker{}, or correct the URL and its options"
_OFTEN = 1
"""Seconds between two looks at what has come."""


def sample_topic(
    spark: "SparkSession",
    options: Mapping[str, str],
    most: int,
    registry: Sequence[tuple[str, str]] = (),
) -> pa.Table:
    """The first messages, of all partitions about as many, in the order of their times: `key` and
    `value` as text, `timestamp` (ms since 1970), `offset` and `partition`. Values that cannot be
    decoded are NULL, and `unread` says why.

    Args:
        spark: with the connector.
        options: of Spark's reader.
        most: so many messages, at most.
        registry: that has the schemas of messages (none: they are text).

    Raises:
        DataError: Spark has no connector, or does not take the options.
        CatalogError: an option names a variable of the environment that is not there.
        RunError: the broker does not answer, or refuses, or the registry does.
    """
    from pyspark.sql import functions as fn

    limited = {"maxOffsetsPerTrigger": str(most), **options}
    data = DataSource("kafka", None, tuple(limited.items()), registry=tuple(registry))
    stream = Stream(options["subscribe"], data, "ts", 1, None, (), source=Source("--from"))
    fix = _FIX.format(" and the registry" if registry else "")
    try:
        probe_source(spark, History(stream, (), (), False))
    except RunError as error:
        raise RunError(error.what, why=_WHY, fix=fix, source=Source("--from")) from error
    kept: list[pa.Table] = []
    try:
        frame = load_topic(spark, stream).select(
            *(read_bytes(name, stream).alias(name) for name in ("key", "value")),
            fn.unix_millis("timestamp").alias("timestamp"),
            *("offset", "partition"),
        )
        with tempfile.TemporaryDirectory(prefix="ontoweir-kafka-") as place:

            def keep(batch: Any, number: int) -> None:
                if not kept:
                    kept.append(batch.toArrow())

            writing = frame.writeStream.foreachBatch(keep).option("checkpointLocation", place)
            query = writing.trigger(availableNow=True).start()
            while not kept and not query.awaitTermination(_OFTEN):
                pass
            query.stop()
    except java_errors() as error:
        raise RunError(
            redact_secrets(f"{stream.name} cannot be read: {describe_cause(error)}", limited),
            why=_WHY,
            fix=fix,
            source=Source("--from"),
        ) from error
    order = [("timestamp", "ascending"), ("offset", "ascending"), ("partition", "ascending")]
    if not kept:
        return pa.table({"value": pa.nulls(0, pa.string())})
    return _decode(stream, kept[0].sort_by(order)) if registry else kept[0].sort_by(order)


def _decode(stream: Stream, messages: pa.Table) -> pa.Table:
    """Messages with what they say, as text: keys and values each by itself."""
    nothing = [None] * messages.num_rows
    keys, values = (messages.column(name).to_pylist() for name in ("key", "value"))
    opened = open_frames(stream, nothing, values)
    texts = [
        text if fault is None else None
        for text, fault in zip(opened.values, opened.faults, strict=True)
    ]
    for name, made in (("key", open_frames(stream, keys, nothing).keys), ("value", texts)):
        place = messages.column_names.index(name)
        messages = messages.set_column(place, name, pa.array(made, pa.string()))
    return messages.append_column("unread", pa.array(opened.faults, pa.string()))
