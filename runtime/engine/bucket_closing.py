"""When the groups of a bucket of time are final."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.runtime.columnar.frame import Array


@dataclass(frozen=True, slots=True)
class BucketClosing:
    """When groups are final.

    Args:
        variable: the group's column with the bucket.
        bucket: what it holds.
        wait_us: how long after the end of a bucket matches of its tuples may still come.
        step_us: the unit of the streams' timestamps.
    """

    variable: str
    bucket: TimeBucket
    wait_us: int
    step_us: int

    def final_at(self, buckets: "pa.ChunkedArray") -> Array:
        """When groups are final, in µs."""
        starts = buckets.cast(pa.int64()).to_numpy()
        distinct, place = np.unique(starts, return_inverse=True)
        of = (lambda t: t) if self.bucket.ends else self.bucket.buckets.end
        ends = np.array([of(int(t)) for t in distinct], dtype=np.int64)
        return ends[place] + self.wait_us

    def is_over(self, at: Array, now_us: int | None) -> Array:
        """Which of some moments nothing that is still to come lies before; `now_us`: nothing comes
        up to it any more. It may lie between two steps: timestamps are whole steps."""
        if now_us is None:
            return np.zeros(len(at), dtype=np.bool_)
        following = (now_us // self.step_us + 1) * self.step_us
        over: Array = (
            at < following if isinstance(self.bucket.buckets, Moments) else at <= following
        )
        return over
