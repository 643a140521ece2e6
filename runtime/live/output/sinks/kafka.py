"""Answers as Kafka messages.

A micro-batch may be published again after a crash. Messages have query, number and row as their key
and headers: of messages with one key, a reader takes the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.mappings.catalog.read_envelope import REGISTRY
from ontoweir.runtime.framed.schema_registry import reach_registry
from ontoweir.runtime.live.output.frame_rows import MessageForm, dump_row, frame_rows
from ontoweir.runtime.live.output.sinks.sink import (
    MessageSink,
    SinkKind,
    refuse_option,
    require_package,
    take_upsert,
)
from ontoweir.runtime.packed.write_avro import require_names
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_SCHEMA = "key STRING, value BINARY, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
_FORM = "registry.format"
_DEFAULTS = {"kafka.enable.idempotence": "true", "kafka.acks": "all"}


@dataclass(frozen=True)
class KafkaSink(MessageSink):
    """A JSON message for each answer, to `topic`, in which {query} is the query's name; `options`
    are those of Spark's writer. `keys`, if it replaces rows: a message for each key that changed,
    without a value where its row is gone, as compacted topics have it. `registry`: how a schema
    registry is reached (empty: messages are JSON without one), which describes values written as
    `form`; keys stay texts."""

    irrevocable: ClassVar[bool] = True
    topic: str
    options: Mapping[str, str]
    keys: dict[str, tuple[str, ...]] | None = field(default=None, compare=False)
    registry: Mapping[str, str] = field(default_factory=dict)
    form: MessageForm = "avro"

    def describe(self, query: str) -> str:
        """The topic."""
        return f"the Kafka topic {self._name_topic(query)}"

    def redact(self, text: str) -> str:
        """A message without the values of options that are secret."""
        return redact_secrets(text, {**self.options, **self.registry})

    def accept(self, query: str, names: Sequence[str]) -> None:
        """Refuse columns that Avro cannot name, where messages are Avro."""
        if self.registry and self.form == "avro":
            require_names(names)

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
    ) -> "list[tuple[str | None, bytes | None]]":
        """Keys (None: of its own) and values (None: the row of this key is gone)."""
        from ontoweir.runtime.live.output.upserts.reduce_changes import reduce_changes

        if self.keys is None:
            return [(None, value) for value in self._encode(query, answers)]
        names = self.keys[query]
        changed = reduce_changes(answers, names)
        keys = changed.rows.select(list(names)).to_pylist()
        held = zip(keys, self._encode(query, changed.rows), changed.holds.to_pylist(), strict=True)
        return [(dump_row(key), value if holds else None) for key, value, holds in held]

    def _encode(self, query: str, rows: "pa.Table") -> list[bytes]:
        """The values of messages."""
        if not self.registry:
            return [dump_row(row).encode() for row in rows.to_pylist()]
        reached = reach_registry(self.registry, "the sink kafka", Source("--sink-option"))
        return frame_rows(rows, f"{self._name_topic(query)}-value", self.form, reached)

    def _name_topic(self, query: str) -> str:
        return self.topic.replace("{query}", query)


def _make(folder: Path, options: Mapping[str, str]) -> KafkaSink:
    given = dict(options)
    keys = take_upsert("kafka", given)
    form = given.pop(_FORM, "avro")
    registry = {n: given.pop(n) for n in [*given] if n.partition(".")[0] == "registry"}
    alone = next(
        (n for n in options if n.startswith("registry.") and "registry" not in options), ""
    )
    if alone or form not in ("avro", "json"):
        wrong = f"is {form!r}" if not alone else "is without registry"
        raise UsageError(
            f"the option {alone or _FORM} of the sink kafka {wrong}",
            why="registry says where a schema registry is, and registry.format whether messages "
            "are avro or json",
            fix="write registry=http://HOST:8081, and registry.format=avro or json",
            source=Source("--sink-option"),
        )
    made = {n.partition(".")[2] or "url": value for n, value in registry.items()}
    unknown = next((n for n in made if n not in REGISTRY), None)
    if unknown is not None:
        known = ", ".join(f"registry.{name}" for name in REGISTRY[1:])
        raise refuse_option("kafka", f"registry.{unknown}", f"registry, {_FORM}, {known}")
    if made and form == "avro":
        require_package("avro", "fastavro", "fastavro")
    return KafkaSink(given.pop("topic"), given, keys, made, "json" if form == "json" else "avro")


KAFKA = SinkKind(
    "kafka",
    "a message for each answer",
    _make,
    "topic, kafka.bootstrap.servers, upsert, registry …",
    ("topic", "kafka.bootstrap.servers"),
)
