"""Read a moment of application time: a time, a date, or either as text."""

from datetime import UTC, date, datetime, time

from ontoweir.errors import UsageError


def read_moment(given: "datetime | date | str | None", name: str) -> datetime | None:
    """The moment; without a zone it is UTC, and a date means its midnight.

    >>> read_moment("2014-08-04", "start").isoformat()
    '2014-08-04T00:00:00+00:00'

    Args:
        given: a time, a date, either in ISO 8601, or None.
        name: of the option or parameter, for the message.

    Raises:
        UsageError: one is not a time.
    """
    match given:
        case None:
            return None
        case str():
            try:
                moment = datetime.fromisoformat(given.strip())
            except ValueError:
                raise _wrong(given, name, "times are read in ISO 8601") from None
        case datetime():
            moment = given
        case date():
            moment = datetime.combine(given, time())
        case _:
            raise _wrong(given, name, "it is no text, date or datetime")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def check_span(start: datetime | None, stop: datetime | None, first: str, last: str) -> None:
    """Raise UsageError if a span is empty; `first`, `last`: the names of its ends."""
    if start is not None and stop is not None and start >= stop:
        raise UsageError(
            f"{first} {start.isoformat()} is not before {last} {stop.isoformat()}",
            why=f"the replay starts at {first} and ends before {last}",
            fix="exchange them, or leave one out",
        )


def _wrong(given: object, name: str, why: str) -> UsageError:
    return UsageError(
        f"{name} {given!r} is not a time", why=why, fix="write it like 2014-08-04T06:00:00"
    )
