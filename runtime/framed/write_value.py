"""Values of Avro, as fastavro gives them, as JSON texts."""

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

NANOS = {
    "timestamp-nanos": "ontoweir-timestamp-nanos",
    "local-timestamp-nanos": "ontoweir-local-timestamp-nanos",
}
"""Logical types that fastavro does not read, and what they are called for it to read them."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write_value(value: Any) -> str:
    """JSON: numbers as they are, moments, dates and times of day in ISO 8601.

    Bytes are their text, if they are one of UTF-8, else an object that says them in base64.

    >>> write_value({"n": Decimal("1.50"), "t": date(2026, 1, 2), "b": bytes([255]), "x": None})
    '{"n":1.50,"t":"2026-01-02","b":{"base64":"/w=="},"x":null}'
    """
    match value:
        case dict():
            members = (f"{json.dumps(str(k))}:{write_value(v)}" for k, v in value.items())
            return "{" + ",".join(members) + "}"
        case list() | tuple():
            return "[" + ",".join(map(write_value, value)) + "]"
        case Decimal():
            return format(value, "f")
        case datetime() | date() | time():
            return json.dumps(value.isoformat())
        case UUID():
            return json.dumps(str(value))
        case bytes():
            return _write_bytes(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _write_bytes(value: bytes) -> str:
    try:
        return json.dumps(value.decode("utf-8"), ensure_ascii=False)
    except UnicodeDecodeError:
        return json.dumps({"base64": b64encode(value).decode()}, separators=(",", ":"))


def read_nanos(logical: str) -> Callable[..., str]:
    """What reads nanoseconds since 1970, of UTC or of a place: as text.

    >>> read_nanos(NANOS["timestamp-nanos"])(1_000_000_001)
    '1970-01-01T00:00:01.000000001+00:00'
    """
    zone = "+00:00" if logical == NANOS["timestamp-nanos"] else ""

    def read(value: int, *_: Any) -> str:
        micros, rest = divmod(value, 1000)
        moment = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=None)
        more = f"{rest:03d}" if rest else ""
        return f"{moment.isoformat(timespec='microseconds')}{more}{zone}"

    return read
