"""What stands in the brackets of a window: `[RANGE PT10M STEP PT1M]`."""

import re
from typing import NamedTuple

from ontoweir.errors import Source
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.rewriter.rsp.window import refuse

_UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_PLAIN = re.compile(r"(\d+)\s*(ms|s|m|h|d)", re.IGNORECASE)
_LENGTH = r"([\w.]+|\"[\w.]+\"(?:\^\^\S+)?)"
_RANGE = re.compile(
    rf"\[\s*RANGE\s+{_LENGTH}\s*(?:(?:STEP|SLIDE)\s+{_LENGTH}|(TUMBLING))?\s*\]", re.IGNORECASE
)
_FROM = re.compile(
    rf"\[\s*FROM\s+NOW\s*-\s*{_LENGTH}\s+TO\s+NOW(?:\s*-\s*{_LENGTH})?"
    rf"\s*(?:(?:STEP|SLIDE)\s+{_LENGTH})?\s*\]",
    re.IGNORECASE,
)


class Range(NamedTuple):
    """From which time before now, to which, and in which steps; in µs."""

    begin_us: int
    end_us: int
    step_us: int | None


def read_range(text: str, source: Source) -> Range:
    """A window's brackets.

    Raises:
        QueryError: it is of a number of triples, or is not read.
    """
    if (found := _RANGE.fullmatch(text)) is not None:
        length, step, tumbling = found.groups()
        begin = _read(length, source)
        return Range(begin, 0, begin if tumbling else _read(step, source) if step else None)
    if (found := _FROM.fullmatch(text)) is not None:
        first, last, step = found.groups()
        begin, end = _read(first, source), _read(last, source) if last else 0
        if begin > end:
            return Range(begin, end, _read(step, source) if step else None)
        raise refuse(
            f"a window {text} that is empty",
            "it begins when it ends, or later",
            "write the earlier time first",
            source,
        )
    if re.match(r"\[\s*(?:ROWS|TRIPLES|ELEMENTS)\b", text, re.IGNORECASE):
        raise refuse(
            f"a window of a number of rows, {text}",
            "which rows are in it depends on the order in which rows of one timestamp come, which "
            "is none",
            "write a window of time, [RANGE PT10M STEP PT1M]",
            source,
        )
    raise refuse(
        f"a window {text}",
        "windows are [RANGE d], [RANGE d STEP d], [RANGE d TUMBLING] and [FROM NOW-d TO NOW-d "
        "STEP d]",
        "write one of them, with durations such as PT10M or 10m",
        source,
    )


def read_length(text: str) -> int | None:
    """A duration in µs (None: it is none, or of months, which are not equally long)."""
    text = text.split("^^")[0].strip('"')
    if (plain := _PLAIN.fullmatch(text)) is not None:
        return int(plain[1]) * _UNITS[plain[2].lower()]
    length = parse_duration(text.upper()) if text[:1] in "Pp" else None
    return length if length is None or length > 0 else None


def _read(text: str, source: Source) -> int:
    length = read_length(text)
    if length:
        return length
    raise refuse(
        f"{text} as the length of a window, or of its step",
        "it is a positive duration of days, hours, minutes and seconds",
        "write PT10M, or 10m",
        source,
    )
