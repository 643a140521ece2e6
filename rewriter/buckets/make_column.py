"""The column of a stream that says in which bucket of time a row lies."""

from ontoweir.mappings.model.catalog import Column, Stream, TimestampType
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, TimeBucket

ENDS = "end of "
"""The names of columns that say where a bucket ends begin so."""


def make_column(stream: Stream, bucket: TimeBucket) -> Column:
    """The column, named after what it is, e.g. `ts by 5 minutes`, `end of ts by month (UTC)`."""
    match bucket.buckets:
        case FixedBuckets(width_us=width, origin_us=origin):
            after = f" from {show_duration(origin)}" if origin else ""
            text = f"{stream.timestamp} by {show_duration(width)}{after}"
        case CalendarBuckets(unit=unit, zone=zone):
            text = f"{stream.timestamp} by {unit} ({zone})"
    return Column(ENDS + text if bucket.ends else text, TimestampType(), bucket=bucket)
