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
    ends = closing.ends(column)
    at = closing.final_at(ends)
    assert at.tolist() == [start + width + wait * step for start in starts]
    coming = next(t for t in range(now + 1, now + step + 1) if t % step == 0)
    assert closing.is_over(ends, now).tolist() == [t <= coming for t in at.tolist()]
    assert not closing.is_over(np.array([0]), None).any()


@given(
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(-20, 20),
    st.integers(0, 3),
    st.integers(-200, 200),
)
def test_a_group_of_final_answers_waits_for_no_time_at_which_none_come(
    step: int, grid: int, width: int, behind: int, wait: int, now: int
) -> None:
    """Answers of hours, each final when it ends: a day is over with its last hour."""
    grid, lag = grid * step, wait * step
    buckets = FixedBuckets(width * grid)
    closing = BucketClosing("b", TimeBucket(buckets, behind_us=behind), lag, step, grid)
    starts = [buckets.start(now) + i * width * grid for i in range(-5, 6)]
    ends = closing.ends(pa.chunked_array([pa.array(starts, pa.timestamp("us"))]))
    comes = range(min(starts) - 100, max(starts) + 200)
    last = [max(t for t in comes if t % grid == 0 and t - behind < end) for end in ends]
    said = list(zip(ends.tolist(), last, strict=True))
    assert closing.final_at(ends).tolist() == [max(end, time) + lag for end, time in said]
    coming = next(t for t in range(now + 1, now + step + 1) if t % step == 0)
    over = [end + lag <= coming and time + lag < coming for end, time in said]
    assert closing.is_over(ends, now).tolist() == over
