"""Read how a stream's timestamps are written: format, zone, and the columns they are in."""

import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ontoweir.mappings.catalog.time_pattern import DIRECTIVES, EPOCHS, read_pattern
from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.mappings.model.read_table import TomlTable

_ISO = 2
"""So many columns make a time of ISO 8601, at most."""


def read_time_format(time: TomlTable, column: str) -> TimeFormat | None:
    """What `format`, `zone` and `from` say; None: timestamps are as their column holds them.

    Args:
        time: the table of the stream's timestamp.
        column: its name.

    Raises:
        CatalogError: one of them is wrong, with its line.
    """
    form, zone, columns = time.text("format"), time.text("zone"), time.texts("from")
    if form is None and zone is None and not columns:
        return None
    form = form or "iso"
    if "from" in time.values and not columns:
        raise time.error(
            "from",
            "from lists no columns",
            why="a timestamp is in one column, or its date in one and its time of day in another",
            fix='write from = ["date", "time"]',
        )
    if len(columns) > _ISO and form == "iso":
        raise time.error(
            "from",
            f"from lists {len(columns)} columns, and there is no format",
            why="ISO 8601 is a date, and a time of day; of more columns, with a blank between "
            "them, a format says what they are",
            fix='write e.g. format = "%Y %m %d %H", from = ["year", "month", "day", "hour"]',
        )
    if form in EPOCHS and (zone is not None or len(columns) > 1):
        raise time.error(
            "zone" if zone is not None else "from",
            f"{form} with {'a zone' if zone is not None else f'{len(columns)} columns'}",
            why="it is one number, counted from 1970-01-01T00:00:00Z",
            fix=f"remove {'zone' if zone is not None else 'all but one'}",
        )
    if form != "iso" and form not in EPOCHS:
        _check_pattern(time, form, zone)
    if zone is not None:
        _check_zone(time, zone)
    return TimeFormat(form, columns or (column,), zone)


def _check_pattern(time: TomlTable, form: str, zone: str | None) -> None:
    known = ", ".join(f"%{d}" for d in DIRECTIVES)
    if "%" not in form:
        raise time.error(
            "format",
            f"the format {form!r} is none of timestamps",
            why=f"formats are iso, {', '.join(EPOCHS)}, or a pattern of {known}",
            fix='write e.g. "%d/%m/%Y %H:%M:%S"',
        )
    try:
        fields = read_pattern(form).fields
    except ValueError as error:
        raise time.error(
            "format",
            f"the format {form!r} {error}",
            why=f"a pattern is made of text and {known}",
            fix='write e.g. "%d/%m/%Y %H:%M:%S"',
        ) from None
    if zone is not None and "z" in fields:
        raise time.error(
            "zone",
            "a zone, and %z in the format",
            why="every timestamp then says its own distance from UTC",
            fix="remove zone",
        )


def _check_zone(time: TomlTable, zone: str) -> None:
    try:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_+\-/]*", zone):
            raise ZoneInfoNotFoundError
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise time.error(
            "zone",
            f"there is no time zone {zone!r}",
            why="zones are those of the IANA database",
            fix='write e.g. "Europe/Copenhagen" or "UTC"',
        ) from None
