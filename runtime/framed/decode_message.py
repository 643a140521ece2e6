"""What a framed message says, as JSON text: by the schema that it was written with."""

import json
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from ontoweir.errors import DataError
from ontoweir.runtime.framed.schema_registry import SchemaRegistry, WrittenSchema
from ontoweir.runtime.framed.write_value import NANOS, read_nanos, write_value

_HEADER = 5
"""A zero, and four bytes of a number, the greatest first."""


class NoMessage(Exception):
    """Why a message cannot be decoded."""


def find_number(framed: bytes) -> int | None:
    """The number of a message's schema (None: it is not framed).

    >>> find_number(bytes([0, 0, 0, 1, 2, 6])), find_number(b"{}"), find_number(b"")
    (258, None, None)
    """
    if len(framed) < _HEADER or framed[0] != 0:
        return None
    return int.from_bytes(framed[1:_HEADER], "big")


def decode_message(framed: bytes, registry: SchemaRegistry) -> str:
    """The text of a message.

    Args:
        framed: as it was sent.
        registry: which has learnt its schema.

    Raises:
        NoMessage: it is none that its schema describes, and why.
        DataError: fastavro, which it needs, is not installed.
    """
    number = find_number(framed)
    if number is None:
        raise NoMessage("is not framed: it begins with no number of a schema")
    schema = registry.schemas.get(number)
    if schema is None:
        raise NoMessage(f"names the schema {number}, which the registry has not")
    if number not in registry.kept:
        registry.kept[number] = _make_reader(schema, number, registry)
    read: Callable[[bytes], str] | str = registry.kept[number]
    if isinstance(read, str):
        raise NoMessage(read)
    return read(framed[_HEADER:])


def _make_reader(
    schema: WrittenSchema, number: int, registry: SchemaRegistry
) -> Callable[[bytes], str] | str:
    """What reads messages of a schema (text: why none can be read)."""
    match schema.kind:
        case "JSON":
            return _read_text
        case "AVRO":
            _need_fastavro(registry)
            return _make_avro(schema, number)
        case other:
            return f"names the schema {number}, of the kind {other}: Avro and JSON are read"


def _read_text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise NoMessage("is no text of UTF-8") from None


def _make_avro(schema: WrittenSchema, number: int) -> Callable[[bytes], str] | str:
    import fastavro
    from fastavro.read import LOGICAL_READERS

    for logical in NANOS.values():
        LOGICAL_READERS[f"long-{logical}"] = read_nanos(logical)
    named: dict[str, Any] = {}
    try:
        for text in schema.references:
            fastavro.parse_schema(_rename_nanos(json.loads(text)), named_schemas=named)
        parsed = fastavro.parse_schema(_rename_nanos(json.loads(schema.text)), named_schemas=named)
    except Exception:  # of a text that is no schema, whatever its parser raises
        return f"names the schema {number}, which is none of Avro's"

    def read(content: bytes) -> str:
        source = BytesIO(content)
        try:
            value = fastavro.schemaless_reader(source, parsed, None)
        except Exception:  # of bytes that are none of its schema, whatever its reader raises
            raise NoMessage(f"is not what its schema {number} describes") from None
        if source.tell() < len(content):
            raise NoMessage(f"is longer than its schema {number} describes")
        return write_value(value)

    return read


def _rename_nanos(kind: Any) -> Any:
    """A schema with names of our own for nanoseconds, which fastavro would leave as numbers."""
    if isinstance(kind, list):
        return [_rename_nanos(one) for one in kind]
    if not isinstance(kind, dict):
        return kind
    made = dict(kind)
    if made.get("type") == "long" and made.get("logicalType") in NANOS:
        made["logicalType"] = NANOS[made["logicalType"]]
    for part in ("type", "items", "values"):
        if part in made:
            made[part] = _rename_nanos(made[part])
    if isinstance(made.get("fields"), list):
        made["fields"] = [_rename_nanos(one) for one in made["fields"]]
    return made


def _need_fastavro(registry: SchemaRegistry) -> None:
    if find_spec("fastavro") is None:
        raise DataError(
            "messages are in Avro, and fastavro is not installed",
            why=f"by the schemas of {registry.url} they are read with it",
            fix="pip install 'ontoweir[avro]', or pip install fastavro",
            source=registry.source,
        )


def list_numbers(framed: Iterable[bytes | None]) -> set[int]:
    """The numbers of the schemas of messages."""
    found = {find_number(one) for one in framed if one is not None}
    return {number for number in found if number is not None}
