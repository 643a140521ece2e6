"""Messages in the framing of a schema registry, of a real broker: by Spark and by this process."""

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import RunError, UsageError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.register_query import QueryText, register_query
from ontoweir.registry.serving import serve_registry
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.framed import schema_registry
from ontoweir.runtime.live.topics.topic_client import TopicClient, is_read_here
from ontoweir.scaffold.make_scaffold import Given, make_scaffold
from tests.runtime.kafka_broker import MISSING, list_jars, start_broker
from tests.runtime.schema_registry_server import Registry, frame, head, start_registry

pytest.importorskip("confluent_kafka")
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

MOMENT = {"type": "long", "logicalType": "timestamp-millis"}
DEVICE = {"type": "record", "name": "Device", "fields": [{"name": "id", "type": "string"}]}
FIRST = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "device", "type": DEVICE},
        {"name": "level", "type": ["null", "int"]},
        {"name": "at", "type": MOMENT},
    ],
}
LATER = {**FIRST, "fields": [{"name": "unit", "type": "string"}, *FIRST["fields"]]}
TOML = """[project]
queries = ["q.sql"]
[streams.s.source]
format = "kafka"
registry = "{1}"
options = {{ "kafka.bootstrap.servers" = "{0}", subscribe = "{2}" }}
[streams.s]
max_per_timestamp = 50
[streams.s.timestamp]
column = "at"
unit = "1 second"
[streams.s.columns]
id = {{ type = "string", from = "device.id" }}
level = {{ type = "int", nullable = true }}
"""
SQL = "SELECT id, level FROM s"


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    if not (list_jars("broker") and list_jars("connector")):
        pytest.skip(MISSING)
    with start_broker() as address:
        yield address


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr(schema_registry, "_PAUSES", ())
    with start_registry() as started:
        started.add(1, FIRST)
        started.add(2, LATER)
        started.add(3, {}, "JSON")
        yield started


def reading(second: int, key: str, level: int | None, number: int = 1) -> bytes:
    """A message in Avro, or, as number 3, in JSON."""
    row: dict[str, Any] = {"device": {"id": key}, "level": level}
    if number == 3:
        text = json.dumps({**row, "at": f"1970-01-01T00:00:{second:02d}Z"})
        return head(3) + text.encode()
    row["at"] = datetime.fromtimestamp(second, UTC)
    schema = LATER if number == 2 else FIRST
    return frame(number, schema, {**row, "unit": "m"} if number == 2 else row)


def send(broker: str, topic: str, *messages: bytes | tuple[bytes, bytes | None] | None) -> None:
    """Messages, or keys with them, to the one partition of a topic."""
    admin = AdminClient({"bootstrap.servers": broker})
    if topic not in admin.list_topics(timeout=20).topics:
        admin.create_topics([NewTopic(topic, 1)])[topic].result()
    producer = Producer({"bootstrap.servers": broker})
    for message in messages:
        key, value = message if isinstance(message, tuple) else (None, message)
        producer.produce(topic, value, key=key, partition=0)
    assert producer.flush(20) == 0


def open_project(folder: Path, broker: str, registry: Registry, topic: str) -> Workspace:
    (folder / "ontoweir.toml").write_text(TOML.format(broker, registry.url, topic))
    (folder / "q.sql").write_text(SQL)
    return Workspace(load_project(folder, environ={}))


def run(workspace: Workspace, folder: Path, spark: SparkSession) -> dict[str, Any]:
    options = RunOptions(folder / "check", folder / "out", once=True, progress=False)
    return run_queries(workspace, [workspace.compile("q")], options, spark)


def read(folder: Path, *names: str) -> list[tuple[Any, ...]]:
    rows = [r for f in sorted(folder.glob("*.parquet")) for r in pq.read_table(f).to_pylist()]
    return [tuple(row[name] for name in names) for row in rows]


MESSAGES = [
    reading(1, "a", 1),
    reading(2, "b", None, 2),
    b'{"at": 0}',
    reading(3, "c", 3, 3),
    None,
    head(9) + b"x",
    reading(4, "a", 4)[:-1],
    reading(5, "b", 5, 2),
]
REJECTS = {
    "s is not framed: it begins with no number of a schema": 1,
    "s has what is not a JSON object": 1,
    "s names the schema 9, which the registry has not": 1,
    "s is not what its schema 1 describes": 1,
}
ROWS = [("a", 1), ("b", None), ("c", 3), ("b", 5)]


def test_rows_rejects_and_restart(
    spark: SparkSession, broker: str, registry: Registry, tmp_path: Path
) -> None:
    """While the registry is away nothing is taken in, and nothing is lost."""
    workspace = open_project(tmp_path, broker, registry, "f1")
    send(broker, "f1", *MESSAGES, reading(9, "z", 0))
    registry.status = 503
    with pytest.raises(RunError, match=r"schema registry .* cannot be asked: it answers 503"):
        run(workspace, tmp_path, spark)
    registry.status = None
    summary = run(workspace, tmp_path, spark)
    assert summary["rejects"] == REJECTS
    assert read(tmp_path / "out" / "q", "id", "level") == ROWS
    content = dict(read(tmp_path / "out" / "rejects", "reason", "row"))
    assert content["s names the schema 9, which the registry has not"] == "base64:AAAAAAl4"
    send(broker, "f1", reading(10, "d", 6, 2), reading(11, "e", 7))
    assert run(workspace, tmp_path, spark)["rejected"] == 0
    assert read(tmp_path / "out" / "q", "id", "level") == [*ROWS, ("z", 0), ("d", 6)]


def test_registered_queries_have_the_same(
    spark: SparkSession, broker: str, registry: Registry, tmp_path: Path
) -> None:
    workspace = open_project(tmp_path, broker, registry, "f2")
    assert is_read_here(workspace.project.catalog.streams["s"])
    send(broker, "f2", *MESSAGES, reading(9, "z", 0))
    for name in ("one", "two"):
        text = SQL if name == "one" else "SELECT id, level FROM s WHERE level > 2"
        query = QueryText(name, "sql", text, f"{name}.sql")
        register_query(workspace, tmp_path / "registry", query)
    options = RunOptions(None, tmp_path / "out", once=True, progress=False)
    serve_registry(lambda: workspace, tmp_path / "registry", options, spark)
    assert read(tmp_path / "out" / "one", "id", "level") == ROWS
    assert read(tmp_path / "out" / "two", "id", "level") == [("c", 3), ("b", 5)]
    place = tmp_path / "registry" / "one" / "rejects"
    assert dict(read(place, "reason", "stream")) == dict.fromkeys(REJECTS, "s")


def test_messages_wait_for_a_registry_that_is_away(
    broker: str, registry: Registry, tmp_path: Path
) -> None:
    """As for a broker: the offset stays, and what waits comes once."""
    workspace = open_project(tmp_path, broker, registry, "f3")
    send(broker, "f3", reading(1, "a", 1), reading(2, "b", 2))
    client = TopicClient([workspace.project.catalog.streams["s"]], {})
    registry.status = 503
    while client.unanswered is None:
        assert not client.poll(0.1)
    assert client.reach == {"s": {"f3/0": 0}}
    registry.status = None
    found: list[bytes | None] = []
    while not client.is_at_end:
        for came in client.poll(0.1).values():
            found += came.values
    assert found == [reading(1, "a", 1), reading(2, "b", 2)]
    client.close()


@pytest.mark.parametrize("plain", [True, False])
def test_without_a_registry_they_are_rejected(
    spark: SparkSession, broker: str, registry: Registry, tmp_path: Path, plain: bool
) -> None:
    """Whether Spark parses messages, or this process: what is no text ends no run."""
    topic = f"f6-{plain}".lower()
    open_project(tmp_path, broker, registry, topic)
    toml = (tmp_path / "ontoweir.toml").read_text().replace(f'registry = "{registry.url}"\n', "")
    row: dict[str, Any] = {"device": {"id": "a"}, "level": 1, "at": "1970-01-01T00:00:01Z"}
    if plain:
        toml = toml.replace('from = "device.id"', "nullable = true")
        row = {**row, "id": "a"}
    (tmp_path / "ontoweir.toml").write_text(toml)
    later = {**row, "at": "1970-01-01T00:00:02Z"}
    values = [json.dumps(row).encode(), reading(200, "b", 1), b"\xff", json.dumps(later).encode()]
    send(broker, topic, *values)
    summary = run(Workspace(load_project(tmp_path, environ={})), tmp_path, spark)
    said = "is not a JSON object" if plain else "s has what is not a JSON object"
    assert (summary["rejects"], summary["results"]) == ({said: 2}, 1)


KEY = {"type": "record", "name": "Key", "fields": [{"name": "item", "type": "string"}]}
PRICE = {"type": "record", "name": "Price", "fields": [{"name": "price", "type": "int"}]}
UPSERTS = """[project]
queries = ["q.sql"]
[streams.s]
max_per_timestamp = 50
columns = {{ item = "string", price = {{ type = "int", nullable = true }}, gone = "boolean" }}
[streams.s.source]
format = "kafka"
envelope = "upsert"
delete = "gone"
registry = {{ url = "{1}" }}
options = {{ "kafka.bootstrap.servers" = "{0}", subscribe = "f4" }}
[streams.s.timestamp]
column = "ts"
unit = "1 second"
format = "epoch_ms"
from = ["timestamp"]
align = "floor"
"""


def test_keys_and_tombstones_of_upserts(
    spark: SparkSession, broker: str, registry: Registry, tmp_path: Path
) -> None:
    registry.add(5, KEY)
    registry.add(6, PRICE)
    (tmp_path / "ontoweir.toml").write_text(UPSERTS.format(broker, registry.url))
    (tmp_path / "q.sql").write_text("SELECT item, price, gone FROM s")
    keys = {name: frame(5, KEY, {"item": name}) for name in "ab"}
    send(broker, "f4", (keys["a"], frame(6, PRICE, {"price": 3})), (keys["b"], None))
    send(broker, "f4", (head(7), frame(6, PRICE, {"price": 4})))
    workspace = Workspace(load_project(tmp_path, environ={}))
    summary = run(workspace, tmp_path, spark)
    said = "s has a key that names the schema 7, which the registry has not"
    assert (summary["tuples"], summary["rejects"]) == (3, {said: 1})


def test_a_project_of_a_topic(spark: SparkSession, broker: str, registry: Registry) -> None:
    send(broker, "f5", *(reading(n, f"d{n % 3}", n, 1 + n % 2) for n in range(50)), b"no")
    url = f"kafka://{broker}/f5"
    with pytest.raises(UsageError, match=r"in the framing of a schema registry; .*registry=http"):
        make_scaffold(Given([url], "p"))
    made = make_scaffold(Given([f"{url}?registry={registry.url}"], "p"))
    text = str(made.files["ontoweir.toml"])
    here = tomllib.loads(text)["streams"]["f5"]
    assert here["columns"]["device_id"]["from"] == "device.id"
    assert here["timestamp"]["column"] == "at"
    content = made.files["data/f5.jsonl"]
    assert isinstance(content, bytes)
    lines = content.decode().splitlines()
    assert json.loads(lines[1])["unit"] == "m"
    live = next(x for x in text.splitlines() if x.startswith("# source"))
    assert tomllib.loads(live.removeprefix("# "))["source"] == {
        "format": "kafka",
        "registry": {"url": registry.url},
        "options": {"kafka.bootstrap.servers": broker, "subscribe": "f5"},
    }
    with pytest.raises(UsageError, match="says of its registry 'colour'"):
        make_scaffold(Given([f"{url}?registry={registry.url}&registry.colour=1"], "p"))
