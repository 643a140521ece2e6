"""Read messages of a topic again, from offsets up to others: for queries that are behind."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.read_stream import source_options
from ontoweir.runtime.live.topics.open_topic import Histories, frame_topic, split_rows
from ontoweir.runtime.spark.explain_java import describe_cause, java_errors
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WHERE = frozenset(
    {
        "subscribe",
        "subscribepattern",
        "assign",
        "startingoffsets",
        "startingoffsetsbytimestamp",
        "startingtimestamp",
        "endingoffsets",
        "endingoffsetsbytimestamp",
        "endingtimestamp",
        "maxoffsetspertrigger",
        "minoffsetspertrigger",
        "maxtriggerdelay",
    }
)
"""Options that say which messages are read, and how many at once."""
_PATIENCE_MS = 10_000
"""So long a broker may take to say which partitions there are."""
_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"


def read_range(
    spark: "SparkSession",
    histories: Histories,
    start: Mapping[str, int],
    end: Mapping[str, int],
) -> dict[str, pa.Table]:
    """Messages of one stream, by what is read of it.

    Args:
        spark: the run's session.
        histories: at least one, all of the same stream.
        start: the first offset of each partition, by topic/partition.
        end: the offset after the last of each.

    Raises:
        RunError: the broker does not give them.
    """
    stream = next(iter(histories.values())).stream
    parts = [p for p in end if start[p] < end[p]]
    if not parts:
        return {}
    options = source_options(stream)
    given = {n: v for n, v in options.items() if n.lower() not in _WHERE}
    reading = spark.read.format("kafka").options(**given)
    reading = reading.option("assign", json.dumps(_nest({p: int(_number(p)) for p in parts}, None)))
    reading = reading.option("startingOffsets", json.dumps(_nest(start, parts)))
    reading = reading.option("endingOffsets", json.dumps(_nest(end, parts)))
    try:
        whole = frame_topic(reading.load(), stream, histories).toArrow()
    except java_errors() as error:
        raise _unread(stream, error, options) from error
    return split_rows(whole, histories)


def list_earliest(spark: "SparkSession", stream: Stream, partitions: list[str]) -> dict[str, int]:
    """The first offset that each partition of a stream still has, by topic/partition.

    Raises:
        RunError: the broker does not say.
    """
    return _ask(spark, stream, partitions, "beginningOffsets")


def list_latest(spark: "SparkSession", stream: Stream, partitions: list[str]) -> dict[str, int]:
    """The offset after the last message of each partition of a stream, by topic/partition.

    Raises:
        RunError: the broker does not say.
    """
    return _ask(spark, stream, partitions, "endOffsets")


def _ask(spark: "SparkSession", stream: Stream, partitions: list[str], what: str) -> dict[str, int]:
    """What Kafka's own consumer says of partitions."""
    jvm: Any = spark._jvm
    with _consumer(spark, stream) as consumer:
        wanted = jvm.java.util.ArrayList()
        for part in partitions:
            topic, number = part.rsplit("/", 1)
            wanted.add(jvm.org.apache.kafka.common.TopicPartition(topic, int(number)))
        found = getattr(consumer, what)(wanted)
        return {f"{p.topic()}/{p.partition()}": int(found[p]) for p in found}


def list_partitions(spark: "SparkSession", stream: Stream) -> list[str]:
    """The partitions that a stream's topics have, by topic/partition.

    Raises:
        RunError: the broker does not answer in ten seconds, or takes no such options.
        CatalogError: an option names a variable of the environment that is not there.
    """
    options = {n.lower(): v for n, v in source_options(stream).items()}
    if "assign" in options:
        return [f"{t}/{p}" for t, parts in json.loads(options["assign"]).items() for p in parts]
    jvm: Any = spark._jvm
    with _consumer(spark, stream, _PATIENCE_MS) as consumer:
        if "subscribepattern" in options:
            pattern = jvm.java.util.regex.Pattern.compile(options["subscribepattern"])
            topics = [t for t in consumer.listTopics() if pattern.matcher(t).matches()]
        else:
            topics = [t.strip() for t in options.get("subscribe", "").split(",") if t.strip()]
        found = ((topic, consumer.partitionsFor(topic)) for topic in topics)
        return [f"{t}/{one.partition()}" for t, parts in found for one in parts or ()]


@contextmanager
def _consumer(
    spark: "SparkSession", stream: Stream, patience_ms: int | None = None
) -> Iterator[Any]:
    """Kafka's own consumer for the broker of a stream.

    Raises:
        RunError: what is asked of it fails.
    """
    options = source_options(stream)
    jvm: Any = spark._jvm
    try:
        properties = jvm.java.util.HashMap()
        for name, value in options.items():
            if name.lower().startswith("kafka."):
                properties.put(name[len("kafka.") :], value)
        for name in ("key.deserializer", "value.deserializer"):
            properties.put(name, _BYTES)
        if patience_ms is not None:
            for name in ("default.api.timeout.ms", "request.timeout.ms"):
                properties.putIfAbsent(name, str(patience_ms))
        consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer(properties)
        try:
            yield consumer
        finally:
            consumer.close()
    except java_errors() as error:
        raise _unread(stream, error, options) from error


def _number(part: str) -> str:
    return part.rsplit("/", 1)[1]


def _nest(offsets: Mapping[str, int], parts: "list[str] | None") -> dict[str, Any]:
    """As Spark has them: by topic and partition; without `parts`, the partitions of topics."""
    nested: dict[str, Any] = {}
    for part in offsets if parts is None else parts:
        topic, number = part.rsplit("/", 1)
        if parts is None:
            nested.setdefault(topic, []).append(int(number))
        else:
            nested.setdefault(topic, {})[number] = offsets[part]
    return nested


def _unread(stream: Stream, error: BaseException, options: Mapping[str, str]) -> RunError:
    return RunError(
        redact_secrets(
            f"messages of {stream.name} cannot be read: {describe_cause(error)}", options
        ),
        why="the queries read them from where they stopped",
        fix="see that the broker answers and has them, and start again: what is committed is "
        "intact",
    )
