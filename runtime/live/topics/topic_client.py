"""Topics of one broker, read by this process: by librdkafka (confluent_kafka), if it is installed.

A broker that does not answer is asked again and again, and holds up nobody: nothing comes of its
topics meanwhile.
"""

import importlib.util
import json
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ontoweir.errors import OntoweirError, RunError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.framed.open_frames import learn_schemas, needs_keys
from ontoweir.runtime.live.arrivals.read_stream import source_options
from ontoweir.runtime.live.topics.read_messages import Messages
from ontoweir.runtime.live.topics.secure_broker import translate_options
from ontoweir.runtime.live.topics.topic_offsets import begins_with_all, most_at_once

_SERVERS = "kafka.bootstrap.servers"
_KNOWN = {
    "subscribe": None,
    "assign": None,
    "startingoffsets": ("earliest",),
    "maxoffsetspertrigger": None,
    "failondataloss": ("true",),
}
"""The options that mean the same here and for Spark, with their values (None: all), beside how the
broker is reached (secure_broker)."""
_LINGER = 0.01
"""Seconds in which more messages are awaited after the first one."""
_RETRY, _ANSWER, _LOOK = 2.0, 1.0, 1.0
"""Seconds between two questions to a broker that does not answer; that an answer may take; between
two looks at which partitions there are, while nothing comes."""
_LOG = logging.getLogger("ontoweir.kafka")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False  # that a broker is away is said by the status, not line by line


class MessagesGone(Exception):
    """A topic has no longer what is to come next, or is another one now. `anew`: by stream, what is
    said of those whose topic is known to be another."""

    def __init__(self, anew: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.anew = dict(anew or {})


def is_read_here(stream: Stream) -> bool:
    """Whether this process reads a stream's topics itself: the client is installed, and knows all
    options."""
    if stream.data.format != "kafka" or importlib.util.find_spec("confluent_kafka") is None:
        return False
    if not begins_with_all(stream):
        return False
    try:
        options = {n.lower(): v for n, v in source_options(stream).items()}
    except OntoweirError:  # Spark's way tells it
        return False
    if _SERVERS not in options or ("subscribe" in options) == ("assign" in options):
        return False
    reached = {n: v for n, v in options.items() if n.startswith("kafka.")}
    others = {n: v for n, v in options.items() if n not in reached}
    if translate_options(reached) is None:
        return False
    return all(n in _KNOWN and _KNOWN[n] in (None, (v,)) for n, v in others.items())


def name_broker(stream: Stream) -> tuple[tuple[str, str], ...]:
    """What has to be the same of streams that one client reads."""
    options = {n.lower(): v for n, v in source_options(stream).items()}
    return tuple(sorted((n, v) for n, v in options.items() if n.startswith("kafka.")))


@dataclass(slots=True)
class TopicClient:
    """The topics that some streams read, of one broker.

    `reach`: of each stream the next offset of each partition, by topic/partition (none: the broker
    has not answered yet); `ids`: what the broker calls the topics that have been begun, which is
    another name when one is made anew; `ends`: where the topics ended when they were first asked;
    `unanswered`: why the schemas of messages are not known, which wait until they are.
    """

    streams: Sequence[Stream]
    reach: dict[str, dict[str, int]]
    ids: dict[str, str] = field(default_factory=dict)
    ends: dict[str, dict[str, int]] = field(default_factory=dict)
    unanswered: RunError | None = None
    _refused: float = float("-inf")
    _consumer: Any = None
    _asking: Any = None
    _asked: float = float("-inf")
    _held: list[Any] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether the broker has said which partitions there are."""
        return self._consumer is not None

    @property
    def is_at_end(self) -> bool:
        """Whether everything is read that was there when the topics were first asked."""
        return self.is_open and all(
            self.reach[s].get(p, 0) >= last
            for s, held in self.ends.items()
            for p, last in held.items()
        )

    def poll(self, patience: float) -> dict[str, Messages]:
        """The messages that come next, by stream; `reach` is where they end.

        Args:
            patience: about how many seconds to wait for the first one.

        Raises:
            MessagesGone: they are no longer there, or the topic is not.
        """
        from confluent_kafka import KafkaError, KafkaException

        try:
            if not self.is_open:
                return self._open(patience)
            if not self._held:
                self._held = self._await(patience)
            came = [m for m in self._held if m.error() is None]
            if came or time.monotonic() - self._asked > _LOOK:
                # before these are taken in: a partition that has come since holds time back
                self._look()
        except KafkaException as error:
            if self.is_open and error.args[0].code() in _gone(KafkaError):
                raise MessagesGone from error
            return {}
        if came and not self._learn(came):
            return {}
        held, self._held = self._held, []
        return self._take(held)

    def _learn(self, came: Sequence[Any]) -> bool:
        """Whether the schemas of messages are known, or their registries say that there are none:
        a registry that does not answer is asked again, as a broker is."""
        now = time.monotonic()
        if self.unanswered is not None and now - self._refused < _RETRY:
            time.sleep(0.1)
            return False
        self.unanswered = None
        for stream in self.streams:
            if stream.data.registry:
                keys = [m.key() for m in came] if needs_keys(stream) else []
                try:
                    learn_schemas(stream, [*keys, *(m.value() for m in came)])
                except RunError as error:
                    self.unanswered, self._refused = error, now
        return self.unanswered is None

    def _open(self, patience: float) -> dict[str, Messages]:
        from confluent_kafka import Consumer, KafkaException, TopicPartition
        from confluent_kafka.admin import AdminClient

        now = time.monotonic()
        if now - self._asked < _RETRY:
            time.sleep(min(patience, 0.1))
            return {}
        self._asked = now
        broker: dict[str, Any] = translate_options(dict(name_broker(self.streams[0]))) or {}
        config = {
            **broker,
            "group.id": f"ontoweir-{uuid.uuid4()}",  # nobody else's: offsets are in the checkpoint
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "isolation.level": "read_uncommitted",  # as Kafka's own consumer, which Spark has
            "allow.auto.create.topics": False,
            "queued.max.messages.kbytes": 32_768,
            "fetch.wait.max.ms": 500,
            "reconnect.backoff.max.ms": int(1000 * _RETRY),
        }
        # by a connection of its own: on the consumer's, an answer waits behind messages that do
        self._asking = self._asking or AdminClient(broker, logger=_LOG)
        consumer = Consumer(config, logger=_LOG)
        try:
            for stream in self.streams:
                parts = self._list_parts(stream)
                begun = self.reach.get(stream.name)
                bounds = {p: consumer.get_watermark_offsets(_partition(p), _ANSWER) for p in parts}
                self.ends[stream.name] = {p: high for p, (_, high) in bounds.items()}
                first = {p: low for p, (low, _) in bounds.items()}
                if begun is not None:
                    _check_there(begun, bounds)
                self.reach[stream.name] = {**first, **(begun or {})}
        except (KafkaException, MessagesGone):
            consumer.close()
            raise
        consumer.assign([TopicPartition(*_split(p), at) for p, at in self._places().items()])
        self._consumer = consumer
        return {}

    def _places(self) -> dict[str, int]:
        """Where each partition is read next: of several streams, for the one that is behind."""
        places: dict[str, int] = {}
        for held in self.reach.values():
            for part, at in held.items():
                places[part] = min(at, places.get(part, at))
        return places

    def _await(self, patience: float) -> list[Any]:
        first = self._consumer.poll(patience)
        if first is None:
            return []
        most = min(most_at_once(stream) for stream in self.streams)
        more = self._consumer.consume(min(most, 1_000_000) - 1, _LINGER) if most > 1 else []
        return [first, *more]

    def _look(self) -> None:
        """Partitions that have come since are read from their beginning.

        Raises:
            KafkaException: the broker does not answer.
        """
        from confluent_kafka import TopicPartition

        self._asked = time.monotonic()
        for stream in self.streams:
            reach = self.reach[stream.name]
            parts = self._list_parts(stream)
            if reach.keys() - set(parts):
                raise MessagesGone
            for part in parts:
                if part in reach:
                    continue
                known = part in self._places()
                reach[part] = 0
                if not known:
                    self._consumer.incremental_assign([TopicPartition(*_split(part), 0)])
                elif self._places()[part] == 0:
                    self._consumer.seek(TopicPartition(*_split(part), 0))

    def _list_parts(self, stream: Stream) -> list[str]:
        """The partitions of a stream's topics, by topic/partition.

        Raises:
            KafkaException: the broker does not answer, or has no such topic.
            MessagesGone: a topic has been made anew.
        """
        from confluent_kafka import TopicCollection

        topics, wanted = _name_topics(stream)
        asked = self._asking.describe_topics(TopicCollection(topics), request_timeout=_ANSWER)
        there = {topic: answer.result() for topic, answer in asked.items()}
        for topic, found in there.items():
            known, now = self.ids.get(topic), str(found.topic_id)
            if known not in (None, now) and stream.name in self.reach:
                raise MessagesGone({stream.name: f"the topic {topic} has been made anew"})
        self.ids |= {topic: str(found.topic_id) for topic, found in there.items()}
        if wanted is not None:
            return wanted
        return [f"{t}/{n}" for t in topics for n in sorted(p.id for p in there[t].partitions)]

    def _take(self, held: Sequence[Any]) -> dict[str, Messages]:
        from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, KafkaError

        found: dict[str, Messages] = {}
        for message in held:
            error = message.error()
            if error is not None and error.code() in _gone(KafkaError):
                raise MessagesGone
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                continue  # it is asked again
            part, offset = f"{message.topic()}/{message.partition()}", message.offset()
            for stream in self.streams:
                reach = self.reach[stream.name]
                if part not in reach or offset < reach[part]:
                    continue
                if error is not None:
                    reach[part] = offset
                    continue
                reach[part] = offset + 1
                mine = found.setdefault(stream.name, Messages())
                kind, sent = message.timestamp()
                mine.keys.append(message.key())
                mine.values.append(message.value())
                mine.sent.append(None if kind == TIMESTAMP_NOT_AVAILABLE else sent)
                mine.parts.append(part)
                mine.offsets.append(offset)
        return found

    def close(self) -> None:
        """Read nothing more."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = self._asking = None


def _gone(codes: Any) -> frozenset[int]:
    return frozenset(
        (
            codes._AUTO_OFFSET_RESET,
            codes.OFFSET_OUT_OF_RANGE,
            codes.UNKNOWN_TOPIC_OR_PART,
            codes._UNKNOWN_PARTITION,
            codes._UNKNOWN_TOPIC,
        )
    )


def _check_there(begun: Mapping[str, int], bounds: Mapping[str, tuple[int, int]]) -> None:
    """What comes next is there.

    Raises:
        MessagesGone: it is not.
    """
    for part, at in begun.items():
        if part not in bounds or not bounds[part][0] <= at <= bounds[part][1]:
            raise MessagesGone


def _name_topics(stream: Stream) -> tuple[list[str], list[str] | None]:
    """A stream's topics, and the partitions that it reads of them (None: all)."""
    options = {n.lower(): v for n, v in source_options(stream).items()}
    if "assign" in options:
        given = json.loads(options["assign"])
        return sorted(given), [f"{t}/{p}" for t, parts in given.items() for p in parts]
    return sorted({t.strip() for t in options["subscribe"].split(",") if t.strip()}), None


def _split(part: str) -> tuple[str, int]:
    topic, _, number = part.rpartition("/")
    return topic, int(number)


def _partition(part: str) -> Any:
    from confluent_kafka import TopicPartition

    return TopicPartition(*_split(part))
