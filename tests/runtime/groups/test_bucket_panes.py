"""The buckets that panes lie in, against the definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.model.sliding_buckets import SlidingBuckets, make_sliding
from ontoweir.runtime.groups.bucket_panes import bucket_panes, last_ends

BUCKETS = st.builds(
    lambda slide, times, size, origin, grows: SlidingBuckets(
        slide * times if grows else size, slide, origin, grows
    ),
    st.integers(1, 9),
    st.integers(1, 4),
    st.integers(1, 20),
    st.integers(-12, 12),
    st.booleans(),
)


def find(buckets: SlidingBuckets, pane: int) -> list[tuple[int, int]]:
    """Of buckets around 0, those in which a pane lies as a whole."""
    whole = []
    for k in range(-60, 61):
        if buckets.grows:
            start = buckets.origin_us + k * buckets.size_us
            ends = range(start + buckets.slide_us, start + buckets.size_us + 1, buckets.slide_us)
            whole += [(start, end) for end in ends]
        else:
            start = buckets.origin_us + k * buckets.slide_us
            whole.append((start, start + buckets.size_us))
    return [(s, e) for s, e in whole if s <= pane and pane + buckets.pane_us <= e]


@given(
    buckets=BUCKETS,
    numbers=st.lists(st.integers(-8, 8), max_size=4),
    after=st.none() | st.integers(-30, 30),
    until=st.integers(-30, 30),
)
def test_panes_lie_in_their_buckets(
    buckets: SlidingBuckets, numbers: list[int], after: int | None, until: int
) -> None:
    panes = [n * buckets.pane_us + buckets.origin_us % buckets.pane_us for n in numbers]
    found = bucket_panes(buckets, np.array(panes, dtype=np.int64), after, until)
    wanted = [
        (place, start, end)
        for place, pane in enumerate(panes)
        for start, end in find(buckets, pane)
        if end <= until and (after is None or end > after)
    ]
    rows = zip(found.places.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True)
    assert sorted(rows) == sorted(wanted)
    ends = last_ends(buckets, np.array(panes, dtype=np.int64)).tolist()
    assert ends == [max((e for _, e in find(buckets, p)), default=p) for p in panes]


def test_what_is_no_bucket() -> None:
    assert make_sliding(0, 5, 0, grows=False) is None
    assert make_sliding(2, None, 0, grows=False) is None
    assert make_sliding(2, 5, 0, grows=True) is None
    assert make_sliding(2, 6, 7, grows=True) == SlidingBuckets(6, 2, 1, grows=True)
