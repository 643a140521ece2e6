"""Registered queries that read Kafka share one intake: a real broker, and what each has alone."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import RunError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.drop_query import drop_query
from ontoweir.registry.list_entries import find_entry
from ontoweir.registry.register_query import QueryText, register_query
from ontoweir.registry.serving import serve_registry
from ontoweir.registry.share_intake import INTAKE, TOPICS
from ontoweir.registry.start_entry import follow_entry, start_entry
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live import run_intake
from ontoweir.runtime.live.topics.follow_topics import TopicFollower
from ontoweir.runtime.live.topics.topic_client import is_read_here
from tests.runtime.kafka_broker import MISSING, list_jars, start_broker
from tests.runtime.live.test_kafka import CHANGES, TOML, at, beat, send

HERE = Path(__file__).parent.parent.parent
FILES = """
[streams.f]
source = {{ format = "parquet", path = "{0}/f" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 50
[streams.f.columns]
k = {{ type = "int", min = 0, max = 4 }}
"""
QUERIES = {
    "both": "SELECT s.k, u.b FROM s, u WHERE s.ts < u.ts AND s.k = u.k",
    "keys": "SELECT DISTINCT s.k FROM s, u WHERE s.ts < u.ts AND s.k = u.k",
    "some": "SELECT s.k FROM s WHERE s.k > 1",
    "more": "SELECT s.k FROM s WHERE s.k > 2",
    "counts": "SELECT u.k, COUNT(*) AS n FROM u GROUP BY u.k",
    "beside": "SELECT f.k, u.b FROM f, u WHERE f.ts < u.ts AND f.k = u.k",
    "priced": "SELECT s.k, p.price FROM s JOIN price FOR SYSTEM_TIME AS OF s.ts AS p ON p.k = s.k",
    "filed": "SELECT f.k FROM f WHERE f.k > 1",
}

OF_TOPICS = ["both", "some", "counts", "priced"]
"""Queries that read topics alone."""


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    if not (list_jars("broker") and list_jars("connector")):
        pytest.skip(MISSING)
    with start_broker() as address:
        yield address


def open_project(folder: Path, broker: str, topic: str, more: str = "") -> Workspace:
    (folder / "f").mkdir(exist_ok=True)
    text = TOML.format(broker, topic, more) + FILES.format(folder)
    text += CHANGES.format(broker, topic, "debezium", "ts_ms")
    (folder / "ontoweir.toml").write_text(text)
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)
    return Workspace(load_project(folder, environ={}))


def register(folder: Path, *names: str, again: bool = False) -> None:
    workspace = Workspace(load_project(folder, environ={}))
    for name in names:
        query = QueryText(name, "sql", QUERIES[name], f"{name}.sql")
        register_query(workspace, folder / "registry", query, replace=again)


def serve(folder: Path, spark: SparkSession) -> tuple[dict[str, Any], list[str]]:
    """The summary, and what was said."""
    said: list[str] = []
    options = RunOptions(None, folder / "out", once=True, progress=False)
    opened = load_project(folder, environ={})
    registry = folder / "registry"
    found = serve_registry(
        lambda: Workspace(opened), registry, options, spark, on_event=said.append
    )
    return found, said


def run_by_itself(folder: Path, spark: SparkSession, name: str) -> None:
    """As earlier versions ran a registered query that reads Kafka."""
    registry, workspace = folder / "registry", Workspace(load_project(folder, environ={}))
    options = RunOptions(None, folder / "out", once=True, progress=False)
    running = start_entry(workspace, registry, find_entry(registry, name), spark, options)
    while not follow_entry(running, 1.0):
        pass
    assert running.error is None


def send_some(spark: SparkSession, broker: str, folder: Path, topic: str, first: int) -> None:
    """A minute of messages of both topics, and a file, from a second on; then a heartbeat."""
    for part in (0, 1):
        times = range(first + part, first + 50, 7)
        rows = [{"ts": at(n), "k": (n + part) % 5} for n in times]
        send(spark, broker, f"{topic}-s", [*rows, {"ts": at(first + 50), "k": 9}], part)
        rows = [{"ts": at(n), "k": n % 5, "b": f"b{n}"} for n in range(first + 3, first + 50, 5)]
        send(spark, broker, f"{topic}-u", [*rows, {"ts": at(first + 51), "k": 1}], part)
        times = range(first + part, first + 62, 15 if part else 20)
        images = [({"k": n % 5, "price": n, "gone": False}, n) for n in times]
        send(spark, broker, f"{topic}-update", [change(*held) for held in images], part)
    beat(spark, broker, topic, first + 60)
    table = {"ts": [n * 1_000_000 for n in (first, first + 9, first + 60)], "k": [1, 2, 3]}
    made = pa.table({"ts": pa.array(table["ts"], pa.timestamp("us")), "k": table["k"]})
    pq.write_table(made, folder / "f" / f"{first:05d}.parquet")


def change(image: dict[str, Any], second: int) -> dict[str, Any]:
    """A message of Debezium's."""
    return {"payload": {"before": None, "after": image, "op": "u", "ts_ms": 1000 * second}}


def read(folder: Path) -> list[str]:
    """The rows in a folder; of groups the last ones: those before depend on what comes together."""
    rows = [r for f in folder.glob("*.parquet") for r in pq.read_table(f).to_pylist()]
    last = {r["k"]: r["n"] for r in sorted(rows, key=lambda r: r.get("n", 0)) if "n" in r}
    return sorted(str(r) for r in rows if r.get("n") == last.get(r.get("k")))


def alone(folder: Path, workspace: Workspace, name: str, spark: SparkSession) -> tuple[Any, Any]:
    """Answers and rejected rows of a query that runs by itself, from the beginning."""
    place = folder / "alone" / name
    shutil.rmtree(place, ignore_errors=True)
    options = RunOptions(place / "check", place / "out", once=True, progress=False)
    run_queries(workspace, [workspace.compile_sql(folder / f"{name}.sql")], options, spark)
    return read(place / "out" / name), read(place / "out" / "rejects")


def compare(folder: Path, workspace: Workspace, spark: SparkSession, names: list[str]) -> None:
    for name in names:
        answers, rejects = alone(folder, workspace, name, spark)
        assert answers, name
        assert read(folder / "out" / name) == answers, name
        assert read(folder / "registry" / name / "rejects") == rejects, name


@pytest.mark.parametrize("names", [list(QUERIES), OF_TOPICS], ids=["spark", "client"])
def test_a_server_that_is_killed_loses_and_doubles_nothing(
    spark: SparkSession,
    broker: str,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    names: list[str],
) -> None:
    """Killed at random calls that change the disk, while messages and files come."""
    if not pytestconfig.getoption("--long"):
        pytest.skip("each round starts Java: tests/runtime/intake_cycles.py does this without it")
    topic = f"i2-{len(names)}"
    workspace = open_project(tmp_path, broker, topic)
    register(tmp_path, *names)
    jars, random = ",".join(list_jars("connector")), Random(7)
    killed = 0
    for number in range(20):
        send_some(spark, broker, tmp_path, topic, 100 * number)
        command = [sys.executable, str(HERE / "serve_driver.py"), str(tmp_path), "once", jars]
        ran = subprocess.run([*command, str(random.randint(300, 6000))], check=False)
        killed += ran.returncode == -int(signal.SIGKILL)
    assert killed
    serve(tmp_path, spark)
    compare(tmp_path, workspace, spark, names)


def test_secrets_are_nowhere(
    spark: SparkSession,
    broker: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A login that Kafka refuses: the query of a topic fails, the other does not; the password is
    in no message, log, manifest or offset file."""
    login = 'org.example.NoSuchModule required username="u" password="hunter-two";'
    monkeypatch.setenv("LOGIN", login)
    more = (
        ', "kafka.security.protocol" = "SASL_PLAINTEXT", "kafka.sasl.mechanism" = "PLAIN"'
        ', "kafka.sasl.jaas.config" = "env:LOGIN"'
    )
    open_project(tmp_path, broker, "i4", more)
    table = pa.table({"ts": pa.array([0, 9_000_000], pa.timestamp("us")), "k": [2, 2]})
    pq.write_table(table, tmp_path / "f" / "1.parquet")
    register(tmp_path, "some", "filed")
    with pytest.raises(RunError, match="1 of 2 registered queries failed: some: ") as caught:
        serve(tmp_path, spark)
    assert len(read(tmp_path / "out" / "filed")) == 1
    said = capfd.readouterr()
    written = [p.read_text(errors="replace") for p in tmp_path.rglob("*") if p.is_file()]
    for text in (str(caught.value), said.out, said.err, *written):
        assert "hunter-two" not in text


def test_a_topic_is_read_for_all(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    """Two topics, and one beside a folder; one query was away, and catches up by its offsets."""
    workspace = open_project(tmp_path, broker, "i3")
    send_some(spark, broker, tmp_path, "i3", 0)
    register(tmp_path, "both", "beside")
    assert serve(tmp_path, spark)[0]["queries"].keys() == {"both", "beside"}
    assert not list((tmp_path / "registry").glob("*/checkpoint"))
    drop_query(tmp_path / "registry", "both")
    send_some(spark, broker, tmp_path, "i3", 100)
    serve(tmp_path, spark)
    register(tmp_path, "both")
    serve(tmp_path, spark)
    compare(tmp_path, workspace, spark, ["both", "beside"])


def test_the_client_and_spark_go_on_where_the_other_was(
    spark: SparkSession, broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Topics alone: read by this process, then by Spark, and by this process again."""
    pytest.importorskip("confluent_kafka")
    workspace = open_project(tmp_path, broker, "i5")
    register(tmp_path, *OF_TOPICS)
    begun: list[str] = []
    follow = TopicFollower.start

    def start(follower: TopicFollower) -> None:
        begun.append("here")
        follow(follower)

    monkeypatch.setattr(TopicFollower, "start", start)
    for number, here in enumerate((True, False, True)):
        send_some(spark, broker, tmp_path, "i5", 100 * number)
        monkeypatch.setattr(
            run_intake, "is_read_here", is_read_here if here else lambda stream: False
        )
        begun.clear()
        if number == 1:
            drop_query(tmp_path / "registry", "some")
        if number == 2:
            register(tmp_path, "some")
        serve(tmp_path, spark)
        assert ("here" in begun) == here
    compare(tmp_path, workspace, spark, OF_TOPICS)


def test_a_topic_that_is_made_anew_fails_who_reads_it(
    spark: SparkSession, broker: str, tmp_path: Path
) -> None:
    """What is missing is named; queries of other topics go on."""
    admin = pytest.importorskip("confluent_kafka.admin").AdminClient({"bootstrap.servers": broker})
    open_project(tmp_path, broker, "i6")
    send_some(spark, broker, tmp_path, "i6", 0)
    register(tmp_path, "some", "counts")
    serve(tmp_path, spark)
    answers = read(tmp_path / "out" / "counts")
    admin.delete_topics(["i6-u"])["i6-u"].result()
    send_some(spark, broker, tmp_path, "i6", 100)
    with pytest.raises(RunError, match="1 of 2 registered queries failed: counts: ") as caught:
        serve(tmp_path, spark)
    assert "the topic i6-u has been made anew" in str(caught.value)  # it is as long again
    assert read(tmp_path / "out" / "counts") == answers
    sent = [(n + part) % 5 for f in (0, 100) for part in (0, 1) for n in range(f + part, f + 50, 7)]
    assert len(read(tmp_path / "out" / "some")) == sum(k > 1 for k in sent)


def test_queries_of_topics_share_what_is_read(
    spark: SparkSession, broker: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Of several topics, in an envelope too, beside files, with other columns; one joins late, one
    was away, and one has run by itself before."""
    if not pytestconfig.getoption("--long"):
        pytest.skip("it serves many queries again and again")
    workspace = open_project(tmp_path, broker, "i1")
    send_some(spark, broker, tmp_path, "i1", 0)
    register(tmp_path, *(n for n in QUERIES if n != "more"))
    run_by_itself(tmp_path, spark, "some")
    first, said = serve(tmp_path, spark)
    assert [text for text in said if "--replace" in text and text.startswith("some: ")]
    assert len([text for text in said if "--replace" in text]) == 1
    assert {s["state"] for s in first["queries"].values()} == {"stopped"}
    registry = tmp_path / "registry"
    assert any((registry / TOPICS / "commits").iterdir())
    assert any((registry / INTAKE / "commits").iterdir())  # of `filed`
    assert list(registry.glob("*/checkpoint")) == [registry / "some" / "checkpoint"]
    drop_query(registry, "both")
    send_some(spark, broker, tmp_path, "i1", 100)
    register(tmp_path, "more")
    second, _ = serve(tmp_path, spark)
    assert set(second["queries"]) == QUERIES.keys() - {"both"}
    send_some(spark, broker, tmp_path, "i1", 200)
    register(tmp_path, "both")
    serve(tmp_path, spark)
    compare(tmp_path, workspace, spark, list(QUERIES))
    register(tmp_path, "some", again=True)
    last, said = serve(tmp_path, spark)
    assert not [text for text in said if "--replace" in text]
    assert last["tuples"] == last["queries"]["some"]["tuples"] > 0
    compare(tmp_path, workspace, spark, ["some"])
