"""Durations: `5 minutes`, `PT5M`, in exact microseconds."""

import re
from decimal import Decimal

UNITS_US = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
LONGEST_US = 10_000 * 366 * UNITS_US["day"]
"""No duration is longer."""
_ISO = re.compile(
    r"(?P<sign>-)?P(?:(?P<day>\d+)D)?"
    r"(?:T(?:(?P<hour>\d+)H)?(?:(?P<minute>\d+)M)?(?:(?P<second>\d+(?:\.\d+)?)S)?)?"
)
_WORDS = re.compile(r"(?:(?P<number>\d+(?:\.\d+)?)\s*)?(?P<unit>[A-Za-z]+)")


def parse_duration(text: str) -> int | None:
    """Microseconds of a duration, or None when `text` is not an exact duration, or one of more than
    ten thousand years: no two timestamps are so far apart, and 64 bits hold the sum of any others.

    >>> parse_duration("5 minutes"), parse_duration("PT5M"), parse_duration("hour")
    (300000000, 300000000, 3600000000)
    """
    text = text.strip()
    if (iso := _ISO.fullmatch(text)) is not None:
        parts = {u: iso[u] for u in ("day", "hour", "minute", "second") if iso[u] is not None}
        if not parts:
            return None
        total = sum((Decimal(n) * UNITS_US[u] for u, n in parts.items()), Decimal(0))
        return _whole(-total if iso["sign"] else total)
    words = _WORDS.fullmatch(text)
    if words is None:
        return None
    name = words["unit"].lower()
    unit = UNITS_US.get(name) or UNITS_US.get(name.removesuffix("s"))
    return None if unit is None else _whole(Decimal(words["number"] or 1) * unit)


def _whole(number: Decimal) -> int | None:
    whole = number == number.to_integral_value() and abs(number) <= LONGEST_US
    return int(number) if whole else None


def show_duration(microseconds: int) -> str:
    """A duration in words.

    >>> show_duration(5_400_000_000), show_duration(3_600_000_000)
    ('90 minutes', '1 hour')
    """
    if not microseconds:
        return "0 seconds"
    unit = next(u for u in reversed(UNITS_US) if microseconds % UNITS_US[u] == 0)
    count = microseconds // UNITS_US[unit]
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
