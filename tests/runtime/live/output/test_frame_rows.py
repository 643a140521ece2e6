"""`--sink kafka` with a schema registry: messages as Confluent's serializers frame them."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
import jsonschema
import pyarrow as pa
import pytest

from ontoweir.errors import RunError, UsageError
from ontoweir.runtime.framed.decode_message import decode_message, find_number
from ontoweir.runtime.framed.schema_registry import SchemaRegistry
from ontoweir.runtime.live.output.sinks.kafka import KafkaSink
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from tests.runtime.schema_registry_server import Registry, start_registry

ROWS = pa.table(
    {
        "text": ["é\n", None, ""],
        "n": [1 << 62, None, -1],
        "d": pa.array([Decimal("1.50"), None, Decimal("-7.25")], pa.decimal128(9, 2)),
        "f": [0.1, None, float("inf")],
        "b": [True, None, False],
        "day": [date(2026, 1, 5), None, date(1969, 1, 1)],
        "at": pa.array([datetime(2026, 1, 5, 8, 0, 0, 1), None, None], pa.timestamp("us")),
        "ts": pa.array([datetime(2026, 1, 5, 8), None, None], pa.timestamp("us", "UTC")),
        "multiplicity": [1, 2, 3],
    }
)


@pytest.fixture
def registry() -> Iterator[Registry]:
    with start_registry() as made:
        made.login = "me:hush"
        yield made


def _make(registry: Registry, tmp_path: Any, **more: str) -> KafkaSink:
    options = {
        "topic": "answers-{query}",
        "kafka.bootstrap.servers": "127.0.0.1:9",
        "registry": registry.url,
        "registry.user": "me",
        "registry.password": "hush",
        **{name.replace("_", "."): value for name, value in more.items()},
    }
    sink = make_sink("kafka", tmp_path, options)
    assert isinstance(sink, KafkaSink)
    assert [*sink.options] == ["kafka.bootstrap.servers"]  # Spark's writer knows no others
    assert sink.redact("with hush") == "with ***"
    return sink


def test_avro(registry: Registry, tmp_path: Any) -> None:
    sink = _make(registry, tmp_path)
    messages = [value for _, value in sink._list_messages("q", ROWS)]
    assert registry.subjects == {"answers-q-value": [1]}
    schema = fastavro.parse_schema(json.loads(registry.schemas[1]["schema"]))
    found = []
    for message in messages:
        assert message is not None
        assert message[:5] == bytes([0, 0, 0, 0, 1])
        rest = BytesIO(message[5:])
        found.append(fastavro.schemaless_reader(rest, schema, None))
        assert rest.read() == b""
    wanted = ROWS.to_pylist()
    for row in found:
        assert isinstance(row, dict)
        if row["ts"] is not None:
            row["ts"] = row["ts"].astimezone(UTC)
    assert found == wanted
    sink._list_messages("q", ROWS)
    assert len(registry.asked) == 1  # it is told once


def test_json(registry: Registry, tmp_path: Any) -> None:
    sink = _make(registry, tmp_path, registry_format="json")
    messages = [value for _, value in sink._list_messages("q", ROWS)]
    plain = KafkaSink("answers-{query}", {})
    assert registry.schemas[1]["schemaType"] == "JSON"
    schema = json.loads(registry.schemas[1]["schema"])
    for message, (_, text) in zip(messages, plain._list_messages("q", ROWS), strict=True):
        assert message is not None
        assert text is not None
        assert message == bytes([0, 0, 0, 0, 1]) + text
        jsonschema.validate(json.loads(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**ROWS.to_pylist()[1], "n": "x"}, schema)


@pytest.mark.parametrize("form", ["avro", "json"])
def test_sources_read_what_sinks_send(registry: Registry, tmp_path: Any, form: str) -> None:
    sink = _make(registry, tmp_path, registry_format=form)
    ((_, message), *_) = sink._list_messages("q", ROWS)
    assert message is not None
    reader = SchemaRegistry(registry.url, {"url": registry.url, "user": "me", "password": "hush"})
    reader.learn([find_number(message) or 0], waits=False)
    assert json.loads(decode_message(message, reader))["text"] == "é\n"


def test_rows_that_are_replaced(registry: Registry, tmp_path: Any) -> None:
    sink = _make(registry, tmp_path, upsert="true")
    assert sink.keys is not None
    sink.keys["q"] = ("k",)
    rows = pa.table({"k": [1, 2], "n": [5, 6], "op": ["+", "-"]})
    sent = dict(sink._list_messages("q", rows))
    assert sent.keys() == {'{"k": 1}', '{"k": 2}'}
    assert sent['{"k": 2}'] is None
    assert (sent['{"k": 1}'] or b"")[:5] == bytes([0, 0, 0, 0, 1])


def test_a_schema_that_is_not_taken(registry: Registry, tmp_path: Any) -> None:
    sink = _make(registry, tmp_path)
    registry.unfit = True
    with pytest.raises(RunError, match="does not fit with those before"):
        sink._list_messages("q", ROWS)
    registry.login = "other:one"
    with pytest.raises(RunError, match="it answers 401") as told:
        sink._list_messages("q", ROWS)
    assert "hush" not in str(told.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"registry.format": "protobuf", "registry": "http://h"}, "is 'protobuf'"),
        ({"registry.format": "avro"}, "is without registry"),
        ({"registry.users": "me", "registry": "http://h"}, "no option registry.users"),
        ({"registry.user": "me"}, "registry.user of the sink kafka is without registry"),
    ],
)
def test_what_is_refused(tmp_path: Any, more: dict[str, str], said: str) -> None:
    options = {"topic": "t", "kafka.bootstrap.servers": "h:9", **more}
    with pytest.raises(UsageError, match=said):
        make_sink("kafka", tmp_path, options)


def test_names_that_avro_does_not_have(registry: Registry, tmp_path: Any) -> None:
    with pytest.raises(UsageError, match="cannot be written as Avro"):
        _make(registry, tmp_path).accept("q", ["COUNT(*)"])
    _make(registry, tmp_path, registry_format="json").accept("q", ["COUNT(*)"])
