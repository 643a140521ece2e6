"""Answers as messages of MQTT: at least once.

A message that is not acknowledged is sent again, with all after it, so that the last of each topic
is the last answer; and so is a micro-batch after a crash.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.output.sinks.sink import (
    MessageSink,
    SinkKind,
    refuse_option,
    require_package,
    take_upsert,
)
from ontoweir.runtime.results.plain_json import finite_value, plain_json
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    import pyarrow as pa
    from paho.mqtt.client import Client
    from pyspark.sql import SparkSession

_KNOWN = ("host", "topic", "port", "qos", "username", "password", "tls", "ca_file", "client_id")
_PLACE = re.compile(r"\{([^{}]+)\}")
_SPECIAL = re.compile(r"[%/+#$\x00-\x1f\x7f-\x9f]")
"""What a level of a topic does not have, or has for something else."""
_NULL = "%NULL"
"""The level of NULL: no value has it, as each % in one becomes %25."""
_LONGEST = 65_535
"""Bytes of a topic."""
_AT_ONCE = 1_000
"""Messages that are given to the client before it is waited for."""
_WAIT = 0.2
"""Seconds for which the network is waited for, at most."""
_TRIES, _SILENCE, _LONGEST_PAUSE = 6, 30.0, 30.0
"""Connections that are tried; seconds without any answer after which one is given up; seconds
between two, at most."""

Message = tuple[str, bytes]


@dataclass(frozen=True)
class MqttSink(MessageSink):
    """A message for each answer, a JSON object, to `topic`, in which {query} is the query's name
    and {COLUMN} a value of the row. `keys`, if rows replace others: of each key that changed the
    last row is sent, and retained by the broker; an empty message where it is gone."""

    irrevocable: ClassVar[bool] = True
    topic: str
    options: Mapping[str, str]
    qos: Literal[0, 1] = 1
    keys: dict[str, tuple[str, ...]] | None = field(default=None, compare=False)
    topics: dict[str, str] = field(default_factory=dict, compare=False)
    wait: Callable[[float], object] = field(default=time.sleep, compare=False)

    def describe(self, query: str) -> str:
        """Broker and topic."""
        return f"the topic {self._name(query)} of the MQTT broker {self._address()}"

    def redact(self, text: str) -> str:
        """A message without the password."""
        return redact_secrets(text, self.options)

    def accept(self, query: str, names: Sequence[str]) -> None:
        """See that the topic can be made of a query's answers.

        Raises:
            UsageError: it names a column that they do not have; or rows replace others, and the
                topic does not tell them apart.
        """
        template = self._name(query)
        inside = _PLACE.findall(template)
        missing = next((name for name in inside if name not in names), None)
        if missing is not None:
            raise UsageError(
                f"the answers of {query} have no column {missing}, which the topic names",
                why=f"they have {', '.join(names)}",
                fix="name one of these in braces, or {query}",
                source=Source("--sink-option"),
            )
        if self.keys is None:
            return
        apart = next((name for name in self.keys[query] if name not in inside), None)
        if apart is not None or self.topics.setdefault(template, query) != query:
            what = f"{{{apart}}}" if apart is not None else "{query}"
            raise UsageError(
                f"the topic {self.topic} does not tell the rows of {query} apart",
                why="a broker retains the last message of a topic: each key needs its own",
                fix=f"add a level {what} to the option topic",
                source=Source("--sink-option"),
            )

    def begin(self, query: str) -> None:
        """See that the broker lets it in.

        Raises:
            RunError: it does not, or is not there.
        """
        self._deliver(query, [], tries=1)

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Send the answers, until each is acknowledged."""
        self._deliver(query, self._list_messages(query, answers), tries=_TRIES)

    def _list_messages(self, query: str, answers: "pa.Table") -> list[Message]:
        from ontoweir.runtime.live.output.upserts.reduce_changes import reduce_changes

        if self.keys is None:
            return [(self._fill(query, row), _dump(row)) for row in answers.to_pylist()]
        changed = reduce_changes(answers, self.keys[query])
        return [
            (self._fill(query, row), _dump(row) if holds else b"")
            for row, holds in zip(changed.rows.to_pylist(), changed.holds.to_pylist(), strict=True)
        ]

    def _fill(self, query: str, row: Mapping[str, object]) -> str:
        """The topic of a row."""
        filled = _PLACE.sub(lambda found: _level(row[found[1]]), self._name(query))
        if len(filled.encode()) > _LONGEST or not filled:
            raise self._failed(query, f"the topic {filled[:60]!r} is too long, or empty", 0)
        return filled

    def _deliver(self, query: str, messages: Sequence[Message], *, tries: int) -> None:
        """Send messages, in their order, on as many connections as it takes.

        Raises:
            RunError: the broker refuses, or is not there so many times.
        """
        first = 0
        for number in range(1, tries + 1):
            link = _Link()
            try:
                client = self._make_client(link)
                first += self._send(client, link, messages[first:])
                if link.failed is None:
                    return
            except (OSError, ValueError) as error:  # of certificates, addresses and sockets
                link.failed = str(getattr(error, "strerror", None) or error)
            if link.refused or number == tries:
                break
            self.wait(min(_LONGEST_PAUSE, 0.5 * 2 ** (number - 1)))
        raise self._failed(query, link.failed or "it breaks off", number)

    def _send(self, client: "Client", link: "_Link", messages: Sequence[Message]) -> int:
        """How many messages, from the first on, are acknowledged; what went wrong is in `link`."""
        client.connect(*self._place(), keepalive=60)
        try:
            if not link.wait_for(client, lambda: link.connected):
                return 0
            for start in range(0, len(messages), _AT_ONCE):
                link.acknowledged.clear()  # numbers come again, after 65,535 of them
                numbers = [
                    client.publish(topic, content, self.qos, self.keys is not None).mid
                    for topic, content in messages[start : start + _AT_ONCE]
                ]
                if not link.wait_for(client, partial(link.acknowledged.issuperset, numbers)):
                    taken = link.acknowledged
                    return start + next(n for n, one in enumerate(numbers) if one not in taken)
            return len(messages)
        finally:
            client.disconnect()

    def _make_client(self, link: "_Link") -> "Client":
        from paho.mqtt.client import Client, MQTTv311
        from paho.mqtt.enums import CallbackAPIVersion

        client = Client(
            CallbackAPIVersion.VERSION2,
            self.options.get("client_id", ""),
            clean_session=True,
            protocol=MQTTv311,
            reconnect_on_failure=False,
        )
        if "username" in self.options:
            client.username_pw_set(self.options["username"], self.options.get("password"))
        if self.options.get("tls") == "true":
            client.tls_set(self.options.get("ca_file"))
        client.on_connect = link.on_connect
        client.on_publish = link.on_publish
        return client

    def _place(self) -> tuple[str, int]:
        usual = "8883" if self.options.get("tls") == "true" else "1883"
        return self.options["host"], int(self.options.get("port", usual))

    def _address(self) -> str:
        host, port = self._place()
        return f"{host}:{port}"

    def _name(self, query: str) -> str:
        return self.topic.replace("{query}", query)

    def _failed(self, query: str, said: str, tries: int) -> RunError:
        times = f" ({tries} times)" if tries > 1 else ""
        return RunError(
            self.redact(f"answers cannot be sent to {self.describe(query)}: {said}{times}"),
            why="what is committed is not where it belongs yet",
            fix="check the broker and the options of the sink, and start again: it is sent then",
        )


@dataclass(slots=True)
class _Link:
    """A connection. `failed`: what went wrong; `refused`: the broker will say so again."""

    connected: bool = False
    acknowledged: set[int] = field(default_factory=set)
    failed: str | None = None
    refused: bool = False

    def on_connect(self, client: "Client", data: Any, flags: Any, reason: Any, more: Any) -> None:
        """Note whether it lets in."""
        self.connected = not reason.is_failure
        if reason.is_failure:
            self.failed = f"the broker does not let it in: {reason}"
            self.refused = reason != "Server unavailable"  # such as one that is being started

    def on_publish(self, client: "Client", data: Any, mid: int, reason: Any, more: Any) -> None:
        """Note a message that the broker has; of QoS 0, one that has been sent."""
        self.acknowledged.add(mid)

    def wait_for(self, client: "Client", done: Callable[[], bool]) -> bool:
        """Whether something came about, before the connection failed or fell silent."""
        since, seen = time.monotonic(), len(self.acknowledged)
        while not done():
            lost = client.loop(_WAIT)
            if self.failed is None and lost:
                self.failed = "the connection is lost"
            if len(self.acknowledged) != seen:
                since, seen = time.monotonic(), len(self.acknowledged)
            if self.failed is None and time.monotonic() - since > _SILENCE:
                self.failed = f"nothing is heard of it for {_SILENCE:.0f} seconds"
            if self.failed is not None:
                return done()
        return True


def _dump(row: Mapping[str, object]) -> bytes:
    plain = {name: finite_value(value) for name, value in row.items()}
    return json.dumps(plain, default=plain_json, ensure_ascii=False, allow_nan=False).encode()


def _level(value: object) -> str:
    """A value as a level of a topic, by which it can be told from all others."""
    if value is None:
        return _NULL
    text = value if isinstance(value, str) else json.dumps(value, default=plain_json).strip('"')
    return _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", text)


def _make(folder: Path, options: Mapping[str, str]) -> MqttSink:
    require_package("mqtt", "paho", "paho-mqtt")
    given = dict(options)
    keys = take_upsert("mqtt", given)
    wrong = next((name for name in given if name not in _KNOWN), None)
    if wrong is not None:
        raise refuse_option("mqtt", wrong, f"upsert, {', '.join(_KNOWN)}")
    topic, qos, port = given.pop("topic"), given.pop("qos", "1"), given.get("port", "1883")
    if not topic.strip() or re.search(r"[+#\x00]", topic):
        raise UsageError(
            f"the option topic of the sink mqtt is {topic!r}",
            why="messages go to one topic: + and # are for those who subscribe",
            fix="write e.g. --sink-option topic=answers/{query}/{COLUMN}",
            source=Source("--sink-option"),
        )
    if qos not in ("0", "1"):
        raise UsageError(
            f"the option qos of the sink mqtt is {qos!r}",
            why="1 is at least once; 2 would not be exactly once either, as a run that is killed "
            "sends its last answers again",
            fix="leave it out, or write qos=0, where answers may be lost",
            source=Source("--sink-option"),
        )
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65_536):
        raise UsageError(
            f"the option port of the sink mqtt is {port!r}",
            why="it is a whole number from 1 to 65535",
            fix="leave it out (1883; with tls=true 8883), or correct it",
            source=Source("--sink-option"),
        )
    return MqttSink(topic, given, 1 if qos == "1" else 0, keys)


MQTT = SinkKind(
    "mqtt",
    "a message of MQTT for each answer",
    _make,
    "host, topic, port, qos, username, password, tls, ca_file, client_id, upsert",
    ("host", "topic"),
)
