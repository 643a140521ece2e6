"""Messages of MQTT become JSON lines: each at least once, whoever is killed, and rows once."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.cli import main
from ontoweir.errors import OntoweirError, RunError, UsageError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.receive import receive_stream as module
from ontoweir.runtime.receive.journal import Journal, open_journal
from ontoweir.runtime.receive.receive_stream import Received, ReceiveOptions, receive_stream
from ontoweir.runtime.receive.write_line import write_line
from tests.runtime.receive.small_broker import Broker
from tests.waiting import wait_until

TOML = """
[project]
queries = []
[streams.s]
source = {{ format = "mqtt", path = "arrivals", options = {{ {0} }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
keys = [["device", "ts"]]
columns = {{ device = "string", value = "double", kind = {{ type = "string", nullable = true }} }}
"""
SQL = "SELECT device, value FROM s"


def _declare(folder: Path, port: int, *more: str, topic: str = "sensors/{device}/temp") -> Stream:
    options = ['host = "127.0.0.1"', f'port = "{port}"', f'topic = "{topic}"', *more]
    (folder / "ontoweir.toml").write_text(TOML.format(", ".join(options)))
    (stream,) = load_project(folder, environ={}).catalog.streams.values()
    return stream


@pytest.fixture
def broker() -> Iterator[Broker]:
    one = Broker()
    yield one
    one.close()


class _Receiving:
    """A receiver in a thread of its own."""

    def __init__(self, stream: Stream):
        self.stop, self.told = threading.Event(), list[str]()
        self.found: Received | OntoweirError | None = None
        options = ReceiveOptions(every=0.01, again=0.01, report=self.told.append)

        def receive() -> None:
            try:
                self.found = receive_stream(stream, options, self.stop)
            except OntoweirError as error:
                self.found = error

        self.thread = threading.Thread(target=receive)
        self.thread.start()

    def end(self) -> Received:
        """Stop it; what it says."""
        self.stop.set()
        self.thread.join()
        assert isinstance(self.found, Received), self.found
        return self.found


@contextmanager
def _receiving(broker: Broker, stream: Stream) -> Iterator[_Receiving]:
    one = _Receiving(stream)
    try:
        wait_until(lambda: broker.subscribed, one.thread.is_alive)
        yield one
    finally:
        one.stop.set()
        one.thread.join()


def _lines(folder: Path) -> list[str]:
    files = sorted((folder / "arrivals").glob("*.jsonl"))
    times = [file.stat().st_mtime_ns for file in files]
    assert times == sorted(set(times))  # the order of names and of times is one
    return [line for file in files for line in file.read_text().splitlines()]


def _message(number: int) -> bytes:
    at = f"2026-01-05T08:{number // 60:02}:{number % 60:02}Z"
    return json.dumps({"ts": at, "value": number / 2}).encode()


def test_messages_are_lines_in_their_order(broker: Broker, tmp_path: Path) -> None:
    with _receiving(broker, _declare(tmp_path, broker.port)) as one:
        for number in range(200):
            broker.publish(f"sensors/d{number % 3}/temp", _message(number), qos=number % 2)
            broker.publish(f"sensors/d{number % 3}/humidity", _message(number))
        wait_until(lambda: len(_lines(tmp_path)) == 200, one.thread.is_alive)
        wait_until(lambda: broker.done, one.thread.is_alive)
        found = one.end()
    assert (found.messages, found.objects) == (200, 200)
    assert found.files == len(list((tmp_path / "arrivals").glob("*.jsonl")))
    rows = [json.loads(line) for line in _lines(tmp_path)]
    assert [row["value"] for row in rows] == [n / 2 for n in range(200)]
    assert {row["device"] for row in rows} == {"d0", "d1", "d2"}


def test_nothing_is_acknowledged_before_it_is_on_the_disk(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, sync = list[str](), os.fsync
    kept: Any = module._Connection.acknowledge

    def synced(handle: int) -> None:
        sync(handle)
        order.append(os.readlink(f"/proc/self/fd/{handle}"))

    def acknowledged(self: Any, client: Any) -> None:
        if self.unacknowledged:
            assert order[-1].endswith("part.jsonl")
            held = Path(order[-1]).read_bytes().count(b"\n")
            assert held >= len(self.unacknowledged)
            assert len(broker.session.sent) >= len(self.unacknowledged)
            order.append("acknowledged")
        kept(self, client)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(module._Connection, "acknowledge", acknowledged)
    with _receiving(broker, _declare(tmp_path, broker.port)) as one:
        for number in range(50):
            broker.publish("sensors/d/temp", _message(number))
        wait_until(lambda: broker.done, one.thread.is_alive)
        assert one.end().messages == 50
    assert "acknowledged" in order


@pytest.mark.parametrize("forget", [False, True])
def test_connections_that_are_lost(broker: Broker, tmp_path: Path, forget: bool) -> None:
    """Sent again is what was not acknowledged; a broker that forgot is subscribed to again."""
    with _receiving(broker, _declare(tmp_path, broker.port)) as one:
        for number in range(60):
            broker.publish("sensors/d/temp", _message(number))
            if number % 20 == 10:
                if forget:
                    wait_until(lambda: broker.done, one.thread.is_alive)
                broker.drop(forget=forget)
                if forget:
                    wait_until(lambda: broker.subscribed, one.thread.is_alive)
        wait_until(lambda: broker.subscribed and broker.done, one.thread.is_alive)
        one.end()
    assert {json.loads(line)["value"] for line in _lines(tmp_path)} == {n / 2 for n in range(60)}
    assert "s: the connection is lost; connecting again" in one.told


def test_retained_messages_come_once(broker: Broker, tmp_path: Path) -> None:
    """They are sent again to whoever subscribes again, and were received before."""
    stream = _declare(tmp_path, broker.port)
    broker.publish("sensors/a/temp", _message(1), retain=True)
    for repeated in (0, 1):
        with _receiving(broker, stream) as one:
            wait_until(
                lambda: bool(broker.session.acknowledged) and broker.done, one.thread.is_alive
            )
            assert one.end().repeated == repeated
        broker.session.acknowledged.clear()
        wait_until(lambda: broker.session.link is None)
    assert len(_lines(tmp_path)) == 1


@pytest.mark.parametrize("what", ["written", "acknowledged"])
def test_who_is_killed_loses_nothing(broker: Broker, tmp_path: Path, what: str) -> None:
    """By SIGKILL between receipt and disk, and between disk and acknowledgement."""
    stream = _declare(tmp_path, broker.port)
    script = str(Path(__file__).with_name("killed_receiver.py"))
    sent = 0
    for times in (1, 3):
        child = subprocess.Popen([sys.executable, script, str(tmp_path), what, str(times)])
        while child.poll() is None:
            if broker.subscribed:
                broker.publish(f"sensors/d{sent % 2}/temp", _message(sent))
                sent += 1
            threading.Event().wait(0.01)
        assert child.wait() == -signal.SIGKILL
        assert not broker.done
        wait_until(lambda: broker.session.link is None)
    with _receiving(broker, stream) as one:
        wait_until(lambda: broker.subscribed and broker.done, one.thread.is_alive)
        one.end()
    found = Counter(json.loads(line)["value"] for line in _lines(tmp_path))
    assert set(found) == {n / 2 for n in range(sent)}
    again = [value for value, count in found.items() if count > 1]
    assert bool(again) == (what == "acknowledged")
    # the key tells them: a replay has each row once
    output = tmp_path / "out.parquet"
    command = ["replay", str(tmp_path), "--sql", SQL, "--output", str(output), "-q", "--final"]
    _sort(tmp_path)
    assert main([*command, "--engine", "driver"]) == 0
    values = sorted(row["value"] for row in pq.read_table(output).to_pylist())
    assert values == [n / 2 for n in range(sent)]


def _sort(folder: Path) -> None:
    """What is sent again comes after what was sent meanwhile."""
    file = folder / "ontoweir.toml"
    file.write_text(file.read_text().replace('path = "arrivals"', 'path = "arrivals", sort = true'))


def test_runs_and_replays_read_them(broker: Broker, tmp_path: Path, spark: SparkSession) -> None:
    """Also what is no row: it is rejected with its text."""
    stream = _declare(tmp_path, broker.port)
    odd = [b"", b"17", b'{"ts": 1', b'{"ts":1}\n{"ts":2}', b"\xff{}", b"[{}]", b'{"value": 1}']
    with _receiving(broker, stream) as one:
        for number in range(30):
            broker.publish("sensors/d/temp", _message(number))
            if number < len(odd):
                broker.publish("sensors/d/temp", odd[number])
        wait_until(lambda: broker.done, one.thread.is_alive)
        found = one.end()
    assert (found.messages, found.objects) == (37, 31)
    output, rejects = tmp_path / "out.parquet", tmp_path / "rejects"
    command = ["replay", str(tmp_path), "--sql", SQL, "--output", str(output), "-q"]
    assert main([*command, "--engine", "driver", "--rejects", str(rejects)]) == 0
    replayed = pq.read_table(output).to_pylist()
    assert [row["value"] for row in replayed] == [n / 2 for n in range(30)]
    assert pq.read_table(rejects / "rejects.parquet").num_rows == len(odd)
    workspace = Workspace(load_project(tmp_path, environ={}))
    (tmp_path / "q.sql").write_text(SQL)
    compiled = [workspace.compile_sql(tmp_path / "q.sql")]
    options = RunOptions(tmp_path / "check", tmp_path / "live", once=True, progress=False)
    summary = run_queries(workspace, compiled, options, spark)
    assert summary["rejected"] == len(odd)
    parts = sorted((tmp_path / "live" / "q").glob("*.parquet"))
    live = [row for part in parts for row in pq.read_table(part).to_pylist()]
    assert live == replayed[: len(live)]
    assert len(live) >= 29  # a later timestamp finishes the last


def _written(random: Random, depth: int = 0) -> Any:
    texts = ["", "a\n\tb", 'q"}', "{", "é\u2028", "\\"]
    kinds: list[Any] = [None, True, 1.5e-7, 10**20, random.choice(texts)]
    if depth < 3:
        some = range(random.randrange(3))
        kinds.append([_written(random, depth + 1) for _ in some])
        kinds.append({random.choice([*texts, "device"]): _written(random, depth + 1) for _ in some})
    return random.choice(kinds)


def test_lines_say_what_messages_do() -> None:
    random = Random(11)
    objects = 0
    for _ in range(2000):
        value = _written(random)
        payload = json.dumps(
            value,
            indent=random.choice([None, 2]),
            ensure_ascii=random.random() < 0.5,
            separators=random.choice([None, (",", ":")]),
        )
        payload = random.choice(["", " \r\n"]) + payload.replace("\n", random.choice(["\n", "\r"]))
        line = write_line(payload.encode(), {"device": "d{}", "x": 'é"'})
        assert b"\n" not in line
        assert b"\r" not in line
        if isinstance(value, dict):
            objects += 1
            assert json.loads(line) == {"device": "d{}", "x": 'é"', **value}
        else:
            assert json.loads(line) == payload
    assert objects > 100


def test_what_a_kill_or_a_power_cut_leaves(tmp_path: Path) -> None:
    """Whole lines appear, the rest does not, and later files are later, whatever clocks say."""
    folder = tmp_path / "arrivals"
    journal = open_journal(folder)
    journal.append([b"1", b"2"])
    journal.publish()
    (first,) = folder.glob("*.jsonl")
    ahead = first.stat().st_mtime_ns + 10**15
    os.utime(first, ns=(ahead, ahead))
    journal.append([b"3", b"x" * 70_000])
    assert journal._open is not None
    journal._open.close()
    journal.lock.release()  # it is killed
    with (folder / ".receive" / "part.jsonl").open("ab") as part:
        part.write(b"y" * 200_000)
    again = open_journal(folder)
    assert _lines(tmp_path) == ["1", "2", "3", "x" * 70_000]
    again.append([b"4"])
    again.close()
    (folder / ".receive" / "part.jsonl").write_bytes(b"only a part")
    open_journal(folder).close()
    assert _lines(tmp_path)[-1] == "4"


def test_one_receives_into_a_folder(broker: Broker, tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "arrivals")
    with pytest.raises(RunError, match="another process receives"):
        receive_stream(_declare(tmp_path, broker.port), ReceiveOptions(), threading.Event())
    journal.close()


def test_a_full_disk_acknowledges_nothing(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = _declare(tmp_path, broker.port)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with _receiving(broker, stream) as one:
        monkeypatch.setattr("ontoweir.runtime.receive.journal.os.fsync", full)
        broker.publish("sensors/d/temp", _message(1))
        one.thread.join()
    monkeypatch.undo()
    assert isinstance(one.found, RunError)
    assert "No space left" in str(one.found)
    assert not broker.session.acknowledged
    with _receiving(broker, stream) as one:
        wait_until(lambda: broker.done, one.thread.is_alive)
        one.end()
    assert {json.loads(line)["value"] for line in _lines(tmp_path)} == {0.5}


@pytest.mark.parametrize(
    ("refuse", "grant", "said"),
    [(5, 1, "does not let it in: Not authorized"), (0, 128, "does not grant sensors/+/temp")],
)
def test_what_a_broker_refuses(tmp_path: Path, refuse: int, grant: int, said: str) -> None:
    broker = Broker(refuse=refuse, grant=grant)
    login = ('username = "u"', 'password = "sesame"')
    stream, stop = _declare(tmp_path, broker.port, *login), threading.Event()
    with pytest.raises(RunError) as raised:
        receive_stream(stream, ReceiveOptions(), stop)
    broker.close()
    assert said in str(raised.value)
    assert "sesame" not in str(raised.value)
    assert broker.passwords[0] == b"sesame"
    with pytest.raises(RunError, match="cannot be connected to"):
        receive_stream(_declare(tmp_path, broker.port), ReceiveOptions(), threading.Event())


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'ontoweir\[mqtt\]'"):
        receive_stream(_declare(tmp_path, 1), ReceiveOptions(), threading.Event())


def test_the_command(broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _declare(tmp_path, broker.port)
    script = "import sys; from ontoweir.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "receive", str(tmp_path), "--every", "0.01"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: broker.subscribed, lambda: child.poll() is None)
    broker.publish("sensors/d/temp", _message(1))
    wait_until(lambda: bool(broker.session.acknowledged), lambda: child.poll() is None)
    child.send_signal(signal.SIGTERM)
    told, said = child.communicate()
    assert child.returncode == 0
    assert told == "s: 1 messages in 1 files\n"
    assert said == "s: receiving sensors/+/temp\n"
    assert main(["receive", str(tmp_path), "--stream", "x"]) == 2
    assert "'x' is no stream of MQTT; there is none; name one of s" in capsys.readouterr().err
    broker.close()
    assert main(["receive", str(tmp_path)]) == 3
    assert f"127.0.0.1:{broker.port} cannot be connected to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "topic", "said"),
    [
        ('qos = "2"', "a", "with 2 one could be lost"),
        ('port2 = "1"', "a", "did you mean 'port'"),
        ('keepalive = "never"', "a", "a number from 1 to 65535"),
        ('tls = "yes"', "a", '"true" or "false"'),
        ('value = "b"', "a/{b}", "the option value is 'b'"),
        ('received = ""', "a", "the option received is ''"),
        ('received = "x", value = "x"', "a", "the option value is 'x'"),
        ('qos = "1"', "a/{b}/{b}", "is none that can be received"),
        ('qos = "1"', "a/#/b", "is none that can be received"),
        ('qos = "1"', "a/{}", "is none that can be received"),
        ('qos = "1"', "$share/g/a", "is none that can be received"),
        ('qos = "1"', "", "is none that can be received"),
    ],
)
def test_what_is_no_source(tmp_path: Path, more: str, topic: str, said: str) -> None:
    with pytest.raises(OntoweirError) as raised:
        _declare(tmp_path, 1, more, topic=topic)
    assert said in str(raised.value)
    assert str(raised.value.source).endswith("ontoweir.toml:5")
    for good in ("#", "a/+/{b}/#", "a b/é", "/"):
        assert _declare(tmp_path, 1, topic=good).data.format == "json"


def test_a_journal_is_published_when_it_is_large(tmp_path: Path) -> None:
    journal: Journal = open_journal(tmp_path)
    assert not journal.is_full
    journal.append([b"x" * (64 << 20)])
    assert journal.is_full
    journal.close()
