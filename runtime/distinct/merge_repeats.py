"""Repeated rows of a frame put together, where they are many."""

from collections.abc import Sequence

from ontoweir.runtime.columnar.frame import Frame, Name, group_codes
from ontoweir.runtime.distinct.aggregate import aggregate

_SAMPLE = 4_096


def merge_repeats(frame: Frame, by: Sequence[Name], *, bag: bool) -> Frame:
    """As `aggregate`, where a sample says that every other row repeats; otherwise the frame as it
    is. For rows whose repeats do no harm but cost time."""
    part = min(frame.rows, _SAMPLE)
    codes, count = group_codes([frame[name][:part] for name in by], part)
    del codes
    return frame if count > part * 0.5 else aggregate(frame, by, bag=bag)
