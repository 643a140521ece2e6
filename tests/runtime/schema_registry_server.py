"""A schema registry for tests: Confluent's HTTP API, as far as readers use it."""

import json
import ssl
import struct
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from threading import Thread
from typing import Any

import fastavro


@dataclass
class Registry:
    """`schemas`: what is answered, by number; `versions`: by subject and version; `login`: what is
    asked for (None: nothing); `status`: what every question is answered (None: as it should be);
    `asked`: the paths; `subjects`: the numbers of schemas that were sent; `unfit`: whether none is
    taken that is new."""

    url: str = ""
    schemas: dict[int, dict[str, Any]] = field(default_factory=dict)
    versions: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    login: str | None = None
    status: int | None = None
    asked: list[str] = field(default_factory=list)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    unfit: bool = False

    def add(self, number: int, schema: Any, kind: str = "AVRO", **more: Any) -> None:
        """Register a schema."""
        told = {} if kind == "AVRO" else {"schemaType": kind}
        self.schemas[number] = {"schema": json.dumps(schema), **told, **more}

    def take(self, path: str, login: str, sent: dict[str, Any]) -> tuple[int, Any]:
        """What is answered to a schema that is sent to a subject."""
        self.asked.append(path)
        if self.login is not None and self.login != login:
            return 401, {"error_code": 401, "message": "Unauthorized"}
        _, subject, _ = path.strip("/").split("/")
        number = next((n for n, held in self.schemas.items() if held == sent), None)
        if number is None and self.unfit:
            return 409, {"error_code": 409, "message": "incompatible"}
        number = number or len(self.schemas) + 1
        self.schemas[number] = sent
        self.subjects.setdefault(subject, []).append(number)
        return 200, {"id": number}

    def answer(self, path: str, login: str) -> tuple[int, Any]:
        self.asked.append(path)
        if self.status is not None:
            return self.status, {"error_code": self.status, "message": "no"}
        if self.login is not None and self.login != login:
            return 401, {"error_code": 401, "message": "Unauthorized"}
        parts = path.strip("/").split("/")
        found: Any = None
        match parts:
            case ["schemas", "types"]:
                found = ["AVRO", "JSON", "PROTOBUF"]
            case ["schemas", "ids", number]:
                found = self.schemas.get(int(number))
            case ["subjects", subject, "versions", version]:
                found = self.versions.get((subject, int(version)))
            case _:
                return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}
        if found is None:
            return 404, {"error_code": 40403, "message": "Schema not found"}
        return 200, found


@contextmanager
def start_registry(tls: ssl.SSLContext | None = None) -> Iterator[Registry]:
    """A registry while the block runs. `tls`: with which it is asked by HTTPS."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        timeout = 5  # of who never says anything

        def do_GET(self) -> None:
            given = self.headers.get("Authorization", "").removeprefix("Basic ")
            self._say(*registry.answer(self.path, b64decode(given).decode()))

        def do_POST(self) -> None:
            given = self.headers.get("Authorization", "").removeprefix("Basic ")
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._say(*registry.take(self.path, b64decode(given).decode(), sent))

        def _say(self, status: int, held: Any) -> None:
            body = json.dumps(held).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    scheme = "http" if tls is None else "https"
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    registry.url = f"{scheme}://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def frame(number: int, schema: Any, value: Any) -> bytes:
    """A message in Avro, as Confluent's serializer frames it."""
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return head(number) + out.getvalue()


def head(number: int) -> bytes:
    """What a message begins with: a zero, and the number of its schema."""
    return struct.pack(">bI", 0, number)
