"""Take some messages of a topic of Kafka as JSON lines: by its client, or Spark's connector."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from ontoweir.errors import Source, UsageError
from ontoweir.mappings.catalog.read_envelope import REGISTRY
from ontoweir.runtime.spark.redact_secrets import is_secret
from ontoweir.scaffold.flatten_rows import make_name
from ontoweir.scaffold.remote.fetch_file import hide_login

if TYPE_CHECKING:
    import pyarrow as pa

MESSAGES = 10_000
"""So many messages are taken, at most: of each partition about as many, its first ones."""
_SCHEME, _REGISTRY = "kafka://", "registry"


@dataclass(frozen=True, slots=True)
class Taken:
    """`file`: the messages; `options`: of the source that they come from; `registry`: that has
    their schemas."""

    file: Path
    options: tuple[tuple[str, str], ...]
    registry: tuple[tuple[str, str], ...] = ()


def is_kafka(url: str) -> bool:
    """Whether a URL is one of Kafka."""
    return url.lower().startswith(_SCHEME)


def take_messages(url: str, folder: Path, settings: Mapping[str, str]) -> Taken:
    """The first messages of a topic: their values, or, where some have none, as for keys that are
    deleted, whole messages with `key`, `value`, `timestamp`, `offset` and `partition`.

    Args:
        url: as in kafka://broker:9092,other:9092/topic?kafka.security.protocol=SASL_SSL, with
            options of Spark's reader, in which env:NAME is a variable of the environment; and with
            registry=http://…, registry.user=… for messages that a schema registry describes.
        folder: for the file, which is called as the topic.
        settings: of Spark, which needs its connector where the client is not installed.

    Raises:
        UsageError: the URL is none, or there are no messages of JSON.
        DataError: Spark has no connector, or does not take the options.
        CatalogError: an option names a variable of the environment that is not there.
        RunError: the broker does not answer, or refuses.
    """
    given = _read_url(url)
    options = {n: v for n, v in given.items() if n.partition(".")[0] != _REGISTRY}
    registry = _read_registry(url, given)
    topic = options["subscribe"]
    from ontoweir.runtime.live.topics.sample_topic import sample_topic
    from ontoweir.runtime.spark.start_session import start_session

    messages = sample_topic(partial(start_session, settings), options, MESSAGES, registry)
    lines = _write_lines(messages)
    if not lines:
        raise _no_lines(url, messages, framed=bool(registry))
    file = folder / f"{make_name(topic)}.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Taken(file, tuple(options.items()), registry)


def _no_lines(url: str, messages: "pa.Table", *, framed: bool) -> UsageError:
    """That there is nothing to see: of messages that cannot be decoded, why."""
    texts = [text for text in messages.column("value").to_pylist() if text is not None]
    unread = [t for t in messages.column("unread").to_pylist() if t] if framed else []
    said = "no message is a JSON object" if messages.num_rows else "no messages"
    fix = "name a topic with such messages"
    if unread:
        said = f"no message can be decoded: the first one {unread[0]}"
    elif not framed and 2 * sum(text.startswith("\0") for text in texts) > len(texts):
        said = "its messages are in the framing of a schema registry"
        fix = f"name the registry: {url}{'&' if '?' in url else '?'}registry=http://HOST:8081"
    return UsageError(
        f"{url}: {said}",
        why="a project is made of messages that are seen, whose members are its columns",
        fix=fix,
        source=Source("--from"),
    )


def _read_registry(url: str, given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What is said of a registry, as the source of a stream says it."""
    found = {
        "url" if n == _REGISTRY else n.removeprefix(f"{_REGISTRY}."): v
        for n, v in given.items()
        if n.partition(".")[0] == _REGISTRY
    }
    unknown = next((n for n in found if n not in REGISTRY), None)
    address = found.get("url", "")
    if unknown is None and (not found or address.startswith(("http://", "https://", "env:"))):
        return tuple(found.items())
    raise UsageError(
        f"{url} says of its registry "
        + (f"{unknown!r}, which is nothing known" if unknown else f"that it is at {address!r}"),
        why=f"there are registry and {', '.join(f'{_REGISTRY}.{n}' for n in REGISTRY[1:])}",
        fix=f"write {_REGISTRY}=http://HOST:8081, and {_REGISTRY}.password=env:NAME for a login",
        source=Source("--from"),
    )


def _read_url(url: str) -> dict[str, str]:
    rest, _, asked = url[len(_SCHEME) :].partition("?")
    brokers, _, topic = rest.partition("/")
    hosts = brokers.split(",")
    whole = all(host and not host.startswith(":") and "@" not in host for host in hosts)
    if not whole or not topic or "/" in topic:
        raise UsageError(
            f"{hide_login(url)} names no topic of a broker",
            why="a URL of Kafka has one or more brokers, and a topic; logins are options",
            fix='write it as "kafka://broker.example:9092/readings", or with options, '
            '"kafka://broker.example:9092/readings?kafka.sasl.jaas.config=env:LOGIN"',
            source=Source("--from"),
        )
    servers = ",".join(host if ":" in host else f"{host}:9092" for host in hosts)
    given = dict(parse_qsl(asked, keep_blank_values=True))
    shown = next((n for n, v in given.items() if is_secret(n) and not v.startswith("env:")), None)
    if shown is not None:
        raise UsageError(
            f"a topic's {shown} is in its URL",
            why="the project would have it in a file",
            fix=f"put it into a variable of the environment, and write {shown}=env:NAME",
            source=Source("--from"),
        )
    return {"kafka.bootstrap.servers": servers, "subscribe": unquote(topic), **given}


def _write_lines(messages: "pa.Table") -> Sequence[str]:
    rows = [row for row in messages.to_pylist() if row.pop("unread", None) is None]
    deleting = any(row["value"] is None for row in rows)
    lines = []
    for row in rows:
        value = _parse(row["value"])
        if deleting and row["key"] is not None and (value is not None or row["value"] is None):
            key = _parse(row["key"])
            whole = {**row, "key": row["key"] if key is None else key, "value": value}
            lines.append(json.dumps(whole, ensure_ascii=False))
        elif not deleting and value is not None:
            lines.append(" ".join(row["value"].split("\n")).strip())  # numbers as they are written
    return lines


def _parse(text: str | None) -> Any:
    """The object that a text is (None: it is none)."""
    try:
        held = None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None
