"""How long the buckets of time of a query are."""

from ontoweir.mappings.model.catalog import DateType, TimestampType
from ontoweir.mappings.model.expression import Call, Field, Function
from ontoweir.mappings.model.time_bucket import (
    ALL_TIME,
    DAY_US,
    CalendarBuckets,
    FixedBuckets,
    TimeBucket,
)


def find_width(part: object) -> int | None:
    """How long the buckets of time are that a part of a query is of, if all are equally long, and
    a day of dates of times (µs; None: it is of none, or they are not)."""
    match part:
        case TimeBucket(buckets=FixedBuckets() | CalendarBuckets() as buckets, sliding=None) if (
            buckets != ALL_TIME and buckets.even is not None
        ):
            return buckets.even.width_us
        case Call(
            function=Function.CAST | Function.TRY_CAST,
            arguments=(Field(type=TimestampType()),),
            type=DateType(),
        ):
            return DAY_US
        case _:
            return None
