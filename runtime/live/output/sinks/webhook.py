"""Answers as requests to a web server (a webhook): at least once.

A request that gets no answer may have been taken, so it is sent again, and so is a micro-batch
after a crash: with the same `Idempotency-Key`, by which a server that wants each answer once knows
it.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.output.sinks.sink import MessageSink, SinkKind
from ontoweir.runtime.results.plain_json import finite_value, plain_json
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_HEADER = "header."
_NUMBERS: Mapping[str, tuple[int, int]] = {
    "rows": (500, 100_000),
    "tries": (6, 100),
    "timeout": (30, 3600),
}
"""By option, what it is if it is not given, and at most: answers of a request, times that it is
sent, seconds that are waited for an answer."""
_LONGEST = 30.0
"""Seconds between two tries, at most."""
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
"""Answers after which a request is sent again (RFC 9110, 15.5 and 15.6; RFC 6585; RFC 8470)."""


@dataclass(frozen=True)
class WebhookSink(MessageSink):
    """Sends a micro-batch's answers to `url`, in which {query} is the query's name, as JSON:
    `query`, `batch`, `part` (from 0) and `answers`, at most `rows` of them in a request. `headers`
    are added to each; `tries` and `timeout` (seconds) as above."""

    irrevocable: ClassVar[bool] = True
    url: str
    headers: Mapping[str, str]
    rows: int = 500
    tries: int = 6
    timeout: int = 30
    wait: Callable[[float], object] = field(default=time.sleep, compare=False)

    def describe(self, query: str) -> str:
        """Where requests go, without what may be secret in it."""
        parts = urlsplit(self._name_url(query))
        host = parts.netloc.rpartition("@")[2]
        return f"the web server at {parts.scheme}://{host}{parts.path}"

    def redact(self, text: str) -> str:
        """A message without the values of headers, and without what the address may keep secret."""
        parts = urlsplit(self.url)
        login, at, _ = parts.netloc.rpartition("@")
        hidden = {"authorization": login if at else "", "token": parts.query}
        # what is shorter is no secret, and stands in every message
        kept = {name: value for name, value in self.headers.items() if len(value) > 3}
        headers = {f"secret {name}": value for name, value in kept.items()}
        return redact_secrets(text, {**hidden, **headers})

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Send the answers, request by request, each until it is taken."""
        for part, start in enumerate(range(0, answers.num_rows, self.rows)):
            rows = [
                {name: finite_value(value) for name, value in row.items()}
                for row in answers.slice(start, self.rows).to_pylist()
            ]
            body = {"query": query, "batch": batch, "part": part, "answers": rows}
            text = json.dumps(body, default=plain_json, ensure_ascii=False, allow_nan=False)
            headers = {
                "Content-Type": "application/json",
                "User-Agent": "ontoweir",
                **self.headers,
                "Idempotency-Key": f"{quote(query)}/{batch}/{part}",
            }
            self._send(Request(self._name_url(query), text.encode(), headers, method="POST"), query)

    def _send(self, request: Request, query: str) -> None:
        """Send a request until it is taken, or has been refused.

        Raises:
            RunError: it is refused, or has not been taken so many times.
        """
        opener = build_opener(_NoRedirect)
        for number in range(1, self.tries + 1):
            pause = min(_LONGEST, 0.5 * 2 ** (number - 1))
            try:
                with opener.open(request, timeout=self.timeout) as answer:
                    answer.read()
                return
            except HTTPError as error:
                said, status = f"{error.code} {error.reason}", error.code
                asked = _read_seconds(error.headers.get("Retry-After"))
                pause = pause if asked is None else min(_LONGEST, asked)
                error.close()
            except (OSError, HTTPException) as error:
                reason = getattr(error, "reason", error)
                said = getattr(reason, "strerror", None) or str(reason) or "it breaks off"
                status = None
            if status is not None and status not in _AGAIN:
                break
            if number < self.tries:
                self.wait(pause)
        times = f"{number} time{'s' if number > 1 else ''}"
        raise RunError(
            self.redact(f"answers cannot be sent to {self.describe(query)}: {said} ({times})"),
            why="they are committed, but not where they belong yet",
            fix="check the server and the options of the sink, and start again: they are sent then",
        )

    def _name_url(self, query: str) -> str:
        return self.url.replace("{query}", quote(query, safe=""))


class _NoRedirect(HTTPRedirectHandler):
    """A request that is sent on elsewhere would be asked for there, without its answers."""

    def redirect_request(self, *_: Any) -> None:
        """None: the redirection is the error that it is."""


def _read_seconds(text: str | None) -> float | None:
    """The seconds of a Retry-After; a date is not waited for longer than usual."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


def _make(folder: Path, options: Mapping[str, str]) -> WebhookSink:
    url = options["url"]
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"{redact_secrets(url, {'token': parts.query})!r} is no address of a web server",
            why="answers are sent by HTTP",
            fix="write e.g. --sink-option url=https://HOST/answers/{query}",
            source=Source("--sink-option"),
        )
    headers, numbers = {}, {}
    for name, value in options.items():
        if name == "url":
            continue
        if name.startswith(_HEADER) and len(name) > len(_HEADER):
            headers[name.removeprefix(_HEADER)] = value
        elif name in _NUMBERS:
            numbers[name] = _read_number(name, value)
        else:
            raise UsageError(
                f"the sink webhook has no option {name}",
                why=f"it has url, {_HEADER}NAME, {', '.join(_NUMBERS)}",
                fix=f"leave it out, or write {_HEADER}{name} for a header",
                source=Source("--sink-option"),
            )
    for name, value in headers.items():
        if not name.replace("-", "").isalnum() or not name.isascii() or set(value) & {"\r", "\n"}:
            raise UsageError(
                f"{_HEADER}{name} is no header",
                why="names of headers have letters, digits and hyphens, values one line",
                fix=f"write e.g. --sink-option {_HEADER}Authorization=env:TOKEN",
                source=Source("--sink-option"),
            )
    rows, tries, timeout = (numbers.get(name, usual) for name, (usual, _) in _NUMBERS.items())
    return WebhookSink(url, headers, rows, tries, timeout)


def _read_number(name: str, text: str) -> int:
    usual, most = _NUMBERS[name]
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
        raise UsageError(
            f"the option {name} of the sink webhook is {text!r}",
            why=f"it is a whole number from 1 to {most:,}",
            fix=f"leave it out ({usual}), or write e.g. {name}={usual}",
            source=Source("--sink-option"),
        )
    return int(text)


WEBHOOK = SinkKind(
    "webhook",
    "requests to a web server, as JSON",
    _make,
    "url, header.NAME, rows, tries, timeout",
    ("url",),
)
