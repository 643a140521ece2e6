"""Listen to a topic of MQTT for a while, and write what came as the lines that `receive` writes."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.receive.read_topic import Topic, read_topic
from ontoweir.runtime.receive.write_line import write_line, write_moment
from ontoweir.scaffold.flatten_rows import make_name

PASSWORD = "MQTT_PASSWORD"
"""The variable of the environment that a project names for the password, if a URL has one."""
_SCHEMES = {"mqtt": 1883, "mqtts": 8883}
_WAIT = 0.1
"""Seconds for which the network is waited for at once."""
_RECEIVED = ("received", "received_at", "came_at", "mqtt_received")
_VALUES = ("value", "payload", "mqtt_value")
_Message: TypeAlias = tuple[str, bytes, int, bool]
"""Its topic, payload, time in µs, and whether it was retained."""


@dataclass(frozen=True, slots=True)
class Listening:
    """For how many seconds and messages to listen, at most; `report` is told that it does."""

    seconds: float = 10.0
    messages: int = 10_000
    report: Callable[[str], None] = lambda text: None


@dataclass(frozen=True, slots=True)
class Heard:
    """What came: `name`: for the stream; `file`: its lines; `options`: of the source; `received`:
    the member that has the time when a message came."""

    name: str
    file: Path
    options: tuple[tuple[str, str], ...]
    received: str


@dataclass(frozen=True, slots=True)
class _Broker:
    host: str
    port: int
    tls: bool
    username: str | None
    password: str | None


@dataclass(slots=True)
class _Session:
    """What came of a topic; `refused`: why the broker does not let it."""

    topic: Topic
    came: list[_Message] = field(default_factory=list)
    refused: str | None = None

    def on_connect(self, client: Any, data: Any, flags: Any, reason: Any, more: Any) -> None:
        if reason.is_failure:
            self.refused = str(reason)
        else:
            client.subscribe(self.topic.filter, 1)

    def on_subscribe(self, client: Any, data: Any, mid: int, reasons: Any, more: Any) -> None:
        self.refused = next((str(r) for r in reasons if r.is_failure), None)

    def on_message(self, client: Any, data: Any, message: Any) -> None:
        moment = time.time_ns() // 1000
        self.came.append((message.topic, message.payload, moment, bool(message.retain)))


def is_topic(url: str) -> bool:
    """Whether a URL is one of MQTT."""
    return url.partition("://")[0].lower() in _SCHEMES and "://" in url


def hear_topic(url: str, folder: Path, listening: Listening) -> Heard:
    """Listen to a topic, in a session that the broker forgets.

    Messages that the broker had retained are passed over if others came: whoever receives later
    gets them again.

    Args:
        url: as in mqtt://user@host:port/sensors/{device}/temp, or mqtts://…; a level of `+` is
            given a name.
        folder: for the lines.
        listening: for how long.

    Raises:
        UsageError: the URL is none, paho-mqtt is not installed, or nothing came.
        RunError: the broker is not there, or refuses.
    """
    broker, text = _read_url(url)
    topic = read_topic(text)
    if find_spec("paho") is None:
        raise UsageError(
            f"{url} is listened to, and paho-mqtt is not installed",
            why="it is what speaks MQTT",
            fix="pip install 'ontoweir[mqtt]', or pip install paho-mqtt",
            source=Source("--from"),
        )
    listening.report(
        f"{broker.host}: listening to {topic.filter} for {listening.seconds:g} seconds"
    )
    came = _listen(broker, topic, listening)
    fresh = [one for one in came if not one[3]] or came
    if not fresh:
        raise UsageError(
            f"{url}: no message came within {listening.seconds:g} seconds",
            why="a project is made of messages that are seen",
            fix="listen for longer, as in --listen 120, or correct the topic",
            source=Source("--from"),
        )
    held = [_parse(payload) for _, payload, _, _ in fresh]
    members = {name for one in held if isinstance(one, dict) for name in one}
    names = {*members, *filter(None, topic.names)}
    received = next(n for n in _RECEIVED if n not in names)
    value = None
    if not all(isinstance(one, dict) for one in held):
        value = next(n for n in _VALUES if n not in names)
    made = folder / _name(topic) / "first.jsonl"
    made.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        write_line(payload, {**topic.find_levels(at), received: write_moment(moment)}, value)
        for at, payload, moment, _ in fresh
    ]
    kept = _keep_alike(lines)
    if not kept:
        raise UsageError(
            f"{url}: no message is an object, a number or a text",
            why="its members are the columns of a stream",
            fix="name a topic with other messages",
            source=Source("--from"),
        )
    made.write_bytes(b"".join(line + b"\n" for line in kept))
    options = {"host": broker.host, "topic": text, "port": str(broker.port)}
    options |= {"tls": "true"} if broker.tls else {}
    options |= {"username": broker.username} if broker.username else {}
    options |= {"password": f"env:{PASSWORD}"} if broker.password else {}
    options |= {"received": received} | ({"value": value} if value else {})
    return Heard(made.parent.name, made, tuple(options.items()), received)


def _keep_alike(lines: list[bytes]) -> list[bytes]:
    """The lines whose members are of the kinds that most are of: a number that now and then is
    `unavailable` is a number."""
    read = [(line, value) for line in lines if isinstance(value := json.loads(line), dict)]
    kinds: dict[str, Counter[str]] = {}
    for _, row in read:
        for name, cell in row.items():
            if (kind := _kind_of(cell)) is not None:
                kinds.setdefault(name, Counter())[kind] += 1
    most = {name: counts.most_common(1)[0][0] for name, counts in kinds.items()}
    return [
        line
        for line, row in read
        if all((kind := _kind_of(cell)) is None or kind == most[n] for n, cell in row.items())
    ]


def _kind_of(cell: object) -> str | None:
    """Of which kind JSON's value is (None: `null`)."""
    if cell is None or isinstance(cell, bool):
        return None if cell is None else "boolean"
    return "number" if isinstance(cell, int | float) else type(cell).__name__


def _listen(broker: _Broker, topic: Topic, listening: Listening) -> list[_Message]:
    from paho.mqtt.client import Client, MQTTv311
    from paho.mqtt.enums import CallbackAPIVersion

    session = _Session(topic)
    client = Client(
        CallbackAPIVersion.VERSION2,
        f"ontoweir-init-{uuid4().hex[:8]}",
        protocol=MQTTv311,
        reconnect_on_failure=False,
    )
    if broker.username is not None:
        client.username_pw_set(broker.username, broker.password)
    if broker.tls:
        client.tls_set()
    client.on_connect = session.on_connect
    client.on_subscribe = session.on_subscribe
    client.on_message = session.on_message
    try:
        client.connect(broker.host, broker.port)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _failed(broker, f"cannot be connected to: {reason}") from error
    until = time.monotonic() + listening.seconds
    while time.monotonic() < until and len(session.came) < listening.messages:
        failed = client.loop(_WAIT)
        if session.refused is not None:
            raise _failed(broker, f"refuses: {session.refused}")
        if failed:
            raise _failed(broker, "closes the connection")
    client.disconnect()
    return session.came


def _failed(broker: _Broker, what: str) -> RunError:
    return RunError(
        f"{broker.host}:{broker.port} {what}",
        why="the first messages are received from this MQTT broker",
        fix="start it, or correct the URL: mqtt://user:password@host:port/topic, or mqtts://…",
        source=Source("--from"),
    )


def _read_url(url: str) -> tuple[_Broker, str]:
    """The broker and the topic, whose levels of `+` have names."""
    scheme, _, rest = url.partition("://")
    place, _, text = rest.partition("/")
    try:
        parts = urlsplit(f"//{place}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    *inner, last = text.split("/")
    levels = [*inner] if last == "#" else [*inner, last]
    named = [level for level in levels if level.startswith("{")]
    wrong = not all(map(_LEVEL.fullmatch, levels)) or len({*named}) < len(named)
    if not host or not text or wrong:
        raise UsageError(
            f"{url} names no topic of a broker",
            why="a URL of MQTT has a host and a topic, of levels that are text, + or a name in "
            "braces, and # as the last, for all below",
            fix='write it as "mqtt://broker.example/sensors/{device}/temp"',
            source=Source("--from"),
        )
    tls = scheme.lower() == "mqtts"
    user, password = (None if x is None else unquote(x) for x in (parts.username, parts.password))
    broker = _Broker(host, port or _SCHEMES[scheme.lower()], tls, user, password)
    return broker, _name_levels(text)


_LEVEL = re.compile(r"[^+#{}\0]*|\{[^+#{}\0]+\}|\+")


def _name_levels(text: str) -> str:
    """A topic whose levels of `+` are called after the level before them: sensors/+ is
    sensors/{sensor}.

    >>> _name_levels("plant/rooms/+/+/temp/#")
    'plant/rooms/{room}/{level4}/temp/#'
    """
    levels = text.split("/")
    for place, level in enumerate(levels):
        if level != "+":
            continue
        before = levels[place - 1] if place else ""
        name = make_name(before.removesuffix("s")) if re.fullmatch(r"[^{}+#]+", before) else ""
        taken = {x[1:-1] for x in levels if x.startswith("{")}
        levels[place] = f"{{{name if name and name not in taken else f'level{place + 1}'}}}"
    return "/".join(levels)


def _name(topic: Topic) -> str:
    """A name for a topic's stream: its last level that is text."""
    levels = [level for level in topic.filter.split("/") if level not in ("+", "#", "")]
    return make_name(levels[-1]) if levels else "message"


def _parse(payload: bytes) -> object:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return None
