"""Ask a schema registry which schema a number names (Confluent's HTTP API, which others have too).

A number never gets another schema, so each is asked for once by a process. It is kept for others
between runs, too, for when the registry does not answer: a registry that is made anew, as for
tests, has other schemas under the same numbers, so that one that answers is asked.
"""

import json
import ssl
import time
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import (
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from ontoweir.cache.open_cache import open_cache
from ontoweir.errors import RunError, Source
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.spark.redact_secrets import resolve_options

_TIMEOUT = 5.0
"""Seconds that an answer may take."""
_PAUSES = (0.5, 1.0, 2.0)
"""Seconds between tries, where what comes cannot wait."""
_AGAIN = 10.0
"""Seconds for which a number that names nothing is believed to."""
_UNKNOWN = (40402, 40403)
"""What a registry says, by `error_code`, where it has no such version or schema; other answers 404
are those of a server that is none, or of a wrong path."""
_WHAT = "schema"
"""The entries of the cache."""
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    """`kind`: AVRO, JSON, or another; `text`: as it is registered; `references`: the texts of those
    that it refers to, each after those that it needs itself."""

    kind: str
    text: str
    references: tuple[str, ...] = ()


@dataclass(slots=True)
class SchemaRegistry:
    """A registry. `url`: without a slash at its end; `options`: as they are resolved; `source`:
    where it is declared; `schemas`: by number, what has been found; `kept`: what the reader of
    messages made of these."""

    url: str
    options: Mapping[str, str]
    source: Source | None = None
    schemas: dict[int, WrittenSchema] = field(default_factory=dict)
    kept: dict[int, Any] = field(default_factory=dict)
    _missing: dict[int, float] = field(default_factory=dict)
    _opener: OpenerDirector | None = None
    _numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def learn(self, numbers: Iterable[int], *, waits: bool) -> None:
        """Have in `schemas` what numbers name; of those that name nothing, it is without.

        Args:
            numbers: of schemas.
            waits: whether to try several times where the registry does not answer.

        Raises:
            RunError: the registry does not answer, or refuses, and it is not known from before.
        """
        for number in numbers:
            since = self._missing.get(number)
            if number in self.schemas:
                continue
            if since is not None and time.monotonic() - since < _AGAIN:
                continue
            found = self._find(number, waits=waits)
            if found is None:
                self._missing[number] = time.monotonic()
            else:
                self.schemas[number] = found

    def register(self, subject: str, kind: str, text: str) -> int:
        """The number of a schema, which is added to a subject if it is not there; once in a
        process.

        Raises:
            RunError: the registry does not answer, or does not take it, as it does not fit with
                those before.
        """
        key = subject, kind, text
        if key not in self._numbers:
            told = {"schema": text} if kind == "AVRO" else {"schema": text, "schemaType": kind}
            path = f"/subjects/{quote(subject, safe='')}/versions"
            found = self._ask(path, waits=True, body=json.dumps(told).encode())
            if found is None or not isinstance(found.get("id"), int):
                raise self._unasked(f"it gives no number to the schema of {subject}")
            self._numbers[key] = found["id"]
        return self._numbers[key]

    def probe(self) -> None:
        """Nothing, if it answers.

        Raises:
            RunError: it does not, or refuses.
        """
        self._ask("/schemas/types", waits=False)

    def _find(self, number: int, *, waits: bool) -> WrittenSchema | None:
        cache, key = open_cache(), [self.url, number]
        try:
            found = self._fetch(number, waits=waits)
        except RunError:
            known = None if cache is None else cache.read(_WHAT, key, _take)
            if known is None:
                raise
            return known
        if cache is not None and found is not None:
            cache.write(_WHAT, key, [found.kind, found.text, list(found.references)])
        return found

    def _fetch(self, number: int, *, waits: bool) -> WrittenSchema | None:
        found = self._ask(f"/schemas/ids/{number}", waits=waits)
        if found is None:
            return None
        texts: dict[tuple[str, int], str] = {}
        try:
            if not self._follow(found, texts, waits=waits):
                return None
            kind = found.get("schemaType") or "AVRO"
            return WrittenSchema(str(kind), str(found["schema"]), tuple(texts.values()))
        except (KeyError, TypeError, ValueError):
            raise self._unasked("what it answers is no schema") from None

    def _follow(
        self, found: Mapping[str, Any], texts: dict[tuple[str, int], str], *, waits: bool
    ) -> bool:
        """Add what a schema refers to: whether all is there."""
        for one in found.get("references") or ():
            place = str(one["subject"]), int(one["version"])
            if place in texts:
                continue
            subject, version = quote(place[0], safe=""), place[1]
            other = self._ask(f"/subjects/{subject}/versions/{version}", waits=waits)
            if other is None or not self._follow(other, texts, waits=waits):
                return False
            texts[place] = str(other["schema"])
        return True

    def _ask(
        self, path: str, *, waits: bool, body: bytes | None = None
    ) -> Mapping[str, Any] | None:
        """What it answers (None: that there is no such thing); `body`: what is sent to it.

        Raises:
            RunError: it does not answer, refuses, or is no registry.
        """
        for pause in (*(_PAUSES if waits else ()), None):
            try:
                with self._open().open(self._request(path, body), timeout=_TIMEOUT) as answer:
                    held = json.loads(answer.read())
                return held if isinstance(held, dict) else {}
            except HTTPError as error:
                with error:
                    if error.code == 404 and _says_unknown(error.read()):
                        return None
                    if error.code == 409:
                        said = "the schema does not fit with those before (409)"
                        raise self._unasked(said) from None
                said, passing = f"it answers {error.code} {error.reason}", error.code >= 429
            except ValueError:
                said, passing = "what it answers is no JSON", False
            except (OSError, HTTPException) as error:
                reason = getattr(error, "reason", error)
                said = str(getattr(reason, "strerror", None) or reason or "it breaks off")
                passing = not isinstance(reason, ssl.SSLCertVerificationError)
            if pause is None or not passing:
                break
            time.sleep(pause)
        raise self._unasked(said)

    def _unasked(self, said: str) -> RunError:
        return RunError(
            f"the schema registry {self.url} cannot be asked: {said}",
            why="what a message says is known by its schema, which the message names by a number",
            fix="start the registry, or correct registry; what is committed is "
            "intact, and a run goes on from there",
            source=self.source,
        )

    def _request(self, path: str, body: bytes | None) -> Request:
        headers = {"Accept": _ACCEPT, "User-Agent": "ontoweir"}
        if "user" in self.options:
            login = f"{self.options['user']}:{self.options.get('password', '')}"
            headers["Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
        if body is not None:
            headers["Content-Type"] = "application/vnd.schemaregistry.v1+json"
        return Request(f"{self.url}{path}", body, headers)

    def _open(self) -> OpenerDirector:
        if self._opener is None:
            self._opener = build_opener(_NoRedirect, HTTPSHandler(context=self._trust()))
        return self._opener

    def _trust(self) -> ssl.SSLContext:
        given = self.options
        context = ssl.create_default_context(cafile=given.get("ca"))
        if "certificate" in given:
            # without one, OpenSSL would ask at the terminal
            seal = given.get("key_password", "")
            context.load_cert_chain(given["certificate"], given.get("key"), lambda: seal)
        return context


class _NoRedirect(HTTPRedirectHandler):
    """A login is for the server that is named, and no other."""

    def redirect_request(self, *_: Any) -> None:
        """None: the redirection is the error that it is."""


_OPEN: dict[tuple[tuple[str, str], ...], SchemaRegistry] = {}


def open_registry(stream: Stream) -> SchemaRegistry:
    """The registry of a stream of Kafka's; of all streams with the same one, the same.

    Raises:
        CatalogError: an option names a variable of the environment that is not there.
        RunError: its certificates cannot be read.
    """
    options = resolve_options(dict(stream.data.registry), stream.source)
    return reach_registry(options, stream.name, stream.source)


def reach_registry(options: Mapping[str, str], name: str, source: Source | None) -> SchemaRegistry:
    """A registry, the same for the same options.

    Args:
        options: `url`, and those of a login and of TLS, without variables.
        name: of what it is for.
        source: where it is declared.

    Raises:
        RunError: its certificates cannot be read.
    """
    key = tuple(sorted(options.items()))
    if key not in _OPEN:
        made = SchemaRegistry(options["url"].rstrip("/"), options, source)
        try:
            made._open()
        except OSError as error:
            raise RunError(
                f"the certificates for the schema registry of {name} cannot be read: "
                f"{error.strerror or error}",
                why="ca, certificate and key name files of PEM, and key_password says the password "
                "of a key that has one",
                fix="correct the paths in registry, from the folder that ontoweir is started in, "
                "or the password",
                source=source,
            ) from error
        _OPEN[key] = made
    return _OPEN[key]


def _take(held: Any) -> WrittenSchema:
    kind, text, references = held
    return WrittenSchema(kind, text, tuple(references))


def _says_unknown(body: bytes) -> bool:
    try:
        held = json.loads(body)
    except ValueError:
        return False
    return isinstance(held, dict) and held.get("error_code") in _UNKNOWN
