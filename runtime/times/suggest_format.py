"""The format in which timestamps seem to be written."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.runtime.times.read_times import read_times

_DAYS = (
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%Y/%m/%d",
    "%Y%m%d",
    "%Y-%m-%d",
    "%d %b %Y",
    "%b %d %Y",
    "%b %d, %Y",
)
_CLOCKS = (" %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p", "T%H:%M:%S", "")
_DAY_FIRST, _MONTH_FIRST = "%d/%m/", "%m/%d/"
_RECENT_S = (100_000_000, 100_000_000_000)
"""Numbers of seconds since 1970 lie between these, in the years 1973 to 5138."""


def suggest_format(texts: Sequence[str]) -> str | None:
    """The first format by which all texts are timestamps (None: none is known); where day and month
    may each come first, the one by which they lie closer together.

    >>> suggest_format(["1767225600", "1767225601.5"])
    'epoch_s'
    >>> suggest_format(["01/02/2026 13:00:05"])
    '%d/%m/%Y %H:%M:%S'
    >>> suggest_format(["01/02/2026 13:00", "01/03/2026 13:00"])
    '%m/%d/%Y %H:%M'
    """
    if not texts:
        return None
    column = pa.chunked_array([pa.array(list(texts))])
    for form in ("epoch_s", "epoch_ms"):
        times, wrong = read_times([column], TimeFormat(form, ("",)))
        low, high = (n * 1_000_000 for n in _RECENT_S)
        if wrong is None and all(low <= t.as_py() < high for t in times):
            return form
    for form in (day + clock for day in _DAYS for clock in _CLOCKS):
        if (span := _measure(column, form)) is None:
            continue
        if not form.startswith(_DAY_FIRST):
            return form
        other = form.replace(_DAY_FIRST, _MONTH_FIRST)
        turned = _measure(column, other)
        return other if turned is not None and turned < span else form
    return None


def _measure(column: pa.ChunkedArray, form: str) -> int | None:
    """From the first to the last time, in µs (None: not all are written so)."""
    times, wrong = read_times([column], TimeFormat(form, ("",)))
    if wrong is not None:
        return None
    ends = pc.min_max(times)
    return int(ends["max"].as_py() - ends["min"].as_py())
