"""`ontoweir init --from` of a URL, or of standard input: a copy in the project."""

import io
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

CSV = b"ts,sensor,value\n" + b"".join(
    b"2026-01-05T08:%02d:00Z,s%d,%d.5\n" % (n, n % 2, n) for n in range(60)
)
PAGES = {
    "/data/my%20rows.csv": ("text/plain", CSV),
    "/export?of=rows": ("text/csv; charset=utf-8", CSV),
    "/cut.csv": ("text/csv", CSV),
    "/page": ("text/html", b"<html></html>"),
}


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/data/my%20rows.csv")
            self.end_headers()
            return
        if self.path not in PAGES:
            self.send_error(404)
            return
        kind, content = PAGES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content) + 9 * (self.path == "/cut.csv")))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("page", "copy"),
    [
        ("/data/my%20rows.csv", "data/my rows.csv"),
        ("/moved", "data/my rows.csv"),
        ("/export?of=rows", "data/export.csv"),
    ],
)
def test_a_url_is_copied(site: str, tmp_path: Path, run: Run, page: str, copy: str) -> None:
    told = run("init", tmp_path / "p", "--from", f"{site}{page}")
    assert told.code == 0, told.err
    assert f"copied, as of now: {copy}" in told.out
    assert (tmp_path / "p" / copy).read_bytes() == CSV
    assert str(tmp_path) not in (tmp_path / "p" / "ontoweir.toml").read_text()
    assert run("check", tmp_path / "p").code == 0


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("{site}/none.csv", "Not Found"),
        ("{site}/cut.csv", "it was cut off"),
        ("{site}/page", "is no file of data"),
        ("http://127.0.0.1:1/a.csv", "refused"),
        ("kafka://broker/a/b", "names no topic"),
        ("kafka://me:secret@broker/topic", "names no topic"),
        ("kafka:///topic", "names no topic"),
        ("kafka://broker/topic?kafka.sasl.jaas.config=pw", "kafka.sasl.jaas.config=env:NAME"),
        ("gopher://x/a.csv", "nothing here reads gopher://"),
        ("postgresql://me:secret@127.0.0.1:9/d", "--from: PostgreSQL cannot be read"),
        ("mysql://h/d", "mysqldump --no-data"),
        ("file:///no/such/a.csv", "nothing is there"),
        ("file:///tmp", "it is a folder"),
    ],
)
def test_what_cannot_be_fetched(site: str, tmp_path: Path, run: Run, url: str, said: str) -> None:
    told = run("init", tmp_path / "p", "--from", url.format(site=site))
    assert told.code == 2
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert "secret" not in told.err
    assert not (tmp_path / "p").exists()


def _give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def _parquet() -> bytes:
    table = pa.table({"ts": pa.array(range(0, 10**8, 10**6), pa.timestamp("us")), "v": [0.5] * 100})
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        (CSV, "csv"),
        (
            b'{"ts": "2026-01-05T08:00:00Z", "v": 1.5}\n{"ts": "2026-01-05T08:01:00Z", "v": 2}',
            "jsonl",
        ),
        (_parquet(), "parquet"),
    ],
)
def test_standard_input(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, content: bytes, suffix: str
) -> None:
    _give(monkeypatch, content)
    told = run("init", tmp_path / "p", "--from", "-")
    assert told.code == 0, told.err
    assert (tmp_path / "p" / "data" / f"rows.{suffix}").read_bytes() == content


def test_nothing_in_standard_input(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _give(monkeypatch, b"")
    assert "standard input has nothing" in run("init", tmp_path / "p", "--from", "-").err
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in run("init", tmp_path / "p", "--from", "-").err
