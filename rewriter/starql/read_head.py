"""What stands around the conditions of STARQL: pulses, streams and their windows."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.rsp.read_head import Reader
from ontoweir.rewriter.rsp.read_range import read_length
from ontoweir.rewriter.rsp.stream_part import StreamPart
from ontoweir.rewriter.rsp.window import refuse

_ZONES = {"Z": "+00:00", "UTC": "+00:00", "GMT": "+00:00", "CET": "+01:00", "CEST": "+02:00"}
_LENGTH = r"(\w+|\"\w[\w.]*\"(?:\^\^\S+?)?)"
_WINDOW = re.compile(
    rf"\[\s*NOW(?:\s*-\s*{_LENGTH})?\s*,\s*NOW(?:\s*-\s*{_LENGTH})?\s*\]", re.IGNORECASE
)


class StarqlReader(Reader):
    """The tokens of a query of STARQL."""

    def unexpected(self, wanted: str) -> QueryError:
        return refuse(
            f"{self.token.text!r} where {wanted} is expected",
            "the query is not STARQL here",
            "docs/starql.md has a query with all that is read",
            self.place(),
        )

    def need_text(self, text: str) -> None:
        """Take a sign.

        Raises:
            QueryError: another one is next.
        """
        if self.token.text != text:
            raise self.unexpected(text)
        self.take()

    def skip_literal(self) -> str:
        """The text of a string, whose datatype is passed over, or of a word."""
        token = self.take()
        if self.at < len(self.tokens.tokens) and self.token.text == "^^":
            self.take()
            self.take()
        return token.text.strip("\"'")


@dataclass(frozen=True, slots=True)
class Pulse:
    """When a query is asked: every `every_us`, counted from `start`, (None: from 1970 on); `ends`:
    it begins, or ends, at a time."""

    every_us: int
    start: datetime | None
    ends: bool
    place: Source


@dataclass(frozen=True, slots=True)
class StateWindow:
    """The states of a stream not earlier than `begin_us` before the last slide, and not later than
    `end_us` before it."""

    part: StreamPart
    begin_us: int
    end_us: int
    slide_us: int
    place: Source


def read_pulse(reader: StarqlReader) -> tuple[str, Pulse]:
    """What follows CREATE PULSE: its name, and `WITH START = …, END = …, FREQUENCY = …`.

    Raises:
        QueryError: it has no FREQUENCY, or what is not read.
    """
    place = reader.place()
    name = reader.take().text
    reader.need("WITH")
    every: int | None = None
    start: datetime | None = None
    ends = False
    while True:
        here = reader.place()
        word = reader.need("START", "END", "FREQUENCY").text.upper()
        reader.need_text("=")
        text = reader.skip_literal()
        if word == "FREQUENCY":
            every = _read_length(text, here)
        elif text.upper() != "NOW":
            time = _read_time(text, here)
            start, ends = (time if word == "START" else start), True
        if reader.token.text != ",":
            break
        reader.take()
    if every is None:
        raise refuse(
            f"the pulse {name} without FREQUENCY",
            "it says when the query is asked",
            'write FREQUENCY = "PT1M"^^xsd:duration',
            place,
        )
    return name, Pulse(every, start, ends, place)


def read_window(reader: StarqlReader) -> StateWindow:
    """`s [ NOW - d, NOW ] -> slide`.

    Raises:
        QueryError: it is not written so, or the stream is not known.
    """
    place = reader.place()
    if reader.token.kind == "word":
        part = reader.known.name_stream(reader.take().text, place)
    else:
        part = reader.known.find_stream(reader.read_iri(), place)
    first = reader.token
    if first.text != "[":
        raise reader.unexpected("[NOW - d, NOW] -> slide")
    here = reader.place()
    while reader.take().text != "]":
        pass
    last = reader.tokens.tokens[reader.at - 1]
    text = reader.tokens.text[first.offset : last.offset + 1]
    found = _WINDOW.fullmatch(text)
    if found is None:
        raise refuse(
            f"a window {text}",
            "windows are [NOW - d, NOW], or [NOW - d, NOW - e]",
            'write [NOW - "PT10M"^^xsd:duration, NOW]',
            here,
        )
    begin, end = (0 if d is None else _read_length(d, here) for d in found.groups())
    if begin < end:
        raise refuse(
            f"a window {text} that is empty", "it begins later than it ends", "turn it", here
        )
    reader.need_text("-")
    reader.need_text(">")
    here = reader.place()
    slide = _read_length(reader.skip_literal(), here)
    return StateWindow(part, begin, end, slide, place)


def _read_length(text: str, place: Source) -> int:
    length = read_length(text)
    if length:
        return length
    raise refuse(
        f"{text} as a length of time",
        "it is a positive duration of days, hours, minutes and seconds",
        'write "PT1M"^^xsd:duration',
        place,
    )


def _read_time(text: str, place: Source) -> datetime:
    stem = text.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    zone = text[len(stem) :]
    try:
        made = datetime.fromisoformat(stem + _ZONES[zone] if zone else stem)
    except (KeyError, ValueError):
        raise refuse(
            f"{text} as a time",
            "it is an xsd:dateTime",
            'write "2026-01-01T00:00:00Z"^^xsd:dateTime',
            place,
        ) from None
    return made.astimezone(UTC) if made.tzinfo is not None else made.replace(tzinfo=UTC)
