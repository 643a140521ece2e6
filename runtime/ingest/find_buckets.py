"""In which bucket of time each row lies."""

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, Moments, TimeBucket
from ontoweir.runtime.columnar.frame import Array


def find_buckets(bucket: TimeBucket, times: Array) -> "pa.ChunkedArray":
    """A column of timestamps: where the bucket of each time begins, or ends.

    Args:
        bucket: the buckets.
        times: int64, µs since 1970, in order.
    """
    times = times - bucket.behind_us if bucket.behind_us else times
    match bucket.buckets:
        case FixedBuckets(width_us=width, origin_us=origin):
            made = (times - origin) // width * width + (origin + width * bucket.ends)
        case CalendarBuckets():
            edges = [bucket.buckets.start(int(times[0]))] if len(times) else [0]
            while len(times) and edges[-1] <= times[-1]:
                edges.append(bucket.buckets.end(edges[-1]))
            place = np.searchsorted(np.array(edges), times, side="right") - 1
            made = np.array(edges, dtype=np.int64)[place + bucket.ends]
        case Moments(after_us=after_us):
            made = times + after_us
    return pa.chunked_array([pa.array(made, pa.timestamp("us", "UTC"))])
