"""Messages that a schema registry describes, as the texts that others are sent as."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.framed.decode_message import NoMessage, decode_message, list_numbers
from ontoweir.runtime.framed.schema_registry import SchemaRegistry, open_registry


@dataclass(frozen=True, slots=True)
class Opened:
    """Keys and values as text (None: null), and why messages are none (None: they are)."""

    keys: list[str | None]
    values: list[str | None]
    faults: list[str | None]


def wrap_bytes(content: bytes | None) -> str | None:
    """Bytes as they are handed on until they are opened, as Spark's base64 makes them, too."""
    return None if content is None else b64encode(content).decode()


def needs_keys(stream: Stream) -> bool:
    """Whether the keys of a stream's messages are looked at."""
    return stream.data.envelope is not None


def learn_schemas(stream: Stream, framed: Iterable[bytes | None]) -> None:
    """Have the schemas at hand that keys and values of messages name.

    Raises:
        RunError: the registry does not answer; it is not asked again and again.
        CatalogError: an option names a variable of the environment that is not there.
    """
    open_registry(stream).learn(sorted(list_numbers(framed)), waits=False)


def open_frames(stream: Stream, keys: Sequence[str | None], values: Sequence[str | None]) -> Opened:
    """What messages say.

    Args:
        stream: of Kafka's, with a registry.
        keys: as base64; one that is not framed is text.
        values: as base64. What cannot be decoded stays as it is.

    Raises:
        RunError: the registry does not answer.
        DataError: fastavro is not installed.
        CatalogError: an option names a variable of the environment that is not there.
    """
    registry = open_registry(stream)
    mine = [_unwrap(v) for v in values]
    theirs = [_unwrap(k) for k in keys]
    registry.learn(sorted(list_numbers([*mine, *theirs])), waits=True)
    opened = Opened([], [], [])
    for key, value, sent in zip(theirs, mine, values, strict=True):
        fault: str | None = None
        said: str | None = None
        text: str | None = f"base64:{sent or ''}"
        try:
            said = _open_key(key, registry)
            text = None if value is None else decode_message(value, registry)
        except NoMessage as error:
            fault = str(error)
        opened.keys.append(said)
        opened.values.append(text)
        opened.faults.append(fault)
    return opened


def _unwrap(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _open_key(key: bytes | None, registry: SchemaRegistry) -> str | None:
    if key is None:
        return None
    if key[:1] != b"\0":
        try:
            return key.decode("utf-8")
        except UnicodeDecodeError:
            raise NoMessage("has a key that is no text of UTF-8") from None
    try:
        return decode_message(key, registry)
    except NoMessage as error:
        raise NoMessage(f"has a key that {error}") from None
