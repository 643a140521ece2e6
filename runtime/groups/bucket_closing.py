"""When the groups of a bucket of time are final."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.bucket_panes import PaneBuckets, bucket_panes, last_ends


@dataclass(frozen=True, slots=True)
class BucketClosing:
    """When groups are final.

    Args:
        variable: the group's column with the bucket.
        bucket: what it holds.
        wait_us: how long after the end of a bucket matches of its tuples may still come, and how
            long before a timestamp the time is that lies in the bucket.
        step_us: the unit of the streams' timestamps.
    """

    variable: str
    bucket: TimeBucket
    wait_us: int
    step_us: int

    def final_at(self, buckets: "pa.ChunkedArray") -> Array:
        """When groups are final, in µs: of panes, when all their buckets are."""
        starts = buckets.cast(pa.int64()).to_numpy()
        if self.bucket.sliding is not None:
            return last_ends(self.bucket.sliding, starts) + self.wait_us
        distinct, place = np.unique(starts, return_inverse=True)
        of = (lambda t: t) if self.bucket.ends else self.bucket.buckets.end
        ends = np.array([of(int(t)) for t in distinct], dtype=np.int64)
        return ends[place] + self.wait_us

    def is_over(self, at: Array, now_us: int | None) -> Array:
        """Which of some moments nothing that is still to come lies before; `now_us`: nothing comes
        up to it any more. It may lie between two steps: timestamps are whole steps."""
        if now_us is None:
            return np.zeros(len(at), dtype=np.bool_)
        following = self._first_open(now_us)
        over: Array = (
            at < following if isinstance(self.bucket.buckets, Moments) else at <= following
        )
        return over

    def close_panes(
        self, panes: "pa.ChunkedArray", closed_us: int | None, now_us: int | None
    ) -> tuple[PaneBuckets, Array]:
        """The buckets of panes that are final now, and were not at `closed_us`; and when they are,
        in µs."""
        assert self.bucket.sliding is not None
        starts = panes.cast(pa.int64()).to_numpy()
        if now_us is None:
            starts = starts[:0]
        until = 0 if now_us is None else self._first_open(now_us) - self.wait_us
        after = None if closed_us is None else self._first_open(closed_us) - self.wait_us
        found = bucket_panes(self.bucket.sliding, starts, after, until)
        return found, found.ends + self.wait_us

    def _first_open(self, now_us: int) -> int:
        """The first timestamp that may still come."""
        return (now_us // self.step_us + 1) * self.step_us
