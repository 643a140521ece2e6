"""Columns that tell time in a way that is not read: which, and what to write instead."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from ontoweir.mappings.model.catalog import FloatType, IntType, StringType
from ontoweir.scaffold.read_sample import Sample

_DAYS = (
    (693_596, 767_009, 0, "since the year 1"),
    (18_264, 73_415, 693_594, "since 1899-12-30, as spreadsheets do"),
)
"""Counts of days of the years 1900, or 1950, to 2100: from, to, and the day 0, counted since the
year 1, whose first day is 1."""
_YEARS = (1500, 2200)
_DAY_NAME = re.compile(r"day|date|datum|time|ordinal|serial", re.I)
_YEAR_NAME = re.compile(r"year|yr|jahr|annee|anno", re.I)
_PARTS, _SURE, _SHOWN = 3, 0.9, 60
"""So many words at least are in a row of a log; in so many of its rows there are as many; so much
of one is shown."""
_WRITE = "write them as ISO 8601, as in 2026-03-01T13:00:00Z, or as numbers since 1970"
_ROWS = 2
"""So many rows say whether times go on."""
_ELAPSED = re.compile(r"-?(?:[0-9]+ days?,? )[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?")


def _is_called_time(name: str) -> bool:
    return name.lower() == "ts" or _DAY_NAME.search(name) is not None


def _is_unknown(values: Sequence[object]) -> bool:
    """Whether texts with digits are written in no way that is read."""
    import pyarrow as pa

    from ontoweir.runtime.columnar.decode_times import decode_times
    from ontoweir.runtime.times.suggest_format import suggest_format

    texts = [str(v) for v in values]
    if not all(any(c.isdigit() for c in text) for text in texts) or suggest_format(texts):
        return False
    _, timed = decode_times(pa.chunked_array([pa.array(texts, pa.string())]))
    return not timed.any()


def find_other_times(samples: Sequence[Sample]) -> tuple[str, str] | None:
    """Why a column that seems to tell time is not taken for one, and what to write (None: there is
    no such column): years with a fraction of zero, days that are counted, times since a beginning
    that is not said, and texts that are written otherwise. Or a table whose rows are one text each,
    as logs are; or that all have one row, at most."""
    few = [f"{s.name} has {'one row' if s.rows.num_rows else 'no rows'}" for s in samples]
    if all(sample.rows.num_rows < _ROWS for sample in samples):
        return ", ".join(few), "name a file with more: that times go on is seen in several rows"
    for sample in samples:
        if (told := _tell_text(sample)) is not None:
            return told
        for name, kind in sample.types:
            column = f"{sample.name}.{name}"
            values = [v for v in sample.rows.column(name).to_pylist() if v is not None]
            if not values:
                continue
            match kind:
                case FloatType() | IntType() if isinstance(values[0], int | float):
                    found = _tell_number(column, name, [float(v) for v in values])
                case StringType() if all(_ELAPSED.fullmatch(str(v)) for v in values):
                    since = f"times since a beginning, such as {str(values[0])!r}"
                    found = (
                        f"{column} has {since}, and no row says when that was",
                        "add the time of the beginning to them, and write times of ISO 8601",
                    )
                case StringType() if _is_called_time(name) and _is_unknown(values):
                    texts = f"texts such as {str(values[0])!r}, written like no time that is read"
                    found = (f"{column} has {texts}", _WRITE)
                case _:
                    found = None
            if found is not None:
                return found
    return None


def _tell_text(sample: Sample) -> tuple[str, str] | None:
    """The same of text whose rows are one cell each (None: they are more)."""
    if sample.format != "csv" or [type(kind) for _, kind in sample.types] != [StringType]:
        return None
    rows = [str(v).split() for v in sample.rows.column(0).to_pylist() if v is not None]
    widths = Counter(map(len, rows))
    width, often = next(iter(widths.most_common(1)), (0, 0))
    if width < _PARTS:
        return None
    shown = " ".join(rows[0])
    why = f"each row of {sample.name} is one text, such as {shown[:_SHOWN]!r}"
    if often < _SURE * len(rows):
        return why, "write it as CSV or JSON lines, with a column for the time"
    names = ",".join(["day", "clock", *(f"c{n}" for n in range(3, width + 1))][:width])
    return why, f"if blanks part its cells, name all {width} of them: --names {names}"


def _tell_number(column: str, name: str, values: list[float]) -> tuple[str, str] | None:
    if any(not v.is_integer() for v in values):
        return None
    least, most = min(values), max(values)
    if _YEARS[0] <= least and most <= _YEARS[1] and _YEAR_NAME.search(name):
        return (
            f"{column} has years written as {values[0]}, where years are whole numbers",
            f"write {values[0]:.0f}",
        )
    forward = sum(a <= b for a, b in pairwise(values)) >= 0.9 * (len(values) - 1)
    for first, last, zero, said in _DAYS:
        if first <= least and most <= last and forward and _DAY_NAME.search(name):
            shown = date.fromordinal(int(values[0]) + zero).isoformat()
            return (
                f"{column} seems to count days {said}: {values[0]:.0f} would be {shown}",
                f"write dates, as in {shown}",
            )
    return None
