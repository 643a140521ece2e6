"""Points in InfluxDB's line protocol."""

import re
from collections.abc import Iterator
from pathlib import Path

from ontoweir.errors import DataError, Source
from ontoweir.scaffold.texts.points import Point, Value

_LINE = re.compile(
    r"(?P<series>(?:[^\\, ]|\\.)+)(?P<tags>(?:,(?:[^\\, =]|\\.)+=(?:[^\\, =]|\\.)+)*)"
    r" +(?P<fields>(?:[^\\\" ]|\\.|\"(?:[^\"\\]|\\.)*\")+)(?: +(?P<time>-?[0-9]+))?\s*"
)
_TAG = re.compile(r",((?:[^\\, =]|\\.)+)=((?:[^\\, =]|\\.)+)")
_FIELD = re.compile(r"((?:[^\\, =]|\\.)+)=(\"(?:[^\"\\]|\\.)*\"|[^,]+)(?:,|$)")
_TRUE, _FALSE = {"t", "T", "true", "True", "TRUE"}, {"f", "F", "false", "False", "FALSE"}
_NS_OF_DIGITS = ((17, 1), (14, 1_000), (11, 1_000_000), (0, 1_000_000_000))
"""Of so many digits or more, the times of this century are in so many nanoseconds."""


def read_line_protocol(file: Path) -> Iterator[Point]:
    """The points of a file; times are in the unit that puts them into this century.

    Raises:
        DataError: a line is written otherwise, or has no time.
    """
    with file.open(encoding="utf-8", errors="replace") as opened:
        for number, line in enumerate(opened, 1):
            if not line.strip() or line.startswith("#"):
                continue
            found = _LINE.fullmatch(line)
            if found is None or found["time"] is None:
                raise DataError(
                    f"the line is no point: {line.strip()[:60]}",
                    why="a point of the line protocol is SERIES,TAG=VALUE FIELD=VALUE TIME",
                    fix="correct the line, or write its time",
                    source=Source(str(file), number),
                )
            values: dict[str, Value] = {
                _plain(name): _plain(text) for name, text in _TAG.findall(found["tags"])
            }
            for name, text in _FIELD.findall(found["fields"]):
                values[_plain(name)] = _read_field(text)
            yield Point(_plain(found["series"]), _read_time(found["time"]), values)


def _read_time(text: str) -> int:
    unit = next(ns for digits, ns in _NS_OF_DIGITS if len(text.lstrip("-")) >= digits)
    return int(text) * unit // 1_000


def _read_field(text: str) -> Value:
    if text.startswith('"'):
        return re.sub(r'\\(["\\])', r"\1", text[1:-1])
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    return int(text[:-1]) if text[-1] in "iu" else float(text)


def _plain(text: str) -> str:
    return re.sub(r"\\([,= \\])", r"\1", text)


def is_line_protocol(head: str) -> bool:
    """Whether the first lines of a file are points."""
    lines = [n for n in head.splitlines()[:20] if n.strip() and not n.startswith("#")]
    return bool(lines) and all((m := _LINE.fullmatch(n)) and "=" in m["fields"] for n in lines)
