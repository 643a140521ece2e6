"""Buckets of time, by the literals of a call of SPARQL."""

import re
from zoneinfo import ZoneInfo

from ontoweir.mappings.model.column_types import XSD, epoch_us, parse_instant
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.model.time_bucket import CalendarBuckets, CalendarUnit, FixedBuckets
from ontoweir.rewriter.model.query import Literal

_CALENDAR: dict[str, CalendarUnit] = {"P1M": "month", "P3M": "quarter", "P1Y": "year"}
_IN_ZONE: dict[str, CalendarUnit] = {"P1D": "day", "P7D": "week", "P1W": "week", **_CALENDAR}


def read_width(width: object, more: object) -> FixedBuckets | CalendarBuckets | None:
    """Buckets of a width, in a time zone or from a time; None: there are none."""
    if not isinstance(width, Literal) or (more is not None and not isinstance(more, Literal)):
        return None
    if more is not None and more.datatype not in (f"{XSD}dateTime", f"{XSD}date"):
        unit = _IN_ZONE.get(width.lexical)
        return CalendarBuckets(unit, more.lexical) if unit and _is_zone(more.lexical) else None
    if width.lexical in _CALENDAR:
        return None if more is not None else CalendarBuckets(_CALENDAR[width.lexical])
    duration = parse_duration(width.lexical) if re.match("P", width.lexical) else None
    if duration is None or duration <= 0:
        return None
    try:
        origin = 0 if more is None else epoch_us(parse_instant(more.lexical))
    except ValueError:
        return None
    return FixedBuckets(duration, origin % duration)


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True
