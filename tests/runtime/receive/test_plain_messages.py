"""Messages of MQTT that are a number or a word, and that have no time."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.project.project import load_project
from ontoweir.runtime.receive.write_line import write_line, write_moment
from tests.runtime.receive.small_broker import Broker
from tests.runtime.receive.test_receive import _lines, _receiving, _written
from tests.waiting import wait_until

TOML = """
[project]
queries = []
[streams.s]
source = {{ format = "mqtt", path = "arrivals", options = {{ host = "127.0.0.1", port = "{0}", \
topic = "a/{{device}}", value = "v", received = "ts" }} }}
timestamp = {{ column = "ts", unit = "1 second", align = "floor" }}
columns = {{ device = "string", v = {{ type = "double", nullable = true }} }}
"""


@pytest.fixture
def broker() -> Iterator[Broker]:
    one = Broker()
    yield one
    one.close()


def test_every_value_is_a_member() -> None:
    random = Random(5)
    plain = 0
    for _ in range(2000):
        value = _written(random)
        line = json.loads(write_line(json.dumps(value).encode(), {"d": "x"}, "v"))
        if isinstance(value, dict):
            assert line == {"d": "x", **value}
        elif isinstance(value, list):
            assert line == json.dumps(value)
        else:
            plain += 1
            assert line == {"v": value, "d": "x"}
    assert plain > 100


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (b" 1.50\r\n", 1.5),
        (b"007", "007"),
        (b"NaN", "NaN"),
        (b"-Infinity", "-Infinity"),
        (b"null", None),
        (b"true", True),
        (b'"a\\nb"', "a\nb"),
        (b"open\nnow", "open\nnow"),
        ("21 °C".encode(), "21 °C"),
        (b"[" * 100_000, "[" * 100_000),
    ],
)
def test_values(payload: bytes, value: object) -> None:
    line = write_line(payload, {}, "v")
    assert b"\n" not in line
    assert json.loads(line) == {"v": value}


@pytest.mark.parametrize("payload", [b"", b" \n", b"\xff\x00", b"[1, 2]"])
def test_what_is_no_value(payload: bytes) -> None:
    assert isinstance(json.loads(write_line(payload, {"d": "x"}, "v")), str)


def test_rows_have_the_time_when_they_came(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML.format(broker.port))
    (stream,) = load_project(tmp_path, environ={}).catalog.streams.values()
    clock = iter([10**18 * 2 + n * 10**9 for n in (0, 1, 5, 3, 3)])  # it is set back
    monkeypatch.setattr("time.time_ns", lambda: next(clock, 2 * 10**18 + 6 * 10**9))
    with _receiving(broker, stream) as one:
        for payload in (b"1", b"2.5", b'{"v": 3}', b"", b'{"v": 4, "ts": "2033-05-18T03:33:26Z"}'):
            broker.publish("a/d1", payload)
        wait_until(lambda: len(_lines(tmp_path)) == 5, one.thread.is_alive)
        found = one.end()
    assert (found.messages, found.objects) == (5, 4)
    rows = [json.loads(line) for line in _lines(tmp_path)]
    assert [row["ts"] for row in rows if isinstance(row, dict)] == [
        "2033-05-18T03:33:20.000000Z",
        "2033-05-18T03:33:21.000000Z",
        "2033-05-18T03:33:25.000000Z",
        "2033-05-18T03:33:26Z",
    ]
    output = tmp_path / "o.parquet"
    asked = ["replay", str(tmp_path), "--sql", "SELECT device, v FROM s", "--output", str(output)]
    assert main([*asked, "-q"]) == 0
    assert [r["v"] for r in pq.read_table(output).to_pylist()] == [1, 2.5, 3, 4]


def test_moments() -> None:
    assert write_moment(-1) == "1969-12-31T23:59:59.999999Z"
