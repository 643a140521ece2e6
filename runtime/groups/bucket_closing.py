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
        wait_us: how long after the last of their rows matches may still come.
        step_us: the unit of the streams' timestamps.
        grid_us: rows come at multiples of it only (None: at any step), so a bucket of times before
            theirs is over with the last one whose time lies in it.
    """

    variable: str
    bucket: TimeBucket
    wait_us: int
    step_us: int
    grid_us: int | None = None

    def ends(self, buckets: "pa.ChunkedArray") -> Array:
        """Where buckets end, in µs: of panes, where the last of their buckets does."""
        starts = buckets.cast(pa.int64()).to_numpy()
        if self.bucket.sliding is not None:
            return last_ends(self.bucket.sliding, starts)
        distinct, place = np.unique(starts, return_inverse=True)
        of = (lambda t: t) if self.bucket.ends else self.bucket.buckets.end
        found: Array = np.array([of(int(t)) for t in distinct], dtype=np.int64)[place]
        return found

    def final_at(self, ends: Array) -> Array:
        """When groups are final whose buckets end at some times, in µs."""
        behind = self.bucket.behind_us
        if self.grid_us is None:
            return ends + (behind + self.wait_us)
        last = (ends + behind - 1) // self.grid_us * self.grid_us
        at: Array = np.maximum(ends, last) + self.wait_us
        return at

    def is_over(self, ends: Array, now_us: int | None) -> Array:
        """Which buckets nothing that is still to come lies in; `now_us`: nothing comes up to it any
        more. It may lie between two steps: timestamps are whole steps."""
        if now_us is None:
            return np.zeros(len(ends), dtype=np.bool_)
        over: Array = ends <= self._over_until(now_us)
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
        until = 0 if now_us is None else self._over_until(now_us)
        after = None if closed_us is None else self._over_until(closed_us)
        found = bucket_panes(self.bucket.sliding, starts, after, until)
        return found, self.final_at(found.ends)

    def _over_until(self, now_us: int) -> int:
        """Where the last buckets end that are over."""
        coming = (now_us // self.step_us + 1) * self.step_us - self.wait_us
        behind = self.bucket.behind_us
        if isinstance(self.bucket.buckets, Moments):
            return coming - behind - 1
        if self.grid_us is None:
            return coming - behind
        return min(coming, -(-coming // self.grid_us) * self.grid_us - behind)
