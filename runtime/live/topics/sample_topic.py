"""Some messages of a topic, to see what they are like."""

import tempfile
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ontoweir.errors import RunError, Source
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.framed.open_frames import open_frames
from ontoweir.runtime.live.arrivals.read_stream import load_topic, read_bytes
from ontoweir.runtime.live.topics.probe_source import probe_source
from ontoweir.runtime.live.topics.read_messages import Messages
from ontoweir.runtime.live.topics.topic_client import MessagesGone, TopicClient, is_read_here
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spark.explain_java import describe_cause, java_errors
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WHY = "the first messages are taken from this topic of Kafka"
_FIX = "start the broker{}, or correct the URL and its options"
_OFTEN, _PATIENCE = 1, 10.0
"""Seconds between two looks at what has come, and that a broker may take to answer."""


def sample_topic(
    start: "Callable[[], SparkSession]",
    options: Mapping[str, str],
    most: int,
    registry: Sequence[tuple[str, str]] = (),
) -> pa.Table:
    """The first messages, of all partitions about as many, in the order of their times: `key` and
    `value` as text, `timestamp` (ms since 1970), `offset` and `partition`. Values that cannot be
    decoded are NULL, and `unread` says why. This process reads them, where it can.

    Args:
        start: starts Spark, with the connector, if it is needed.
        options: of Spark's reader.
        most: so many messages, at most.
        registry: that has the schemas of messages (none: they are text).

    Raises:
        DataError: Spark has no connector, or does not take the options.
        CatalogError: an option names a variable of the environment that is not there.
        RunError: the broker does not answer, or refuses, or the registry does.
    """
    limited = {"maxOffsetsPerTrigger": str(most), **options}
    data = DataSource("kafka", None, tuple(limited.items()), registry=tuple(registry))
    stream = Stream(options["subscribe"], data, "ts", 1, None, (), source=Source("--from"))
    fix = _FIX.format(" and the registry" if registry else "")
    if is_read_here(stream):
        found = _sample_here(stream, most, fix)
        return _decode(stream, found) if registry and found.num_rows else found
    from pyspark.sql import functions as fn

    spark = start()
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


def _sample_here(stream: Stream, most: int, fix: str) -> pa.Table:
    """The first messages, as they are, by the client of this process."""
    client, kept = TopicClient([stream], {}), Messages()
    counts: Counter[str] = Counter()
    asked = time.monotonic()
    try:
        while not client.is_at_end:
            for part in (found := client.poll(_OFTEN).get(stream.name, Messages())).parts:
                counts[part] += 1
            for name in ("keys", "values", "sent", "parts", "offsets"):
                getattr(kept, name).extend(getattr(found, name))
            each = -(-most // max(len(client.reach.get(stream.name, ())), 1))
            ends = client.ends.get(stream.name, {})
            if client.is_open and all(counts[p] >= min(each, n) for p, n in ends.items()):
                break
            if found.parts:
                asked = time.monotonic()
            elif time.monotonic() - asked > _PATIENCE:
                raise client.unanswered or RunError(
                    f"{stream.name} cannot be read: no broker answers, or it has no such topic",
                    why=_WHY,
                    fix=fix,
                    source=Source("--from"),
                )
    except MessagesGone as error:
        raise RunError(
            f"{stream.name} cannot be read: it is deleted meanwhile",
            why=_WHY,
            fix=fix,
            source=Source("--from"),
        ) from error
    finally:
        client.close()
    return _as_table(kept, -(-most // max(len(counts), 1)), framed=bool(stream.data.registry))


def _as_table(messages: Messages, each: int, *, framed: bool) -> pa.Table:
    """The first messages of each partition, as Spark shows them."""
    columns = (messages.keys, messages.values, messages.sent, messages.parts, messages.offsets)
    taken: Counter[str] = Counter()
    rows = []
    for key, value, sent, part, offset in zip(*columns, strict=True):
        taken[part] += 1
        if taken[part] <= each:
            place = int(part.rpartition("/")[2])
            rows.append((sent or 0, offset, place, _show(key, framed), _show(value, framed)))
    rows.sort(key=lambda row: row[:3])
    kinds = {"timestamp": pa.int64(), "offset": pa.int64(), "partition": pa.int32()}
    kinds |= {"key": pa.string(), "value": pa.string()}
    names = zip(kinds.items(), zip(*rows, strict=True) if rows else [()] * 5, strict=True)
    made = {name: pa.array(column, kind) for (name, kind), column in names}
    return pa.table({n: made[n] for n in ("key", "value", "timestamp", "offset", "partition")})


def _show(held: bytes | None, framed: bool) -> str | None:
    if held is None:
        return None
    return b64encode(held).decode() if framed else held.decode("utf-8", "replace")


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
