"""Who is answered: names of this machine, our own pages, small requests, and reading only."""

import pytest
from flask.testing import FlaskClient

from ontoweir.dashboard.access.guard_requests import allow_host, allow_origin
from ontoweir.dashboard.serve import parse_address, say_where
from ontoweir.errors import UsageError

HERE = "127.0.0.1"


@pytest.mark.parametrize(
    ("header", "address", "allowed"),
    [
        ("127.0.0.1:4080", HERE, True),
        ("localhost:4080", HERE, True),
        ("LOCALHOST", HERE, True),
        ("[::1]:4080", HERE, True),
        ("evil.example", HERE, False),
        ("evil.example:4080", HERE, False),
        ("localhost.evil.example", HERE, False),
        ("127.0.0.1.evil.example", HERE, False),
        ("10.0.0.5:4080", HERE, False),
        ("10.0.0.5:4080", "0.0.0.0", True),
        ("evil.example", "0.0.0.0", False),
        ("board.example:4080", "board.example", True),
        ("evil.example", "board.example", False),
        ("localhost@evil.example", HERE, False),
        ("localhost:80:80", HERE, False),
        ("[::1", HERE, False),
        ("", HERE, False),
        (None, HERE, False),
    ],
)
def test_names(header: str | None, address: str, allowed: bool) -> None:
    assert allow_host(header, address) is allowed


@pytest.mark.parametrize(
    ("origin", "fetched", "allowed"),
    [
        (None, None, True),
        ("http://localhost:4080", "same-origin", True),
        ("http://evil.example", None, False),
        ("null", None, False),
        (None, "cross-site", False),
        (None, "same-site", False),
        (None, "none", True),
    ],
)
def test_origins(origin: str | None, fetched: str | None, allowed: bool) -> None:
    assert allow_origin(origin, fetched, "localhost:4080") is allowed


@pytest.mark.parametrize("path", ["/", "/api/overview", "/style.css", "/nowhere"])
def test_strangers_are_not_answered(client: FlaskClient, path: str) -> None:
    answer = client.get(path, headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert answer.text == "unknown host\n"


def test_pages_of_others_check_nothing(client: FlaskClient) -> None:
    for path in ("/playground", "/api/check", "/api/replay"):
        answer = client.post(path, data={}, headers={"Origin": "http://evil.example"})
        assert answer.status_code == 403


def test_nothing_can_be_changed(client: FlaskClient) -> None:
    rules = client.application.url_map.iter_rules()
    changing = [(r.rule, (r.methods or set()) - {"GET", "HEAD", "OPTIONS"}) for r in rules]
    found = {(path, method) for path, methods in changing for method in methods}
    assert found == {(path, "POST") for path in ("/playground", "/api/check", "/api/replay")}


def test_large_requests_are_refused(client: FlaskClient) -> None:
    long = "x" * 50_001
    assert client.post("/playground", data={"text": long, "language": "sql"}).status_code == 413
    assert client.post("/api/check", json={"text": long, "language": "sql"}).status_code == 413
    assert client.post("/api/check", json={"text": "x" * 300_000}).status_code == 413
    assert client.post("/playground", data={"text": "x" * 300_000}).status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "1",
        "{",
        '{"text": 1}',
        '{"text": "\\ud800", "language": "sql"}',
        '{"language": "sparql"}',
        '{"text": "", "language": 2}',
    ],
)
def test_wrong_requests_are_told(client: FlaskClient, body: str) -> None:
    answer = client.post("/api/check", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json is not None
    assert "error" in answer.json


def test_errors_of_the_api_are_json(client: FlaskClient) -> None:
    for path, code in (("/api/query?name=none", 404), ("/api/nowhere", 404), ("/api/check", 405)):
        answer = client.get(path)
        assert answer.status_code == code
        assert answer.json is not None
    for path in ("/api/query", "/api/answers", "/api/rejects.csv"):
        told = client.get(f"{path}?name=<i>")
        assert told.json == {"error": "there is no query '<i>'"}
        assert client.get(path).json == {"error": "no query is named: add ?name=…"}
    assert "<i>" not in client.get("/query?name=<i>").text
    assert client.get("/nowhere").text.startswith("<!DOCTYPE html>")
    assert client.get("/static/../make_app.py").status_code == 404
    assert client.get("/static/%2e%2e/make_app.py").status_code == 404


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("4080", (HERE, 4080)),
        ("0", (HERE, 0)),
        ("localhost:1", ("localhost", 1)),
        ("0.0.0.0:4080", ("0.0.0.0", 4080)),
        ("[::1]:80", ("::1", 80)),
    ],
)
def test_addresses(text: str, found: tuple[str, int]) -> None:
    assert parse_address(text, "--listen") == found


@pytest.mark.parametrize("text", ["", "x", "65536", ":80", "a b:80", "1:2:3", "http://x:1", "-1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        parse_address(text, "--listen")


def test_an_open_address_is_warned_of() -> None:
    assert len(say_where("http://127.0.0.1:1/", HERE)) == 1
    assert "knows the token" in say_where("http://0.0.0.0:1/", "0.0.0.0")[1]
