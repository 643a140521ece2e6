"""The format in which timestamps seem to be written."""

from collections.abc import Sequence

import pyarrow as pa

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
_RECENT_S = (100_000_000, 100_000_000_000)
"""Numbers of seconds since 1970 lie between these, in the years 1973 to 5138."""


def suggest_format(texts: Sequence[str]) -> str | None:
    """The first format by which all texts are timestamps (None: none is known).

    >>> suggest_format(["1767225600", "1767225601.5"])
    'epoch_s'
    >>> suggest_format(["01/02/2026 13:00:05"])
    '%d/%m/%Y %H:%M:%S'
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
        if read_times([column], TimeFormat(form, ("",)))[1] is None:
            return form
    return None
