"""A small server of what Arrow asks of S3: a bucket, objects, and uploads in parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class SmallStore:
    """`objects`: by bucket/key; `parts`: of uploads that are not complete; `fails`: parts are
    refused."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.fails = False
        self.port = 0

    def address(self, key: str, bucket: str = "lake") -> str:
        """Of an object."""
        asked = f"scheme=http&region=us-east-1&endpoint_override=127.0.0.1%3A{self.port}"
        return f"s3://me:hush@{bucket}/{key}?{asked}&allow_bucket_creation=false"


@contextmanager
def serve_store() -> Iterator[SmallStore]:
    """A server with the bucket `lake`."""
    store = SmallStore()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(store))
    store.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _join(source: Any) -> bytes:
    """Chunks, each behind its size, up to an empty one."""
    chunks = []
    while count := int(source.readline().split(b";")[0], 16):
        chunks.append(source.read(count))
        source.readline()
    return b"".join(chunks)


def _make_handler(store: SmallStore) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Nothing."""

        def _asked(self) -> tuple[str, dict[str, list[str]]]:
            parts = urlsplit(self.path)
            return unquote(parts.path).strip("/"), parse_qs(parts.query, keep_blank_values=True)

        def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            if "Content_Length" not in headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") == "chunked":
                held = _join(self.rfile)
                self.rfile.readline()
            else:
                held = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "aws-chunked" in self.headers.get("Content-Encoding", ""):
                return _join(BytesIO(held))
            return held

        def do_HEAD(self) -> None:
            key, _ = self._asked()
            found = store.objects.get(key)
            if found is not None:
                self._answer(200, Content_Length=str(len(found)), ETag='"x"')
            else:
                self._answer(200 if key == "lake" else 404)

        def do_GET(self) -> None:
            self._answer(
                200,
                b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>",
                Content_Type="application/xml",
            )

        def do_PUT(self) -> None:
            key, asked = self._asked()
            body = self._body()
            if store.fails:
                self._answer(403)
                return
            if "uploadId" in asked:
                store.parts[key][int(asked["partNumber"][0])] = body
            else:
                store.objects[key] = body
            self._answer(200, ETag='"x"')

        def do_POST(self) -> None:
            key, asked = self._asked()
            self._body()
            if "uploads" in asked:
                store.parts[key] = {}
                text = f"<InitiateMultipartUploadResult><Bucket>lake</Bucket><Key>{key}</Key>"
                text += "<UploadId>1</UploadId></InitiateMultipartUploadResult>"
            else:
                store.objects[key] = b"".join(b for _, b in sorted(store.parts.pop(key).items()))
                text = f"<CompleteMultipartUploadResult><Key>{key}</Key><ETag>x</ETag>"
                text += "</CompleteMultipartUploadResult>"
            self._answer(200, text.encode(), Content_Type="application/xml")

        def do_DELETE(self) -> None:
            key, _ = self._asked()
            store.parts.pop(key, None)
            self._answer(204)

    return Handler
