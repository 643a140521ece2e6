"""The sink webhook against a real web server: each answer at least once, in order, and what is
refused is said."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.errors import RunError, UsageError
from ontoweir.runtime.live.output.list_parts import PartList
from ontoweir.runtime.live.output.publish_commit import PUBLISHED, publish_commit
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from ontoweir.runtime.live.output.sinks.webhook import WebhookSink
from ontoweir.runtime.live.output.write_parts import PartWriter

ANSWERS = pa.table(
    {
        "road": pa.array(["A", None, "ü"]),
        "speed": pa.array([1.5, float("inf"), 3.0]),
        "toll": pa.array([Decimal("1.10"), None, Decimal("2.00")], pa.decimal128(5, 2)),
        "at": pa.array([datetime(2026, 1, 1, 12, tzinfo=UTC)] * 3, pa.timestamp("us", "UTC")),
    }
)


@dataclass
class Received:
    """What a server got, and the answers that it gives: a status, `0` breaks the connection."""

    url: str = ""
    replies: list[tuple[int, Mapping[str, str]]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@pytest.fixture
def received() -> Iterator[Received]:
    with _serve() as found:
        yield found


@contextmanager
def _serve() -> Iterator[Received]:
    got = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.bodies.append(json.loads(body, parse_constant=pytest.fail))
            got.keys.append(self.headers["Idempotency-Key"])
            got.headers.append(dict(self.headers))
            got.paths.append(self.path)
            status, headers = got.replies.pop(0) if got.replies else (200, {})
            if status == 0:
                return  # closed without an answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        got.url = f"http://127.0.0.1:{server.server_port}/answers/{{query}}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield got
        finally:
            server.shutdown()
            thread.join()


def make(received: Received, **options: str) -> tuple[WebhookSink, list[float]]:
    """The sink, and what it has waited."""
    waited: list[float] = []
    sink = make_sink("webhook", Path("."), {"url": received.url, **options})
    assert isinstance(sink, WebhookSink)
    return replace(sink, wait=waited.append), waited


def test_answers_are_requests_in_their_order(received: Received) -> None:
    sink, waited = make(received, rows="2", **{"header.Authorization": "Bearer hush"})
    sink.publish("fast roads", 7, ANSWERS, None)
    assert received.paths == ["/answers/fast%20roads"] * 2
    assert received.keys == ["fast%20roads/7/0", "fast%20roads/7/1"]
    assert [b["part"] for b in received.bodies] == [0, 1]
    assert {(b["query"], b["batch"]) for b in received.bodies} == {("fast roads", 7)}
    rows = [row for body in received.bodies for row in body["answers"]]
    at = "2026-01-01T12:00:00Z"
    assert rows == [
        {"road": "A", "speed": 1.5, "toll": "1.10", "at": at},
        {"road": None, "speed": "inf", "toll": None, "at": at},
        {"road": "ü", "speed": 3.0, "toll": "2.00", "at": at},
    ]
    assert received.headers[0]["Authorization"] == "Bearer hush"
    assert waited == []


def test_what_is_not_taken_is_sent_again_under_its_key(received: Received) -> None:
    received.replies = [(503, {}), (0, {}), (429, {"Retry-After": "7"}), (500, {}), (204, {})]
    sink, waited = make(received)
    sink.publish("q", 0, ANSWERS, None)
    assert received.keys == ["q/0/0"] * 5
    assert waited == [0.5, 1.0, 7.0, 4.0]
    assert all(body == received.bodies[0] for body in received.bodies)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((400, {}), "400 Bad Request (1 time)"),
        ((401, {}), "401 Unauthorized (1 time)"),
        ((302, {"Location": "http://127.0.0.1:1/"}), "302 Found (1 time)"),
        ((307, {"Location": "/elsewhere"}), "307 Temporary Redirect (1 time)"),
    ],
)
def test_what_is_refused_is_not_sent_again(
    received: Received, reply: tuple[int, Mapping[str, str]], said: str
) -> None:
    received.replies = [reply]
    sink, waited = make(received)
    with pytest.raises(RunError) as caught:
        sink.publish("q", 0, ANSWERS, None)
    assert said in caught.value.what
    assert len(received.bodies) == 1
    assert waited == []


def test_it_gives_up_and_says_so(received: Received) -> None:
    received.replies = [(503, {})] * 3
    sink, waited = make(received, tries="3")
    with pytest.raises(RunError, match=r"503 Service Unavailable \(3 times\)"):
        sink.publish("q", 0, ANSWERS, None)
    assert waited == [0.5, 1.0]
    gone, _ = make(Received("http://127.0.0.1:9/"), tries="1")
    with pytest.raises(RunError, match="refused"):
        gone.publish("q", 0, ANSWERS, None)


def test_secrets_are_not_told(received: Received) -> None:
    given = {
        "url": "http://me:hush1@127.0.0.1:9/x?key=hush2",
        "header.X-Key": "hush3",
        "tries": "1",
    }
    sink = make_sink("webhook", Path("."), given)
    assert sink.describe("q") == "the web server at http://127.0.0.1:9/x"
    assert sink.redact("me:hush1, key=hush2, hush3") == "***, ***, ***"
    plain = make_sink("webhook", Path("."), {"url": "http://127.0.0.1:9/x", "header.DNT": "1"})
    assert plain.redact("1 time") == "1 time"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "ftp://x/y"}, "no address of a web server"),
        ({"url": "x"}, "no address of a web server"),
        ({"url": "http://x/", "topic": "t"}, "has no option topic"),
        ({"url": "http://x/", "header.": "t"}, "has no option header."),
        ({"url": "http://x/", "header.A B": "t"}, "is no header"),
        ({"url": "http://x/", "header.A": "t\r\nB: c"}, "is no header"),
        ({"url": "http://x/", "rows": "0"}, "whole number from 1"),
        ({"url": "http://x/", "tries": "x"}, "whole number from 1"),
        ({"url": "http://x/", "timeout": "99999"}, "whole number from 1"),
    ],
)
def test_wrong_options(options: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_sink("webhook", Path("."), options)


def test_a_commit_is_published_when_all_of_it_is_taken(received: Received, tmp_path: Path) -> None:
    """A run that stops at a refusal sends the same again at its next start."""
    place = tmp_path / "000000000003"
    place.mkdir()
    with pa.ipc.new_file(str(place / "answers-0.arrow"), ANSWERS.schema) as writer:
        writer.write_table(ANSWERS)
    query: Any = type("Running", (), {"name": "q"})
    parts = PartWriter("run", PartList(tmp_path / "parts.jsonl"), {"rejects": tmp_path})
    sink, _ = make(received, rows="1")
    received.replies = [(200, {}), (400, {})]
    with pytest.raises(RunError):
        publish_commit(place, [query], sink, parts, None)
    assert not (place / PUBLISHED).exists()
    publish_commit(place, [query], sink, parts, None)
    assert (place / PUBLISHED).exists()
    assert received.keys == ["q/3/0", "q/3/1", "q/3/0", "q/3/1", "q/3/2"]
    publish_commit(place, [query], sink, parts, None)
    assert len(received.keys) == 5
