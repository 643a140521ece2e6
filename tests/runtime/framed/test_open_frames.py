"""Messages that a schema registry describes: what they say, and what cannot be decoded."""

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from datetime import time as day_time
from decimal import Decimal
from itertools import count as count_up
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given

from ontoweir.errors import CatalogError, DataError, RunError
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.framed import decode_message, schema_registry
from ontoweir.runtime.framed.open_frames import Opened, open_frames, wrap_bytes
from ontoweir.runtime.framed.schema_registry import open_registry
from tests.oracle.budget import SEEDS, budget
from tests.runtime.schema_registry_server import Registry, frame, head, start_registry

READING = {
    "type": "record",
    "name": "Reading",
    "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": ["null", "long"]}],
}


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("ONTOWEIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(schema_registry, "_PAUSES", (0.0,))
    with start_registry() as started:
        yield started
    schema_registry._OPEN.clear()


def stream(url: str, **more: str) -> Stream:
    declared = (("url", url), *more.items())
    return Stream("s", DataSource("kafka", None, registry=declared), "ts", 1, None, ())


def opened(url: str, *values: bytes | None, **more: str) -> Opened:
    none = [None] * len(values)
    return open_frames(stream(url, **more), none, [wrap_bytes(v) for v in values])


def said(url: str, *values: bytes | None) -> list[Any]:
    made = opened(url, *values)
    assert made.faults == [None] * len(values)
    return [None if text is None else json.loads(text) for text in made.values]


def test_each_message_is_read_by_its_own_schema(registry: Registry) -> None:
    later = {**READING, "fields": [*READING["fields"], {"name": "unit", "type": "string"}]}
    registry.add(1, READING)
    registry.add(7, later)
    one = frame(1, READING, {"id": "a", "n": 3})
    two = frame(7, later, {"id": "b", "n": None, "unit": "°C"})
    assert said(registry.url, one, two, one, None) == [
        {"id": "a", "n": 3},
        {"id": "b", "n": None, "unit": "°C"},
        {"id": "a", "n": 3},
        None,
    ]
    assert registry.asked == ["/schemas/ids/1", "/schemas/ids/7"]  # each once


def test_messages_of_json_are_their_text(registry: Registry) -> None:
    registry.add(2, {"type": "object"}, "JSON")
    made = opened(registry.url, head(2) + b'{"n": 1.50}', head(2) + "ü".encode("latin-1"))
    assert made.values[0] == '{"n": 1.50}'
    assert made.faults == [None, "is no text of UTF-8"]


def test_logical_types(registry: Registry) -> None:
    kinds: dict[str, tuple[Any, Any, Any]] = {
        "price": (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            Decimal("12.50"),
            12.5,
        ),
        "day": ({"type": "int", "logicalType": "date"}, date(2026, 1, 2), "2026-01-02"),
        "ms": (
            {"type": "long", "logicalType": "timestamp-millis"},
            datetime(2026, 1, 2, 3, 4, 5, 6000, UTC),
            "2026-01-02T03:04:05.006000+00:00",
        ),
        "ns": (
            {"type": "long", "logicalType": "timestamp-nanos"},
            1_767_323_045_000_000_007,
            "2026-01-02T03:04:05.000000007+00:00",
        ),
        "here": (
            {"type": "long", "logicalType": "local-timestamp-micros"},
            datetime(2026, 1, 2, 3, 4, 5),
            "2026-01-02T03:04:05",
        ),
        "clock": (
            {"type": "int", "logicalType": "time-millis"},
            day_time(3, 4, 5),
            "03:04:05",
        ),
        "uuid": (
            {"type": "string", "logicalType": "uuid"},
            UUID(int=5),
            "00000000-0000-0000-0000-000000000005",
        ),
        "kind": ({"type": "enum", "name": "K", "symbols": ["A", "B"]}, "B", "B"),
        "text": ("bytes", b"plain", "plain"),
        "raw": ({"type": "fixed", "name": "F", "size": 2}, b"\xff\xfe", {"base64": "//4="}),
        "many": ({"type": "array", "items": "int"}, [1, 2], [1, 2]),
        "named": ({"type": "map", "values": "boolean"}, {"x": True}, {"x": True}),
    }
    fields = [{"name": n, "type": kind} for n, (kind, _, _) in kinds.items()]
    schema = {"type": "record", "name": "R", "fields": fields}
    registry.add(1, schema)
    row = {name: value for name, (_, value, _) in kinds.items()}
    assert said(registry.url, frame(1, schema, row)) == [{n: v for n, (_, _, v) in kinds.items()}]
    assert '"price":12.50,' in (opened(registry.url, frame(1, schema, row)).values[0] or "")


def test_schemas_that_refer_to_others(registry: Registry) -> None:
    place = {"type": "record", "name": "x.Place", "fields": [{"name": "road", "type": "string"}]}
    device = {"type": "record", "name": "x.Device", "fields": [{"name": "at", "type": "x.Place"}]}
    whole = {"type": "record", "name": "x.R", "fields": [{"name": "device", "type": "x.Device"}]}
    to = [{"name": "x.Place", "subject": "place", "version": 3}]
    registry.versions[("place", 3)] = {"schema": json.dumps(place)}
    registry.versions[("device", 1)] = {"schema": json.dumps(device), "references": to}
    references = [{"name": "x.Device", "subject": "device", "version": 1}]
    registry.add(4, whole, references=[*references, *to])
    row = {"device": {"at": {"road": "A1"}}}
    inner = json.loads(json.dumps(whole).replace('"x.Device"', json.dumps(device)))
    inner = json.loads(json.dumps(inner).replace('"x.Place"}', json.dumps(place) + "}"))
    message = head(4) + frame(4, inner, row)[5:]
    assert said(registry.url, message) == [row]


def test_what_cannot_be_decoded_says_why(registry: Registry) -> None:
    registry.add(1, READING)
    registry.add(3, "syntax = proto3;", "PROTOBUF")
    registry.add(5, {"type": "nothing"})
    whole = frame(1, READING, {"id": "abc", "n": 3})
    values = [b"", b"{}", b"\0\0\0", whole[:-1], whole + b"x", head(9), head(3) + b"x", head(5)]
    made = opened(registry.url, *values, whole)
    assert made.faults == [
        *["is not framed: it begins with no number of a schema"] * 3,
        "is not what its schema 1 describes",
        "is longer than its schema 1 describes",
        "names the schema 9, which the registry has not",
        "names the schema 3, of the kind PROTOBUF: Avro and JSON are read",
        "names the schema 5, which is none of Avro's",
        None,
    ]
    assert made.values[1] == f"base64:{b64encode(b'{}').decode()}"


def test_keys_are_framed_or_text(registry: Registry) -> None:
    registry.add(1, READING)
    key = frame(1, READING, {"id": "a", "n": 1})
    keys = [wrap_bytes(k) for k in (key, b"plain", None, head(8), b"\xff")]
    made = open_frames(stream(registry.url), keys, [None] * 5)
    assert made.keys == ['{"id":"a","n":1}', "plain", None, None, None]
    assert made.faults[3:] == [
        "has a key that names the schema 8, which the registry has not",
        "has a key that is no text of UTF-8",
    ]


def test_a_registry_that_is_away_is_told_and_asked_again(registry: Registry) -> None:
    """A schema that is not known is no reason to reject a message while the registry is away."""
    registry.add(1, READING)
    message = frame(1, READING, {"id": "a", "n": 3})
    for status, answer in ((503, "503 Service Unavailable"), (404, "404 Not Found")):
        registry.status, registry.asked = status, []
        with pytest.raises(RunError, match=f"cannot be asked: it answers {answer}"):
            opened(registry.url, message)
        assert len(registry.asked) == (2 if status == 503 else 1)
    registry.status = None
    assert said(registry.url, message) == [{"id": "a", "n": 3}]
    with pytest.raises(RunError, match="cannot be asked: Connection refused"):
        opened("http://127.0.0.1:1", message)


def test_what_is_known_from_before_is_read_without_a_registry(registry: Registry) -> None:
    registry.add(1, READING)
    message = frame(1, READING, {"id": "a", "n": 3})
    assert said(registry.url, message) == [{"id": "a", "n": 3}]
    schema_registry._OPEN.clear()  # as another process
    registry.status = 503
    assert said(registry.url, message) == [{"id": "a", "n": 3}]
    schema_registry._OPEN.clear()
    registry.status = None  # one that is made anew, with another schema of this number, is believed
    registry.add(1, {"type": "object"}, "JSON")
    assert said(registry.url, head(1) + b'{"m":1}') == [{"m": 1}]


def test_a_login_is_sent_and_shown_nowhere(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add(1, READING)
    registry.login = "me:hunter-two"
    monkeypatch.setenv("PW", "hunter-two")
    message = frame(1, READING, {"id": "a", "n": 3})
    made = opened(registry.url, message, user="me", password="env:PW")
    assert made.values == ['{"id":"a","n":3}']
    monkeypatch.setenv("PW", "hunter-three")
    with pytest.raises(RunError, match="it answers 401 Unauthorized") as error:
        open_registry(stream(registry.url, user="me", password="env:PW")).probe()
    assert "hunter" not in str(error.value)
    monkeypatch.setenv("PW", "no")  # what is short is in other words, too
    with pytest.raises(RunError, match="cannot be asked"):
        open_registry(stream(registry.url, user="me", password="env:PW")).probe()
    with pytest.raises(CatalogError, match="needs the environment variable NONE"):
        open_registry(stream(registry.url, user="me", password="env:NONE"))


def test_without_fastavro_the_package_is_named(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add(1, READING)
    registry.add(2, {}, "JSON")
    monkeypatch.setattr(decode_message, "find_spec", lambda _: None)
    assert said(registry.url, head(2) + b"{}") == [{}]
    with pytest.raises(DataError, match=r"pip install 'ontoweir\[avro\]'"):
        opened(registry.url, frame(1, READING, {"id": "a", "n": 3}))


_NUMBERS = count_up(100)


@pytest.fixture(scope="module")
def server() -> Iterator[Registry]:
    with pytest.MonkeyPatch.context() as patch, start_registry() as started:
        patch.setenv("ONTOWEIR_CACHE", "off")
        yield started


def _random_kind(made: random.Random, depth: int, names: Iterator[str]) -> Any:
    plain = ["int", "long", "double", "string", "boolean", "null"]
    choice = made.randrange(10 if depth else 7)
    match choice:
        case 0 | 1 | 2 | 3:
            return made.choice(plain)
        case 4:
            return {"type": "long", "logicalType": "timestamp-micros"}
        case 5:
            return {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}
        case 6:
            return {"type": "enum", "name": next(names), "symbols": ["A", "B", "C"]}
        case 7:
            return ["null", {"type": "array", "items": _random_kind(made, depth - 1, names)}]
        case 8:
            return {"type": "map", "values": _random_kind(made, depth - 1, names)}
        case _:
            fields = [
                {"name": f"f{n}", "type": _random_kind(made, depth - 1, names)}
                for n in range(made.randrange(1, 4))
            ]
            return {"type": "record", "name": next(names), "fields": fields}


def _random_value(made: random.Random, kind: Any) -> tuple[Any, Any]:
    """A value to write, and what JSON is to say of it."""
    if isinstance(kind, list):
        return (None, None) if made.random() < 0.3 else _random_value(made, kind[1])
    name = kind if isinstance(kind, str) else kind.get("logicalType", kind["type"])
    match name:
        case "int" | "long":
            bits = 31 if name == "int" else 63
            number = made.choice([0, -1, 1, 2**bits - 1, -(2**bits), made.randrange(10**6)])
            return number, number
        case "double":
            number = made.choice([0.0, -1.5, 1e300, made.random()])
            return number, number
        case "string":
            text = "".join(made.choices('aü"\\\n{}€😀', k=made.randrange(5)))
            return text, text
        case "boolean":
            yes = made.random() < 0.5
            return yes, yes
        case "null":
            return None, None
        case "timestamp-micros":
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
                microseconds=made.randrange(-(10**15), 10**16)
            )
            return moment, moment
        case "decimal":
            number = Decimal(made.randrange(-(10**15), 10**15)).scaleb(-3)
            return number, number
        case "enum":
            symbol = made.choice("ABC")
            return symbol, symbol
        case "array":
            pairs = [_random_value(made, kind["items"]) for _ in range(made.randrange(4))]
            return [w for w, _ in pairs], [s for _, s in pairs]
        case "map":
            held = {f"k{n}": _random_value(made, kind["values"]) for n in range(made.randrange(3))}
        case _:
            held = {f["name"]: _random_value(made, f["type"]) for f in kind["fields"]}
    return {n: w for n, (w, _) in held.items()}, {n: s for n, (_, s) in held.items()}


def _same(read: Any, wanted: Any) -> bool:
    match wanted:
        case dict():
            return read.keys() == wanted.keys() and all(_same(read[n], wanted[n]) for n in wanted)
        case list():
            return len(read) == len(wanted) and all(map(_same, read, wanted))
        case datetime():
            return datetime.fromisoformat(read) == wanted
        case Decimal():
            return Decimal(str(read)) == wanted
        case float():
            return float(read) == wanted
        case _:
            return bool(read == wanted)


@budget(0.75)
@given(SEEDS)
def test_random_schemas(server: Registry, seed: int) -> None:
    """What is written by a random schema is what JSON says, and cut short it is rejected."""
    made = random.Random(seed)
    names = (f"N{n}" for n in range(10**6))
    count = range(made.randrange(1, 5))
    fields = [{"name": f"f{n}", "type": _random_kind(made, 3, names)} for n in count]
    schema = {"type": "record", "name": "Top", "fields": fields}
    number = next(_NUMBERS)
    server.add(number, schema)
    row, wanted = _random_value(made, schema)
    message = frame(number, schema, row)
    whole = opened(server.url, message)
    assert whole.faults == [None]
    read = json.loads(whole.values[0] or "", parse_float=Decimal)
    assert _same(read, wanted)
    if len(message) > 5:
        assert None not in opened(server.url, message[:-1], message + b"\1").faults
