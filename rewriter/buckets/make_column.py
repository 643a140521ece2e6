"""The column that says in which bucket of time a row lies."""

from ontoweir.mappings.model.catalog import Column, TimestampType
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.mappings.model.time_bucket import (
    ALL_TIME,
    CalendarBuckets,
    FixedBuckets,
    Moments,
    MonthsLater,
    TimeBucket,
)

_START = "time by "
_MOMENT = "time of the row"
_GROWS = "up to "
ENDS = "end of "
"""The names of columns that say where a bucket ends begin so."""


def make_column(bucket: TimeBucket) -> Column:
    """The column, named after what it is, whatever the stream: `time by 5 minutes`, `end of time by
    month (UTC)`, `time of the row + 10 seconds`, `time by 1 day, 1 hour before`."""
    match bucket.buckets:
        case FixedBuckets() if bucket.buckets == ALL_TIME:
            text = f"{_START}all time"
        case FixedBuckets(width_us=width, origin_us=origin):
            after = f" from {show_duration(origin)}" if origin else ""
            text = f"{_START}{show_duration(width)}{after}"
        case CalendarBuckets(unit=unit, zone=zone):
            text = f"{_START}{unit} ({zone})"
        case Moments(after_us=after_us):
            text = f"{_MOMENT} + {show_duration(after_us)}" if after_us else _MOMENT
        case MonthsLater(months=months, grid=grid):
            later = f"{months} {'month' if months == 1 else 'months'}"
            text = f"{_START}{grid.unit}, {later} later"
    if (sliding := bucket.sliding) is not None:
        size, slide = show_duration(sliding.size_us), show_duration(sliding.slide_us)
        after = f" from {show_duration(sliding.origin_us)}" if sliding.origin_us else ""
        grows = _GROWS if sliding.grows else ""
        text = f"{_START}{grows}{size} every {slide}{after}"
    if bucket.behind_us:
        text = f"{text}, {_behind(bucket.behind_us)}"
    return Column(ENDS + text if bucket.ends else text, TimestampType(), bucket=bucket)


NEVER = make_column(TimeBucket(ALL_TIME, ends=True))
"""When the rows of a window without an end would leave it."""


def _behind(us: int) -> str:
    return f"{show_duration(abs(us))} {'before' if us > 0 else 'after'}"


def is_growing(name: str) -> bool:
    """Whether a column's name is one that `make_column` gives where buckets grow."""
    return name.removeprefix(ENDS).startswith(_START + _GROWS)


def is_bucket(name: str) -> bool:
    """Whether a column's name is one that `make_column` gives."""
    return name.removeprefix(ENDS).startswith((_START, _MOMENT))
