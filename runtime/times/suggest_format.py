"""The format in which timestamps seem to be written."""

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.catalog.time_pattern import EPOCHS, read_pattern
from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.runtime.times.read_times import read_times

_DAYS = (
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %m %Y",
    "%Y %m %d",
    "%Y/%m/%d",
    "%Y%m%d",
    "%Y-%m-%d",
    "%d %b %Y",
    "%b %d %Y",
    "%b %d, %Y",
    "%d-%b-%Y",
    "%d/%b/%Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    "%d-%b-%y",
    "%a, %d %b %Y",
)
_CLOCKS = (
    *(" %H:%M:%S", " %H:%M", " %H:%M:%S.%f", "T%H:%M:%S", "T%H%M%S", ""),
    *(" %I:%M:%S %p", " %I:%M %p", " %I:%M:%S.%f %p"),
)
_ZONED = ("T%H%M%S%z", " %H:%M:%S %z", " %H:%M:%S%z", " %H:%M:%S.%f %z", " %H:%M %z")
_OTHERS = (
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %Y %z",
    "%d/%b/%Y:%H:%M:%S %z",
    "%Y-%m",
    "%Y/%m",
    "%m/%Y",
    "%Y-%b",
    "%b-%Y",
    "%b %Y",
    "%B %Y",
    "%Y %b",
)
"""As C's library, git and web servers write times; and months."""
_SOME = 20
"""So many texts tell most formats apart."""
_TURNED = tuple((f"%d{mark}%m{mark}", f"%m{mark}%d{mark}") for mark in "/- ")
"""How days and months are written the other way round."""
_HALVES = "%p"
_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:")
_DIGITS = tuple(
    (form, re.compile(f"(19|20|21)[0-9]{{2}}[01][0-9][0-3][0-9][0-2][0-9][0-5][0-9]{more}"))
    for form, more in (("%Y%m%d%H%M%S", "[0-5][0-9]"), ("%Y%m%d%H%M", ""))
)
"""Digits of a day and a time of day, which are no numbers since 1970."""
_RECENT_S = (100_000_000, 100_000_000_000)
"""Numbers of seconds since 1970 lie between these, in the years 1973 to 5138."""


def suggest_format(texts: Sequence[str]) -> str | None:
    """The first format by which all texts are timestamps (None: none is known); where day and month
    may each come first, the one by which they lie closer together; else by halves of days, as
    these and months that come first are written in America.

    >>> suggest_format(["1767225600", "1767225601.5"])
    'epoch_s'
    >>> suggest_format(["1767225600000123"]), suggest_format(["1767225600000000123"])
    ('epoch_us', 'epoch_ns')
    >>> suggest_format(["20260301130005"]), suggest_format(["202603011300"])
    ('%Y%m%d%H%M%S', '%Y%m%d%H%M')
    >>> suggest_format(["20260301T130005Z"]), suggest_format(["20260301T130005"])
    ('%Y%m%dT%H%M%S%z', '%Y%m%dT%H%M%S')
    >>> suggest_format(["01/02/2026 13:00:05"])
    '%d/%m/%Y %H:%M:%S'
    >>> suggest_format(["01/02/2026 13:00", "01/03/2026 13:00"])
    '%m/%d/%Y %H:%M'
    >>> suggest_format(["2026-02-01T13:00Z"])
    'iso'
    >>> suggest_format(["01/02/2026 01:00 PM"])
    '%m/%d/%Y %I:%M %p'
    >>> suggest_format(["01/02/2026 01:00:02.250 PM"])
    '%m/%d/%Y %I:%M:%S.%f %p'
    >>> suggest_format(["01 02 2026 00:10", "02 02 2026 00:20"]), suggest_format(["01-15-2026"])
    ('%d %m %Y %H:%M', '%m-%d-%Y')
    >>> suggest_format(["Sun, 06 Nov 1994 08:49:37 GMT"]), suggest_format(["1977-Jan"])
    ('%a, %d %b %Y %H:%M:%S %z', '%Y-%b')
    """
    if not texts:
        return None
    column = pa.chunked_array([pa.array(list(texts))])
    if all(_DATED.match(text) for text in texts) and _measure(column, "iso") is not None:
        return "iso"
    for form, digits in _DIGITS:
        if all(map(digits.fullmatch, texts)) and _measure(column, form) is not None:
            return form
    for form in EPOCHS:
        times, wrong = read_times([column], TimeFormat(form, ("",)))
        low, high = (n * 1_000_000 for n in _RECENT_S)
        if wrong is None and all(low <= t.as_py() < high for t in times):
            return form
    some = [text.strip() for text in texts[:_SOME]]
    for form in _list_forms():
        regex = read_pattern(form).regex
        if not all(re.search(regex, text) for text in some):
            continue
        if (span := _measure(column, form)) is None:
            continue
        other = next((form.replace(*t) for t in _TURNED if form.startswith(t[0])), None)
        if other is None:
            return form
        turned = _measure(column, other)
        first = turned is not None and (turned < span or (turned == span and _HALVES in form))
        return other if first else form
    return None


def _list_forms() -> Iterator[str]:
    yield from (day + clock for day in _DAYS for clock in (*_CLOCKS, *_ZONED))
    yield from _OTHERS


def find_turned(texts: Sequence[str], form: str) -> str | None:
    """The format by which the texts are times, too, that lie as close together: day and month are
    the other way round (None: there is none).

    >>> find_turned(["01/02/2026 13:00", "01/02/2026 13:05"], "%d/%m/%Y %H:%M")
    '%m/%d/%Y %H:%M'
    """
    column = pa.chunked_array([pa.array(list(texts))])
    for one, other in (*_TURNED, *((b, a) for a, b in _TURNED)):
        if form.startswith(one):
            turned = form.replace(one, other)
            return turned if _measure(column, turned) == _measure(column, form) else None
    return None


def _measure(column: pa.ChunkedArray, form: str) -> int | None:
    """From the first to the last time, in µs (None: not all are written so)."""
    times, wrong = read_times([column], TimeFormat(form, ("",)))
    if wrong is not None:
        return None
    ends = pc.min_max(times)
    return int(ends["max"].as_py() - ends["min"].as_py())
