"""`init --from kafka://…` of a real broker, by Kafka's client: neither Spark nor a connector."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run
from tests.runtime.kafka_broker import MISSING, Broker, list_jars, start_broker

pytest.importorskip("confluent_kafka")
from confluent_kafka import Producer


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    if not list_jars("broker"):
        pytest.skip(MISSING)
    with start_broker() as started:
        producer = Producer({"bootstrap.servers": started})
        for n in range(300):
            row = {
                "ts": f"2026-03-01T{n // 60:02}:{n % 60:02}:00",
                "room": f"r{n % 3}",
                "celsius": n / 8,
            }
            producer.produce("rooms", json.dumps(row), key=str(row["room"]))
        producer.produce("noise", "no object")
        assert producer.flush(20) == 0
        yield started


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(settings: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr("ontoweir.runtime.spark.start_session.start_session", refuse)


def test_a_project_of_a_topic(broker: Broker, run: Run, tmp_path: Path) -> None:
    ran = run("init", tmp_path / "p", "--from", f"kafka://{broker}/rooms")
    assert ran.code == 0, ran.err
    catalog = (tmp_path / "p" / "ontoweir.toml").read_text()
    assert "300 rows" in catalog
    assert 'format = "kafka"' in catalog
    assert '"r0", "r1", "r2"' in catalog
    assert run("check", tmp_path / "p", "--fail-on", "undecided").code == 0


@pytest.mark.parametrize(
    ("topic", "said"), [("noise", "no message is a JSON object"), ("nothing", "has no such topic")]
)
def test_topics_without_rows(
    topic: str, said: str, broker: Broker, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if topic == "nothing":  # it is asked for again and again
        monkeypatch.setattr("ontoweir.runtime.live.topics.sample_topic._PATIENCE", 0.0)
    ran = run("init", tmp_path / "p", "--from", f"kafka://{broker}/{topic}")
    assert ran.code in (2, 3)
    assert said in ran.err
    assert not (tmp_path / "p").exists()
