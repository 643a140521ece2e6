"""When the groups of a bucket of time are final."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.model.time_bucket import FixedBuckets, TimeBucket
from ontoweir.runtime.groups.bucket_closing import BucketClosing


@given(
    st.integers(1, 50),
    st.integers(1, 50),
    st.integers(0, 49),
    st.integers(0, 3),
    st.integers(-200, 200),
)
def test_a_group_is_final_when_no_step_to_come_lies_before(
    step: int, width: int, origin: int, wait: int, now: int
) -> None:
    """Also where buckets end between two steps, and `now` is the last moment before a step."""
    buckets = FixedBuckets(width, origin)
    closing = BucketClosing("b", TimeBucket(buckets), wait * step, step)
    starts = [buckets.start(now) + i * width for i in range(-3, 4)]
    column = pa.chunked_array([pa.array(starts, pa.timestamp("us"))])
    at = closing.final_at(column)
    assert at.tolist() == [start + width + wait * step for start in starts]
    coming = next(t for t in range(now + 1, now + step + 1) if t % step == 0)
    assert closing.is_over(at, now).tolist() == [t <= coming for t in at.tolist()]
    assert not closing.is_over(np.array([0]), None).any()
