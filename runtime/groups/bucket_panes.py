"""The buckets in which panes lie, of many panes at once."""

from typing import NamedTuple

import numpy as np

from ontoweir.mappings.model.sliding_buckets import SlidingBuckets
from ontoweir.runtime.columnar.frame import Array


class PaneBuckets(NamedTuple):
    """For each pane and each bucket in which it lies: the pane's place, and where the bucket begins
    and ends (µs)."""

    places: Array
    starts: Array
    ends: Array


def bucket_panes(
    buckets: SlidingBuckets, panes: Array, after: int | None, until: int
) -> PaneBuckets:
    """The buckets of panes that end after a time (None: all) and until another.

    Args:
        buckets: what they are.
        panes: int64, where each begins (µs).
        after: µs.
        until: µs.
    """
    low = panes if after is None else np.maximum(panes, after)
    last = _last_starts(buckets, panes)
    slide = buckets.slide_us
    if buckets.grows:  # the n-th ends n slides after its start
        first = (low - last) // slide + 1
        stop = np.minimum((until - last) // slide, buckets.most) + 1
    else:  # the n-th before the last ends n slides before that
        first = np.maximum(-((until - last - buckets.size_us) // slide), 0)
        stop = -((low - last - buckets.size_us) // slide)
    counts = np.maximum(stop - first, 0)
    places = np.repeat(np.arange(len(panes)), counts)
    number = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts - first, counts)
    if buckets.grows:
        return PaneBuckets(places, last[places], last[places] + number * slide)
    starts = last[places] - number * slide
    return PaneBuckets(places, starts, starts + buckets.size_us)


def last_ends(buckets: SlidingBuckets, panes: Array) -> Array:
    """Where the last bucket of each pane ends; of one that lies in none, where it begins."""
    ends: Array = np.maximum(_last_starts(buckets, panes) + buckets.size_us, panes)
    return ends


def _last_starts(buckets: SlidingBuckets, panes: Array) -> Array:
    """Where the last bucket begins that begins with a pane or before it."""
    period, origin = buckets.period_us, buckets.origin_us
    starts: Array = (panes - origin) // period * period + origin
    return starts
