"""`--sink mqtt`: each answer at least once, and of each key the last one in its topic."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from paho.mqtt.client import Client
from pyspark.sql import SparkSession

from ontoweir.errors import RunError, UsageError
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.output.bind_sink import bind_sink
from ontoweir.runtime.live.output.sinks import mqtt
from ontoweir.runtime.live.output.sinks import sink as sink_module
from ontoweir.runtime.live.output.sinks.mqtt import MqttSink
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from tests.runtime.live.test_run_live import open_queries, read_output, write_history
from tests.runtime.live.test_upserts import KEY, draw_batches, make_query, make_table, replay
from tests.runtime.receive.small_broker import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    one = Broker()
    yield one
    one.close()


def _make(broker: Broker, topic: str = "out/{query}", **more: str) -> MqttSink:
    given = {"host": "127.0.0.1", "port": str(broker.port), "topic": topic, **more}
    made = make_sink("mqtt", Path(), given)
    assert isinstance(made, MqttSink)
    return replace(made, wait=lambda _: None)


def _numbers(count: int) -> pa.Table:
    return pa.table({"n": list(range(count))})


def _taken(broker: Broker) -> list[int]:
    return [json.loads(content)["n"] for _, content, _, _ in broker.taken]


def test_each_answer_is_a_message(broker: Broker) -> None:
    sink = _make(broker, "out/{query}/{road}")
    table = pa.table(
        {
            "road": ["a/b+#%$", None, "é"],
            "v": [1.5, float("nan"), None],
            "at": pa.array([0, 1, 2], pa.timestamp("us")),
        }
    )
    sink.begin("q")
    sink.publish("q", 0, table, None)
    assert [(topic, qos, retain) for topic, _, qos, retain in broker.taken] == [
        ("out/q/a%2Fb%2B%23%25%24", 1, False),
        ("out/q/%NULL", 1, False),
        ("out/q/é", 1, False),
    ]
    contents = [json.loads(content) for _, content, _, _ in broker.taken]
    assert [row["v"] for row in contents] == [1.5, "nan", None]
    assert contents[0] == {"road": "a/b+#%$", "v": 1.5, "at": "1970-01-01T00:00:00"}


@pytest.mark.parametrize("breaks", [[1], [7], [10, 11, 12], [90]])
def test_what_is_not_acknowledged_is_sent_again(broker: Broker, breaks: list[int]) -> None:
    broker.breaks = list(breaks)
    _make(broker).publish("q", 0, _numbers(90), None)
    taken = _taken(broker)
    assert set(taken) == set(range(90))
    assert len(taken) > 90
    assert taken[-1] == 89
    assert broker.breaks == []


def test_numbers_of_messages_come_again(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """MQTT has 65,535 of them; here it has seven."""
    turns = itertools.cycle(range(1, 8))
    monkeypatch.setattr(Client, "_mid_generate", lambda _: next(turns))
    monkeypatch.setattr(mqtt, "_AT_ONCE", 5)
    broker.breaks = [14, 27]
    _make(broker).publish("q", 0, _numbers(40), None)
    assert set(_taken(broker)) == set(range(40))
    assert broker.breaks == []


def test_at_most_once_is_sent_so(broker: Broker) -> None:
    _make(broker, qos="0").publish("q", 0, _numbers(3), None)
    _make(broker).publish("q", 1, _numbers(1), None)  # behind it, so that those have been read
    assert sorted(qos for _, _, qos, _ in broker.taken) == [0, 0, 0, 1]


@pytest.mark.parametrize("op", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_broker_retains_what_holds(broker: Broker, seed: int, op: bool) -> None:
    random = Random(seed)
    sink = _make(broker, "out/{query}/{road}/{lane}", upsert="true")
    assert sink.keys is not None
    sink.keys["q"] = KEY
    sink.accept("q", ["road", "lane", "mean"])
    held: dict[tuple[str | None, int], float] = {}
    for number, batch in enumerate(draw_batches(random, op=op)):
        replay(batch, held)
        broker.breaks = [len(broker.taken) + 1] if random.random() < 0.5 else []
        for _ in range(random.randint(1, 2)):  # again, after a crash
            sink.publish("q", number, make_table(batch, op=op), None)
        rows = [json.loads(content) for content in broker.retained.values()]
        assert {(row["road"], row["lane"]): row["mean"] for row in rows} == held
        assert len(rows) == len(held)


def test_the_topic_must_fit_the_answers(broker: Broker) -> None:
    groups = make_query(["road", "lane", "n", "at"], ("road", "lane"))
    bind_sink(_make(broker, "out/{query}/{n}"), groups)
    bind_sink(_make(broker, "out/{query}/{lane}/{road}", upsert="true"), groups)
    for topic, more, said in (
        ("out/{other}", {}, "have no column other"),
        ("out/{query}/{road}", {"upsert": "true"}, "add a level {lane}"),
    ):
        with pytest.raises(UsageError) as refused:
            bind_sink(_make(broker, topic, **more), groups)
        assert said in str(refused.value)
    with pytest.raises(UsageError, match="the answers of q have no key"):
        bind_sink(_make(broker, upsert="true"), make_query(["a", "at"], None))
    shared = _make(broker, "out/{road}", upsert="true")
    assert shared.keys is not None
    shared.keys.update({"a": ("road",), "b": ("road",)})
    shared.accept("a", ["road"])
    shared.accept("a", ["road"])
    with pytest.raises(UsageError, match="does not tell the rows of b apart"):
        shared.accept("b", ["road"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"topic": "a/+"}, "+ and # are for those who subscribe"),
        ({"topic": "  "}, "the option topic of the sink mqtt is"),
        ({"qos": "2"}, "the option qos of the sink mqtt is '2'"),
        ({"port": "x"}, "the option port"),
        ({"port": "65536"}, "the option port"),
        ({"user": "me"}, "the sink mqtt has no option user"),
        ({"upsert": "1"}, "the option upsert of the sink mqtt"),
    ],
)
def test_options_that_are_wrong(more: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        make_sink("mqtt", Path(), {"host": "h", "topic": "t", **more})
    assert said in str(refused.value)


def test_a_broker_that_refuses_is_not_asked_again() -> None:
    broker = Broker(refuse=5)
    sink = _make(broker, username="me", password="hush")
    for begins in (True, False):
        broker.passwords.clear()
        with pytest.raises(RunError, match="does not let it in") as failed:
            sink.begin("q") if begins else sink.publish("q", 0, _numbers(1), None)
        assert broker.passwords == [b"hush"]
        assert "hush" not in str(failed.value)
    assert sink.redact("with hush") == "with ***"
    broker.close()
    with pytest.raises(RunError, match=r"the MQTT broker 127\.0\.0\.1:\d+.*\(6 times\)"):
        sink.publish("q", 0, _numbers(1), None)


def test_a_broker_that_is_being_started_is_asked_again() -> None:
    broker = Broker(refuse=3)
    pauses: list[float] = []

    def start(pause: float) -> None:
        pauses.append(pause)
        broker.refuse = 0

    replace(_make(broker), wait=start).publish("q", 0, _numbers(2), None)
    broker.close()
    assert (_taken(broker), pauses) == ([0, 1], [0.5])


def test_a_broker_that_says_nothing_is_given_up(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt, "_SILENCE", 0.0)
    monkeypatch.setattr(mqtt, "_WAIT", 0.0)
    monkeypatch.setattr(broker, "_answer", lambda *_: None)
    with pytest.raises(RunError, match="nothing is heard of it"):
        _make(broker).publish("q", 0, _numbers(1), None)


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="the sink mqtt needs paho-mqtt") as refused:
        make_sink("mqtt", Path(), {"host": "h", "topic": "t"})
    assert "pip install 'ontoweir[mqtt]'" in str(refused.value)


def test_a_topic_that_is_too_long(broker: Broker) -> None:
    with pytest.raises(RunError, match="is too long"):
        _make(broker, "{k}").publish("q", 0, pa.table({"k": ["x" * 70_000]}), None)
    assert broker.taken == []


def test_a_run_that_goes_on(broker: Broker, tmp_path: Path, spark: SparkSession) -> None:
    """The answers are those that another run writes to files."""

    def run(place: str, **more: Any) -> None:
        workspace, compiled = open_queries(tmp_path, ["matches"])
        folder = tmp_path / place
        asked = RunOptions(folder / "check", folder / "out", once=True, progress=False)
        run_queries(workspace, compiled, replace(asked, **more), spark)

    given = {"host": "127.0.0.1", "port": str(broker.port), "topic": "out/{query}"}
    for first in (0, 2):
        write_history(tmp_path, first, first + 2)
        run("t", sink="mqtt", sink_options=given)
    run("p")
    wanted = read_output(tmp_path / "p" / "out", "matches")
    rows = [json.loads(content) for _, content, _, _ in broker.taken]
    found = [tuple(row[name] for name in row if name != "at") for row in rows]
    naive = [tuple(value for value in row if not hasattr(value, "isoformat")) for row in wanted]
    assert wanted
    assert sorted(found, key=repr) == sorted(naive, key=repr)
