"""Answers as Kafka messages.

A micro-batch may be published again after a crash. Messages have query, number and row as their key
and headers: of messages with one key, a reader takes the first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ontoweir.errors import RunError
from ontoweir.runtime.live.output.sinks.sink import MessageSink, SinkKind, take_upsert
from ontoweir.runtime.results.plain_json import plain_json
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_SCHEMA = "key STRING, value STRING, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
_DEFAULTS = {"kafka.enable.idempotence": "true", "kafka.acks": "all"}


@dataclass(frozen=True)
class KafkaSink(MessageSink):
    """A JSON message for each answer, to `topic`, in which {query} is the query's name; `options`
    are those of Spark's writer. `keys`, if it replaces rows: a message for each key that changed,
    without a value where its row is gone, as compacted topics have it."""

    irrevocable: ClassVar[bool] = True
    topic: str
    options: Mapping[str, str]
    keys: dict[str, tuple[str, ...]] | None = field(default=None, compare=False)

    def describe(self, query: str) -> str:
        """The topic."""
        return f"the Kafka topic {self._name_topic(query)}"

    def redact(self, text: str) -> str:
        """A message without the values of options that are secret."""
        return redact_secrets(text, self.options)

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Send messages with key `query/batch/row`, or the values of the row's key, and the three
        as headers."""
        from pyspark.errors import PySparkException

        assert spark is not None
        rows = [
            (
                f"{query}/{batch}/{number}" if key is None else key,
                value,
                [
                    ("query", query.encode()),
                    ("batch", str(batch).encode()),
                    ("row", str(number).encode()),
                ],
            )
            for number, (key, value) in enumerate(self._list_messages(query, answers))
        ]
        topic = self._name_topic(query)
        try:
            frame = spark.createDataFrame(rows, _SCHEMA).coalesce(1)
            writer = frame.write.format("kafka").options(**{**_DEFAULTS, **self.options})
            writer.option("topic", topic).option("includeHeaders", "true").save()
        except PySparkException as error:
            first = next((x.strip() for x in str(error).splitlines() if x.strip()), "")[:300]
            raise RunError(
                self.redact(f"answers cannot be sent to the topic {topic}: {first}"),
                why="they are committed, but not where they belong yet",
                fix="check the broker and the options of the sink, and start again: they are sent "
                "then",
            ) from error

    def _list_messages(
        self, query: str, answers: "pa.Table"
    ) -> "list[tuple[str | None, str | None]]":
        """Keys (None: of its own) and values (None: the row of this key is gone)."""
        from ontoweir.runtime.live.output.upserts.reduce_changes import reduce_changes

        if self.keys is None:
            return [(None, _dump(row)) for row in answers.to_pylist()]
        names = self.keys[query]
        changed = reduce_changes(answers, names)
        return [
            (_dump({name: row[name] for name in names}), _dump(row) if holds else None)
            for row, holds in zip(changed.rows.to_pylist(), changed.holds.to_pylist(), strict=True)
        ]

    def _name_topic(self, query: str) -> str:
        return self.topic.replace("{query}", query)


def _dump(row: Mapping[str, object]) -> str:
    return json.dumps(row, default=plain_json, ensure_ascii=False)


def _make(folder: Path, options: Mapping[str, str]) -> KafkaSink:
    given = dict(options)
    keys = take_upsert("kafka", given)
    return KafkaSink(given.pop("topic"), given, keys)


KAFKA = SinkKind(
    "kafka",
    "a message for each answer",
    _make,
    "topic, kafka.bootstrap.servers, upsert …",
    ("topic", "kafka.bootstrap.servers"),
)
