"""Buckets that overlap: a time lies in several (HOP), or in each that grows to a whole (CUMULATE).

Both are made of panes: buckets of one width that do not overlap, each of which lies in a bucket as
a whole or not at all.
"""

from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class SlidingBuckets:
    """Buckets of `size_us`, one of which begins every `slide_us` (there are gaps where this is
    more), and one at `origin_us`; `grows`: instead, buckets of `slide_us`, twice as much, … up to
    `size_us`, a multiple, which begin together, every `size_us`. All in microseconds.
    """

    size_us: int
    slide_us: int
    origin_us: int = 0
    grows: bool = False

    @property
    def pane_us(self) -> int:
        """The width of the panes, one of which begins at `origin_us`."""
        return gcd(self.size_us, self.slide_us)

    @property
    def most(self) -> int:
        """In how many buckets a time lies at most."""
        return -(-self.size_us // self.slide_us)

    @property
    def period_us(self) -> int:
        """How far buckets are apart that begin one after the other."""
        return self.size_us if self.grows else self.slide_us


def make_sliding(
    slide_us: int | None, size_us: int | None, origin_us: int, *, grows: bool
) -> SlidingBuckets | None:
    """The buckets of a slide and a size; None where one is missing, or not positive, or the size of
    buckets that grow is no multiple of their step."""
    if slide_us is None or size_us is None or slide_us <= 0 or size_us <= 0:
        return None
    if grows and size_us % slide_us:
        return None
    period = size_us if grows else slide_us
    return SlidingBuckets(size_us, slide_us, origin_us % period, grows)
