"""Live from and to a real Kafka broker: rows, rejects, lanes, repeats, restarts, secrets."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import CatalogError, OntoweirError, RunError, UsageError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.register_query import QueryText, register_query
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.output.sinks.kafka import KafkaSink
from ontoweir.runtime.live.output.sinks.memory import MemorySink
from ontoweir.scaffold.make_scaffold import Given, make_scaffold
from tests.runtime.kafka_broker import MISSING, list_jars, make_repository, start_broker

TOML = """
[streams.s]
max_per_timestamp = 50
[streams.s.source]
format = "kafka"
options = {{ "kafka.bootstrap.servers" = "{0}", subscribe = "{1}-s"{2} }}
[streams.s.timestamp]
column = "ts"
unit = "1 second"
[streams.s.columns]
k = {{ type = "int", min = 0, max = 4 }}
[streams.u]
max_per_timestamp = 50
[streams.u.source]
format = "kafka"
options = {{ "kafka.bootstrap.servers" = "{0}", subscribe = "{1}-u" }}
[streams.u.timestamp]
column = "ts"
unit = "1 second"
[streams.u.columns]
k = {{ type = "int", min = 0, max = 4 }}
b = "string"
"""
SQL = "SELECT s.k, u.b FROM s, u WHERE s.ts < u.ts AND s.k = u.k"


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    if not (list_jars("broker") and list_jars("connector")):
        pytest.skip(MISSING)
    with start_broker() as address:
        yield address


def open_query(
    folder: Path, broker: str, topic: str, more: str = ""
) -> tuple[Workspace, list[CompiledQuery]]:
    (folder / "ontoweir.toml").write_text(TOML.format(broker, topic, more))
    (folder / "q.sql").write_text(SQL)
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, [workspace.compile_sql(folder / "q.sql")]


def send(
    spark: SparkSession, broker: str, topic: str, values: list[Any], partition: int = 0
) -> None:
    """Messages in order to one partition of a topic: objects as JSON, text as it is."""
    rows = [(v if isinstance(v, str) else json.dumps(v), partition) for v in values]
    frame = spark.createDataFrame(rows, "value STRING, partition INT").coalesce(1)
    writing = frame.write.format("kafka").option("kafka.bootstrap.servers", broker)
    writing.option("topic", topic).save()


def options(folder: Path, **more: Any) -> RunOptions:
    return RunOptions(folder / "check", folder / "out", once=True, progress=False, **more)


def at(second: int) -> str:
    return f"1970-01-01T00:{second // 60:02d}:{second % 60:02d}Z"


def beat(spark: SparkSession, broker: str, topic: str, second: int) -> None:
    """Say on every partition of both streams that time has passed."""
    value = json.dumps({"ts": at(second)})
    rows = [(f"{topic}-{name}", value, n) for name in ("s", "u") for n in (0, 1)]
    frame = spark.createDataFrame(rows, "topic STRING, value STRING, partition INT").coalesce(1)
    frame.write.format("kafka").option("kafka.bootstrap.servers", broker).save()


def test_rows_rejects_and_restart(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    """JSON in, what is not a row rejected with the reason, and on from there after a restart."""
    good = [{"ts": at(1), "k": 1}, {"ts": 2_000_000, "k": "2", "more": [1]}]
    wrong = [
        "{not json",
        "[1, 2]",
        '"text"',
        {"ts": at(2), "k": "many"},
        {"ts": at(2), "k": 1.5},
        {"k": 1},
        {"ts": "soon", "k": 1},
        {"ts": at(3), "k": 9},
        {"ts": None, "k": 1},
    ]
    send(spark, broker, "t1-s", [*good, *wrong])
    rows = [
        {"ts": at(5), "k": 1, "b": "x"},
        {"ts": at(5), "k": 2, "b": None},
        {"ts": at(5), "k": 1},
    ]
    send(spark, broker, "t1-u", rows)
    beat(spark, broker, "t1", 10)
    workspace, compiled = open_query(tmp_path, broker, "t1")
    summary = run_queries(workspace, compiled, options(tmp_path), spark)
    assert summary["tuples"] == 18
    assert summary["rejected"] == 10
    assert summary["rejects"] == {
        "is not a JSON object": 3,
        "k is not of its type": 2,
        "s lacks the field ts": 1,
        "ts is not of its type": 1,
        "s.k is outside its declared domain": 1,
        "s.ts is NULL": 1,
        "u lacks the field b": 1,
    }
    found = read(tmp_path / "out" / "q")
    assert [(r["k"], r["b"]) for r in found] == [(1, "x")]  # NULL answers nothing
    content = {r["reason"]: r["row"] for r in read(tmp_path / "out" / "rejects")}
    assert content["u lacks the field b"] == json.dumps(rows[2])
    send(spark, broker, "t1-u", [{"ts": at(12), "k": 2, "b": "y"}])
    beat(spark, broker, "t1", 20)
    again = run_queries(workspace, compiled, options(tmp_path), spark)
    assert (again["tuples"], again["results"], again["rejected"]) == (5, 1, 0)


def read(folder: Path) -> list[dict[str, Any]]:
    return [r for f in sorted(folder.glob("*.parquet")) for r in pq.read_table(f).to_pylist()]


def test_partitions_are_waited_for(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    """One partition is ahead of another, which says nothing at first: no row is late for that."""
    send(spark, broker, "t2-s", [{"ts": at(n), "k": 1} for n in range(9)], partition=0)
    send(spark, broker, "t2-u", [{"ts": at(n), "k": 3, "b": "n"} for n in range(9)], partition=0)
    workspace, compiled = open_query(tmp_path, broker, "t2")
    first = run_queries(workspace, compiled, options(tmp_path), spark)
    assert (first["tuples"], first["results"], first["markers"]) == (18, 0, 0)
    send(spark, broker, "t2-u", [{"ts": at(4), "k": 1, "b": "late?"}], partition=1)
    beat(spark, broker, "t2", 20)
    second = run_queries(workspace, compiled, options(tmp_path), spark)
    assert second["rejected"] == 0
    assert [(r["k"], r["b"], r["multiplicity"]) for r in read(tmp_path / "out" / "q")] == [
        (1, "late?", 4)
    ]


def test_lateness_is_of_each_partition(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    """Rows of a partition come up to 3 seconds after later ones of it; another is far ahead, which
    makes none of them late, and a restart keeps what is open. One comes later than that."""
    workspace, compiled = open_query(tmp_path, broker, "t12")
    toml = tmp_path / "ontoweir.toml"
    late = 'unit = "1 second"\nlateness = "3 seconds"'
    toml.write_text(toml.read_text().replace('unit = "1 second"', late))
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = [workspace.compile_sql(tmp_path / "q.sql")]
    send(spark, broker, "t12-s", [{"ts": at(n), "k": 1} for n in (3, 0, 2, 1, 4)], partition=0)
    send(spark, broker, "t12-s", [{"ts": at(30), "k": 2}], partition=1)
    rows = [{"ts": at(n), "k": 1, "b": str(n)} for n in (6, 4, 3, 5)]
    send(spark, broker, "t12-u", rows, partition=1)
    send(spark, broker, "t12-u", [{"ts": at(40), "k": 3, "b": "ahead"}], partition=0)
    first = run_queries(workspace, compiled, options(tmp_path), spark)
    assert (first["tuples"], first["rejected"]) == (11, 0)
    more = [{"ts": at(8), "k": 1}, {"ts": at(5), "k": 1}, {"ts": at(4), "k": 1}]
    send(spark, broker, "t12-s", more, partition=0)
    beat(spark, broker, "t12", 50)
    second = run_queries(workspace, compiled, options(tmp_path), spark)
    assert (second["tuples"], second["rejected"]) == (7, 0)
    found = {r["b"]: r["multiplicity"] for r in read(tmp_path / "out" / "q")}
    before = [0, 1, 2, 3, 4, 4, 5]  # of s, with k = 1; 8 comes after all of u
    assert found == {str(n): sum(time < n for time in before) for n in (3, 4, 5, 6)}
    send(spark, broker, "t12-s", [{"ts": at(46), "k": 1}, {"ts": at(47), "k": 1}], partition=0)
    beat(spark, broker, "t12", 60)
    third = run_queries(workspace, compiled, options(tmp_path), spark)
    assert third["rejected"] == 1  # 46 is finished: 50 less 3 seconds


def test_micro_batches_are_bounded_and_cut_at_markers(
    spark: SparkSession, broker: str, tmp_path: Path
) -> None:
    """Ten messages of two timestamps by three: the same answers, and no more than three at once."""
    send(spark, broker, "t3-s", [{"ts": at(n // 5), "k": n % 5} for n in range(10)])
    send(spark, broker, "t3-u", [{"ts": at(3), "k": 1, "b": "x"}])
    beat(spark, broker, "t3", 10)
    more = ', maxOffsetsPerTrigger = "3"'
    workspace, compiled = open_query(tmp_path, broker, "t3", more)
    summary = run_queries(workspace, compiled, options(tmp_path), spark)
    assert (summary["tuples"], summary["rejected"]) == (15, 0)
    assert [(r["k"], r["multiplicity"]) for r in read(tmp_path / "out" / "q")] == [(1, 2)]
    lines = [json.loads(x) for x in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()]
    assert len(lines) >= 4
    before = 0
    for line in lines:
        assert line["streams"]["s"]["tuples"] - before <= 3
        before = line["streams"]["s"]["tuples"]


def test_answers_to_kafka_are_known_again_when_sent_twice(
    spark: SparkSession, broker: str, tmp_path: Path
) -> None:
    send(spark, broker, "t4-s", [{"ts": at(1), "k": k} for k in (1, 2)])
    send(spark, broker, "t4-u", [{"ts": at(5), "k": k, "b": "x"} for k in (1, 2)])
    beat(spark, broker, "t4", 10)
    workspace, compiled = open_query(tmp_path, broker, "t4")
    sink = {"topic": "answers-{query}", "kafka.bootstrap.servers": broker}
    kafka = options(tmp_path, sink="kafka", sink_options=sink)
    assert run_queries(workspace, compiled, kafka, spark)["results"] == 2
    assert run_queries(workspace, compiled, kafka, spark)["results"] == 0
    # as after a crash between sending and what says that all is sent
    sorted((tmp_path / "check" / "commits").glob("[0-9]*"))[-1].joinpath("published").unlink()
    assert run_queries(workspace, compiled, kafka, spark)["results"] == 0
    reading = spark.read.format("kafka").option("kafka.bootstrap.servers", broker)
    reading = reading.option("subscribe", "answers-q").option("includeHeaders", "true")
    messages = reading.load().orderBy("timestamp", "offset").collect()
    assert len(messages) == 4
    first = {bytes(m["key"]).decode(): json.loads(bytes(m["value"])) for m in reversed(messages)}
    assert sorted((r["k"], r["b"], r["multiplicity"]) for r in first.values()) == [
        (1, "x", 1),
        (2, "x", 1),
    ]
    assert len(first) == 2
    headers = {h["key"]: bytes(h["value"]).decode() for h in messages[0]["headers"]}
    assert f"{headers['query']}/{headers['batch']}/{headers['row']}" in first


def test_rows_that_are_replaced_are_messages_of_their_key(spark: SparkSession, broker: str) -> None:
    """What is gone is a message without a value, as compacted topics have it."""
    sink = KafkaSink("upserts", {"kafka.bootstrap.servers": broker}, {"q": ("k",)})
    sink.publish("q", 0, pa.table({"k": [1, 2], "n": [5, 6], "op": ["+", "+"]}), spark)
    changed = {"k": [1, 1, 2], "n": [5, 7, 6], "op": ["-", "+", "-"]}
    sink.publish("q", 1, pa.table(changed), spark)
    reading = spark.read.format("kafka").option("kafka.bootstrap.servers", broker)
    messages = reading.option("subscribe", "upserts").load().orderBy("partition", "offset")
    topic = {m["key"].decode(): m["value"] for m in messages.collect()}
    assert {k: v and json.loads(v) for k, v in topic.items()} == {
        '{"k": 1}': {"k": 1, "n": 7},
        '{"k": 2}': None,
    }


CHANGES = """
[streams.update.source]
format = "kafka"
envelope = "{2}"
delete = "gone"
options = {{ "kafka.bootstrap.servers" = "{0}", subscribe = "{1}-update" }}
[streams.update]
keys = [["k", "ts"]]
[streams.update.timestamp]
column = "ts"
unit = "1 second"
format = "epoch_ms"
from = ["{3}"]
[streams.update.columns]
k = {{ type = "int", min = 0, max = 4 }}
price = "int"
gone = "boolean"
[relations.price]
versions = {{ stream = "update", key = ["k"], delete = "gone" }}
"""


@pytest.mark.parametrize("form", ["debezium", "upsert"])
def test_changes_of_a_table(form: str, spark: SparkSession, broker: str, tmp_path: Path) -> None:
    """Rows meet the version of their time; a message without a value deletes its key, or says only
    that Debezium's deletion came before it."""
    topic = f"t8{form}"
    debezium = form == "debezium"
    sent: list[tuple[int, int | None, int]] = [(1, 10, 1), (2, 20, 1), (1, 11, 3), (2, None, 4)]
    rows: list[tuple[str, str | None, int]] = []
    for k, price, second in sent:
        # Spark's sink says no time of a message, so that the keys do
        key = json.dumps({"k": k, "at": 1000 * second})
        image = None if price is None else {"k": k, "price": price}
        if debezium:
            op = "d" if image is None else "u"
            change = {"before": None, "after": image, "op": op, "ts_ms": 1000 * second}
            rows.append((key, json.dumps({"payload": change}), 0))
        if not debezium or image is None:
            rows.append((key, None if image is None else json.dumps(image), 0))
    truncation = json.dumps({"op": "t", "ts_ms": 4500})
    rows.append(('{"k": 3}', truncation if debezium else "no", 0))
    last = {"after": {"k": 3, "price": 0}, "op": "r", "ts_ms": 20_000}
    value = json.dumps(last if debezium else last["after"])
    rows += [('{"k": 3, "at": 20000}', value, partition) for partition in (0, 1)]
    shape = "key STRING, value STRING, partition INT"
    frame = spark.createDataFrame(rows, shape).coalesce(1)
    writing = frame.write.format("kafka").option("kafka.bootstrap.servers", broker)
    writing.option("topic", f"{topic}-update").save()
    asked = [(1, 0), (1, 2), (2, 2), (1, 3), (2, 5), (1, 5)]
    send(spark, broker, f"{topic}-s", [{"ts": at(t), "k": k} for k, t in asked])
    beat(spark, broker, topic, 20)
    place = "ts_ms" if debezium else "key.at"
    toml = TOML.format(broker, topic, "") + CHANGES.format(broker, topic, form, place)
    (tmp_path / "ontoweir.toml").write_text(toml)
    (tmp_path / "q.sql").write_text(
        "SELECT s.k, p.price FROM s JOIN price FOR SYSTEM_TIME AS OF s.ts AS p ON p.k = s.k"
    )
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = [workspace.compile_sql(tmp_path / "q.sql")]
    summary = run_queries(workspace, compiled, options(tmp_path), spark)
    fault = "has an op other than c, u, d and r" if debezium else "has what is not a JSON object"
    assert summary["rejects"] == {f"update {fault}": 1}
    found = sorted((r["k"], r["price"]) for r in read(tmp_path / "out" / "q"))
    assert found == [(1, 10), (1, 11), (1, 11), (2, 20)]
    content = {r["reason"]: r["row"] for r in read(tmp_path / "out" / "rejects")}
    assert content[f"update {fault}"] == rows[-3][1]


DEVICES = """[project]
queries = ["q.sql"]
[streams.s.source]
format = "kafka"
options = {{ "kafka.bootstrap.servers" = "{0}", subscribe = "{1}" }}
[streams.s]
keys = [["id", "ts"]]
[streams.s.timestamp]
column = "ts"
unit = "1 second"
format = "epoch_ms"
from = ["meta.sent"]
[streams.s.columns]
id = {{ type = "string", from = "device.id" }}
level = {{ type = "int", nullable = true }}
"""


def test_members_by_path_and_times_in_a_format(
    spark: SparkSession, broker: str, tmp_path: Path
) -> None:
    """As devices send them: what is nested, milliseconds since 1970."""
    nested = [{"device": {"id": "a"}, "level": n, "meta": {"sent": 1000 * n}} for n in range(4)]
    nested[1]["level"] = None
    lacking: list[Any] = [{"device": {}, "level": 1, "meta": {"sent": 4000}}, "no"]
    lacking.append({"device": {"id": "b"}, "level": 9})
    last = [{"meta": {"sent": 9000}}]  # a heartbeat
    send(spark, broker, "t11", [*nested, *lacking, *last])
    send(spark, broker, "t11", last, partition=1)
    (tmp_path / "ontoweir.toml").write_text(DEVICES.format(broker, "t11"))
    (tmp_path / "q.sql").write_text("SELECT id, ts, level FROM s")
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = [workspace.compile("q")]
    summary = run_queries(workspace, compiled, options(tmp_path), spark)
    assert summary["rejects"] == {
        "s lacks the field device.id": 1,
        "s has what is not a JSON object": 1,
        "s lacks the field meta.sent": 1,
    }
    found = sorted((r["ts"], r["id"], r["level"]) for r in read(tmp_path / "out" / "q"))
    assert [(str(t)[14:19], k, v) for t, k, v in found] == [
        ("00:00", "a", 0),
        ("00:01", "a", None),
        ("00:02", "a", 2),
        ("00:03", "a", 3),
    ]


def _make(broker: str, topic: str) -> dict[str, Any]:
    """What `init --from` makes of a topic: the catalog, and its text as `live` has it."""
    made = make_scaffold(Given([f"kafka://{broker}/{topic}"], "p"))
    text = str(made.files["ontoweir.toml"])
    lines = [line for line in text.splitlines() if not line.startswith("source = ")]
    live = "\n".join(line.removeprefix("# ") if "kafka" in line else line for line in lines)
    return {"here": tomllib.loads(text), "live": tomllib.loads(live), "files": made.files}


def test_a_project_of_a_topic(
    spark: SparkSession, broker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Spark; tests/ontoweir/scaffold/remote has it by the client."""
    monkeypatch.setattr("ontoweir.runtime.live.topics.sample_topic.is_read_here", lambda _: False)
    rows: list[Any] = []
    for n in range(60):
        row = {"device": {"id": f"d{n % 3}"}, "temp": 20.5 + n, "sent": 1767225600000 + 60000 * n}
        rows.append(json.dumps(row, indent=1))
    send(spark, broker, "plant-readings", [*rows, "no object"])
    made = _make(broker, "plant-readings")
    stream = made["here"]["streams"]["plant_readings"]
    assert stream["source"] == {"format": "json", "path": "data/plant_readings.jsonl"}
    assert stream["timestamp"]["format"] == "epoch_ms"
    assert stream["columns"]["device_id"]["from"] == "device.id"
    assert len(made["files"]["data/plant_readings.jsonl"].splitlines()) == 60
    source = made["live"]["streams"]["plant_readings"]["source"]
    assert source == {
        "format": "kafka",
        "options": {"kafka.bootstrap.servers": broker, "subscribe": "plant-readings"},
    }


def test_a_project_of_changes(spark: SparkSession, broker: str) -> None:
    rows = [(json.dumps({"item": n % 5}), json.dumps({"price": n})) for n in range(40)]
    frame = spark.createDataFrame([*rows, ('{"item": 3}', None)], "key STRING, value STRING")
    writing = frame.coalesce(1).write.format("kafka").option("kafka.bootstrap.servers", broker)
    writing.option("topic", "prices").save()
    made = _make(broker, "prices")
    for which in ("here", "live"):
        assert made[which]["streams"]["prices"]["source"]["envelope"] == "upsert"


def test_no_project_without_messages(spark: SparkSession, broker: str) -> None:
    send(spark, broker, "words", ["a", "[1]"])
    with pytest.raises(UsageError, match="no message is a JSON object"):
        _make(broker, "words")
    with pytest.raises(RunError, match="no such topic"):
        _make(broker, "none-at-all")


def test_memory_holds_answers(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    send(spark, broker, "t5-s", [{"ts": at(1), "k": 1}])
    send(spark, broker, "t5-u", [{"ts": at(5), "k": 1, "b": "x"}])
    beat(spark, broker, "t5", 10)
    workspace, compiled = open_query(tmp_path, broker, "t5")
    memory = MemorySink()
    run_queries(workspace, compiled, options(tmp_path, sink=memory), spark)
    assert [t.to_pylist()[0]["b"] for t in memory.answers["q"]] == ["x"]
    assert not (tmp_path / "out" / "q").exists()


def test_secrets_are_nowhere(
    spark: SparkSession,
    broker: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A login that Kafka refuses: the password is in no message, log, manifest or offset file."""
    login = 'org.example.NoSuchModule required username="u" password="hunter-two";'
    monkeypatch.setenv("LOGIN", login)
    more = (
        ', "kafka.security.protocol" = "SASL_PLAINTEXT", "kafka.sasl.mechanism" = "PLAIN"'
        ', "kafka.sasl.jaas.config" = "env:LOGIN"'
    )
    workspace, compiled = open_query(tmp_path, broker, "t6", more)
    with pytest.raises(OntoweirError) as caught:
        run_queries(workspace, compiled, options(tmp_path), spark)
    said = capfd.readouterr()
    written = [p.read_text(errors="replace") for p in tmp_path.rglob("*") if p.is_file()]
    for text in (str(caught.value), said.out, said.err, *written):
        assert "hunter-two" not in text
    monkeypatch.delenv("LOGIN")
    with pytest.raises(CatalogError, match="needs the environment variable LOGIN"):
        run_queries(workspace, compiled, options(tmp_path), spark)


def test_the_connector_by_its_package(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    """`ontoweir run` in a process of its own, whose Spark has no connector but the package."""
    send(spark, broker, "t7-s", [{"ts": at(1), "k": 1}])
    send(spark, broker, "t7-u", [{"ts": at(5), "k": 1, "b": "x"}])
    beat(spark, broker, "t7", 10)
    workspace, _ = open_query(tmp_path, broker, "t7")
    register_query(workspace, tmp_path / "out" / "registry", QueryText("q", "sql", SQL, "q.sql"))
    package, settings = make_repository(tmp_path)
    command = [sys.executable, "-m", "ontoweir", "run", str(tmp_path), "--once", "--summary=json"]
    for name, text in {"spark.jars.packages": package, **settings}.items():
        command += ["--spark", f"{name}={text}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"] == 1
    assert [(r["k"], r["b"]) for r in read(tmp_path / "out" / "answers" / "q")] == [(1, "x")]
    # of what Spark says of packages, only the downloads
    told = {line.split(" ")[0] for line in done.stderr.splitlines()}
    assert told == {"downloading", "q:"}, done.stderr
