"""`ontoweir init --from mqtt://…`: a project of the messages that come for a while."""

import json
import threading
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ontoweir.commands.operate.receive import choose_streams
from ontoweir.errors import RunError, UsageError
from ontoweir.project.project import load_project
from ontoweir.scaffold.make_scaffold import Given, Scaffold, make_scaffold
from ontoweir.scaffold.remote import hear_topic as module
from ontoweir.scaffold.remote.hear_topic import Listening, hear_topic, is_topic
from tests.ontoweir.conftest import Run
from tests.runtime.receive.small_broker import Broker
from tests.waiting import wait_until

Message = tuple[str, bytes]


@pytest.fixture
def broker() -> Iterator[Broker]:
    one = Broker(in_flight=1000)
    yield one
    one.close()


@contextmanager
def _publishing(broker: Broker, messages: Sequence[Message]) -> Iterator[None]:
    """Publish to whoever has subscribed."""

    def publish() -> None:
        wait_until(lambda: broker.subscribed, thread.is_alive)
        for topic, payload in messages:
            broker.publish(topic, payload)

    thread = threading.Thread(target=publish)
    thread.start()
    yield
    thread.join()


def _make(broker: Broker, topic: str, messages: Sequence[Message]) -> Scaffold:
    url = f"mqtt://127.0.0.1:{broker.port}/{topic}"
    with _publishing(broker, messages):
        return make_scaffold(Given([url], "heard", listening=Listening(60, len(messages))))


def _stream(made: Scaffold) -> dict[str, Any]:
    (stream,) = tomllib.loads(str(made.files["ontoweir.toml"]))["streams"].values()
    assert isinstance(stream, dict)
    return stream


def test_messages_with_an_array_are_two_streams_that_are_received_once(
    broker: Broker, tmp_path: Path
) -> None:
    sent = [
        (
            f"plant/d{n % 3}/env",
            json.dumps(
                {"t": f"2026-03-01T00:{n:02}:00Z", "temp": n / 4, "rd": [{"c": 1, "v": n / 2}]}
            ).encode(),
        )
        for n in range(20)
    ]
    made = _make(broker, "plant/{device}/env", sent)
    text = str(made.files["ontoweir.toml"])
    streams = tomllib.loads(text)["streams"]
    assert [s["source"]["format"] for s in streams.values()] == ["mqtt", "mqtt"]
    for stream in streams.values():  # nothing of a few messages is declared of all
        assert not {"keys", "max_per_timestamp"} & {*stream}
        assert stream["columns"]["device"] == "string"
        assert stream["columns"]["temp"] == {"type": "double", "nullable": True}
    for name, content in made.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    catalog = load_project(tmp_path).catalog
    assert [s.name for s in choose_streams(catalog.streams, ())] == ["env"]
    assert [s.name for s in choose_streams(catalog.streams, ["env_rd"])] == ["env_rd"]


def test_numbers_have_the_time_when_they_came(broker: Broker, tmp_path: Path, run: Run) -> None:
    sent = [(f"plant/sensors/d{n % 3}/temp", b"%d.5" % n) for n in range(60)]
    made = _make(broker, "plant/sensors/+/temp", sent)
    stream = _stream(made)
    assert stream["source"] == {
        "format": "mqtt",
        "path": "arrivals/temp",
        "options": {
            "host": "127.0.0.1",
            "topic": "plant/sensors/{sensor}/temp",
            "port": str(broker.port),
            "received": "received",
            "value": "value",
        },
    }
    assert stream["timestamp"]["column"] == "received"
    # what a few messages show is not declared: others would be rejected
    assert stream["columns"] == {"value": {"type": "double", "nullable": True}, "sensor": "string"}
    assert not {"keys", "max_per_timestamp", "references"} & stream.keys()
    assert "#   sensor has {d0, d1, d2}" in str(made.files["ontoweir.toml"])
    (lines,) = (made.files[name] for name in made.copied)
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [row["value"] for row in rows] == [n + 0.5 for n in range(60)]
    assert "ontoweir receive" in str(made.files["README.md"])
    for name, content in made.files.items():
        file = tmp_path / "p" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert run("check", tmp_path / "p").code == 0
    shown = run("show", "SELECT sensor, value FROM temp", tmp_path / "p", "--limit", 0)
    assert "59.5" in shown.out


def test_messages_with_a_time_of_their_own(broker: Broker) -> None:
    sent = [
        ("a/room1", json.dumps({"ts": f"2026-01-05T08:{n:02}:00Z", "t": n / 2}).encode())
        for n in range(50)
    ]
    stream = _stream(_make(broker, "a/{room}", sent))
    assert stream["timestamp"] == {"column": "ts", "unit": "1 minute"}
    assert {"received", "value"}.isdisjoint(stream["source"]["options"])
    assert stream["columns"].keys() == {"t", "room"}


def test_names_that_messages_have_are_not_taken(broker: Broker) -> None:
    sent = [("a/x", json.dumps({"received": 1, "value": n / 2}).encode()) for n in range(20)]
    stream = _stream(_make(broker, "a/x", [*sent, ("a/x", b"7")]))
    options = stream["source"]["options"]
    assert (options["received"], options["value"]) == ("received_at", "payload")


def test_a_number_is_now_and_then_a_word(broker: Broker) -> None:
    words = {5: b"unavailable", 9: b"true", 11: b"[1]", 12: b"\xff", 13: b"null"}
    sent = [("a/x", words.get(n, b"%d" % n)) for n in range(40)]
    made = _make(broker, "a/x", sent)
    assert _stream(made)["columns"] == {"value": {"type": "double", "nullable": True}}
    (lines,) = (made.files[name] for name in made.copied)
    assert len(lines.splitlines()) == 36
    with pytest.raises(UsageError, match="no message is an object"):
        _make(broker, "b/y", [("b/y", b"[1]"), ("b/y", b"\xff")])


def test_retained_messages_come_again(broker: Broker, tmp_path: Path) -> None:
    broker.publish("a/x", b"1", retain=True)
    url = f"mqtt://127.0.0.1:{broker.port}/a/x"
    with _publishing(broker, [("a/x", b"2"), ("a/x", b"3")]):
        heard = hear_topic(url, tmp_path, Listening(60, 3))
    assert [json.loads(line)["value"] for line in heard.file.read_text().splitlines()] == [2, 3]
    alone = hear_topic(url, tmp_path / "alone", Listening(60, 1))
    assert [json.loads(line)["value"] for line in alone.file.read_text().splitlines()] == [1]


def test_passwords_are_not_written(broker: Broker, tmp_path: Path) -> None:
    url = f"mqtt://ada:s%20ecret@127.0.0.1:{broker.port}/a/#"
    with _publishing(broker, [("a/x", b"1")]):
        heard = hear_topic(url, tmp_path, Listening(60, 1))
    assert broker.passwords == [b"s ecret"]
    options = dict(heard.options)
    assert (options["username"], options["password"]) == ("ada", "env:MQTT_PASSWORD")
    assert options["topic"] == "a/#"
    assert heard.name == "a"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mqtt://h", "names no topic"),
        ("mqtt:///a", "names no topic"),
        ("mqtt://h:x/a", "names no topic"),
        ("mqtt://h/#/a", "names no topic"),
        ("mqtt://h/a{b}", "names no topic"),
        ("mqtt://h/{b}/{b}", "names no topic"),
    ],
)
def test_topics_that_are_none(tmp_path: Path, url: str, said: str) -> None:
    assert is_topic(url)
    with pytest.raises(UsageError, match=said):
        hear_topic(url, tmp_path, Listening())


def test_what_a_broker_does_not_give(
    broker: Broker, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"mqtt://127.0.0.1:{broker.port}/a"
    told = run("init", tmp_path / "p", "--from", url, "--listen", "0.01")
    assert told.code == 2
    assert "no message came within 0.01 seconds" in told.err
    assert "is a time in seconds" in run("init", tmp_path / "p", "--from", url, "--listen", 0).err
    assert not (tmp_path / "p").exists()
    broker.grant = 0x80
    with pytest.raises(RunError, match="refuses"):
        hear_topic(url, tmp_path, Listening(60))
    broker.refuse = 5
    with pytest.raises(RunError, match="refuses"):
        hear_topic(url, tmp_path, Listening(60))
    broker.close()
    with pytest.raises(RunError, match="cannot be connected to"):
        hear_topic(url, tmp_path, Listening(60))
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="paho-mqtt is not installed"):
        hear_topic(url, tmp_path, Listening(60))
