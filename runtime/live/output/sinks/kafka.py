"""Answers as Kafka messages.

A micro-batch may be published again after a crash. Messages have query, number and row as their key
and headers: of messages with one key, a reader takes the first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ontoweir.errors import RunError
from ontoweir.runtime.live.output.sinks.sink import MessageSink, SinkKind
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
    are those of Spark's writer."""

    irrevocable: ClassVar[bool] = True
    topic: str
    options: Mapping[str, str]

    def describe(self, query: str) -> str:
        """The topic."""
        return f"the Kafka topic {self._name_topic(query)}"

    def redact(self, text: str) -> str:
        """A message without the values of options that are secret."""
        return redact_secrets(text, self.options)

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Send messages with key `query/batch/row`, and the three as headers."""
        from pyspark.errors import PySparkException

        assert spark is not None
        rows = [
            (
                f"{query}/{batch}/{number}",
                json.dumps(row, default=plain_json, ensure_ascii=False),
                [
                    ("query", query.encode()),
                    ("batch", str(batch).encode()),
                    ("row", str(number).encode()),
                ],
            )
            for number, row in enumerate(answers.to_pylist())
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

    def _name_topic(self, query: str) -> str:
        return self.topic.replace("{query}", query)


def _make(folder: Path, options: Mapping[str, str]) -> KafkaSink:
    given = dict(options)
    return KafkaSink(given.pop("topic"), given)


KAFKA = SinkKind(
    "kafka",
    "a message for each answer",
    _make,
    "topic, kafka.bootstrap.servers …",
    ("topic", "kafka.bootstrap.servers"),
)
