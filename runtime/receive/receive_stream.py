"""Receive a stream's messages from an MQTT broker, until asked to stop."""

import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import RunError, UsageError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.receive.journal import Journal, open_journal
from ontoweir.runtime.receive.read_topic import Topic, read_topic
from ontoweir.runtime.receive.write_line import write_line, write_moment
from ontoweir.runtime.spark.redact_secrets import redact_secrets, resolve_options

if TYPE_CHECKING:
    from paho.mqtt.client import Client

_AT_ONCE = 1000
"""Messages that are written at once, at most."""
_WAIT = 0.2
"""Seconds for which the network is waited for, at most."""


@dataclass(frozen=True, slots=True)
class ReceiveOptions:
    """`every`: seconds after which lines appear for readers; `again`: seconds before the first try
    to connect anew, which double up to 30; `report` is told what happens."""

    every: float = 1.0
    again: float = 1.0
    report: Callable[[str], None] = lambda text: None


@dataclass(slots=True)
class Received:
    """`messages`: how many were written; `objects` of them are JSON objects; `repeated`: retained
    ones that were passed over; `files`: how many files have appeared."""

    messages: int = 0
    objects: int = 0
    repeated: int = 0
    files: int = 0


@dataclass(slots=True)
class _Connection:
    """What has come since the last acknowledgement. `resumed`: the broker knew this client, and has
    kept what came meanwhile; `refused`: what it does not grant; `received_as`, `value_as`: the
    members for the time when a message came, and for one that is no object (None: there are none);
    `moment`: that time of the last one, in µs."""

    stream: Stream
    topic: Topic
    qos: int
    received: Received = field(default_factory=Received)
    lines: list[bytes] = field(default_factory=list)
    unacknowledged: list[tuple[int, int]] = field(default_factory=list)
    ready: bool = False
    resumed: bool = False
    refused: str | None = None
    received_as: str | None = None
    value_as: str | None = None
    moment: int = 0

    def on_connect(self, client: "Client", data: Any, flags: Any, reason: Any, more: Any) -> None:
        """Subscribe, also where the broker may know of it already: the topic may be another."""
        if reason == "Server unavailable":  # such as one that is being started: it is lost
            return
        if reason.is_failure:
            self.refused = f"the broker does not let it in: {reason}"
            return
        self.resumed = flags.session_present
        client.subscribe(self.topic.filter, self.qos)

    def on_subscribe(self, client: "Client", data: Any, mid: int, reasons: Any, more: Any) -> None:
        """Note whether it was granted."""
        failed = [str(reason) for reason in reasons if reason.is_failure]
        if failed:
            self.refused = f"the broker does not grant {self.topic.filter}: {failed[0]}"
        self.ready = True

    def on_message(self, client: "Client", data: Any, message: Any) -> None:
        """Hold a message's line. A retained one that comes again to who was there is none."""
        self.unacknowledged.append((message.mid, message.qos))
        if message.retain and self.resumed:
            self.received.repeated += 1
            return
        more = self.topic.find_levels(message.topic)
        if self.received_as is not None:
            self.moment = max(self.moment, time.time_ns() // 1000)
            more[self.received_as] = write_moment(self.moment)
        line = write_line(message.payload, more, self.value_as)
        self.received.objects += line.startswith(b"{")
        self.lines.append(line)

    def keep(self, journal: Journal) -> None:
        """Bring what is held to the disk."""
        if self.lines:
            journal.append(self.lines)
            self.received.messages += len(self.lines)
            self.lines.clear()

    def acknowledge(self, client: "Client") -> None:
        """Tell the broker of all that was written, on the connection on which it came."""
        for message, qos in self.unacknowledged:
            client.ack(message, qos)
        self.unacknowledged.clear()


def receive_stream(stream: Stream, options: ReceiveOptions, stop: threading.Event) -> Received:
    """Write a stream's messages to the folder of its source, until `stop` is set; connect anew
    whenever the connection is lost.

    A message is acknowledged once its line is on the disk: one that is not will be sent again, and
    may then be there twice.

    Raises:
        UsageError: paho-mqtt is not installed.
        CatalogError: an option names a variable of the environment that is not there.
        RunError: the broker is not there at first, or refuses; another process receives into the
            folder; or the disk does not take what comes.
    """
    if find_spec("paho") is None:
        raise UsageError(
            f"{stream.name} is received from an MQTT broker, and paho-mqtt is not installed",
            why="it is what speaks MQTT",
            fix="pip install 'ontoweir[mqtt]', or pip install paho-mqtt",
        )
    given = resolve_options(dict(stream.data.mqtt), stream.source)
    held = _Connection(
        stream,
        read_topic(given["topic"]),
        int(given.get("qos", "1")),
        received_as=given.get("received"),
        value_as=given.get("value"),
    )
    journal = open_journal(Path(stream.data.path or "").absolute())
    try:
        client = _make_client(held, given, journal.folder)
        _connect(client, given, stream)
        _receive(client, held, journal, options, stop)
        client.disconnect()
    finally:
        journal.close()
    held.received.files = journal.files
    return held.received


def _make_client(held: _Connection, given: Mapping[str, str], folder: Path) -> "Client":
    from paho.mqtt.client import Client, MQTTv311
    from paho.mqtt.enums import CallbackAPIVersion

    where = f"{given['host']} {given['topic']} {folder}"
    name = f"ontoweir-{hashlib.sha256(where.encode()).hexdigest()[:12]}"
    client = Client(
        CallbackAPIVersion.VERSION2,
        given.get("client_id", name),
        clean_session=False,  # the broker keeps what comes while nobody is there
        protocol=MQTTv311,
        reconnect_on_failure=False,
        manual_ack=True,
    )
    if "username" in given:
        client.username_pw_set(given["username"], given.get("password"))
    if given.get("tls") == "true":
        client.tls_set(given.get("ca_file"))
    client.on_connect = held.on_connect
    client.on_subscribe = held.on_subscribe
    client.on_message = held.on_message
    return client


def _connect(client: "Client", given: Mapping[str, str], stream: Stream) -> None:
    host, port = (
        given["host"],
        int(given.get("port", "8883" if given.get("tls") == "true" else "1883")),
    )
    try:
        client.connect(host, port, int(given.get("keepalive", "60")))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunError(
            redact_secrets(f"{host}:{port} cannot be connected to: {reason}", given),
            why=f"{stream.name} is received from this MQTT broker",
            fix="start it, or correct host, port and tls among the options of its source",
            source=stream.source,
        ) from error


def _receive(
    client: "Client",
    held: _Connection,
    journal: Journal,
    options: ReceiveOptions,
    stop: threading.Event,
) -> None:
    begun, delay, was_ready = time.monotonic(), options.again, False
    while True:
        before = len(held.unacknowledged)
        failed = client.loop(0.0 if held.unacknowledged else min(_WAIT, options.every))
        if held.refused is not None:
            raise RunError(
                f"{held.stream.name}: {held.refused}",
                why="its messages cannot be received so",
                fix="correct username, password, client_id and topic among the options of its "
                "source, or what the broker allows",
                source=held.stream.source,
            )
        if held.ready and not was_ready:
            was_ready, delay = True, options.again
            options.report(f"{held.stream.name}: receiving {held.topic.filter}")
        quiet = len(held.unacknowledged) in (before, _AT_ONCE)
        ending = stop.is_set()
        if failed or ending or quiet:
            # all in this thread: nothing is acknowledged but on the connection on which it came
            if not journal.size:
                begun = time.monotonic()
            held.keep(journal)
            if not failed:
                held.acknowledge(client)
        if ending or journal.is_full or time.monotonic() - begun >= options.every:
            journal.publish()
        if ending:
            return
        if failed:
            held.unacknowledged.clear()
            held.ready = was_ready = False
            options.report(f"{held.stream.name}: the connection is lost; connecting again")
            delay = _connect_again(client, delay, stop)


def _connect_again(client: "Client", delay: float, stop: threading.Event) -> float:
    """Try until the broker is there, or `stop` is set; how long to wait the next time."""
    while not stop.wait(delay):
        delay = min(2 * delay, 30.0)
        try:
            client.reconnect()
        except (OSError, ValueError):
            continue
        break
    return delay
