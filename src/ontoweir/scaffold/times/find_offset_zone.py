"""The zone whose offsets from UTC times say that they have."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.runtime.times.read_times import read_times
from ontoweir.scaffold.texts.find_zone import ZONES

_OFFSET = r"[T ].*(?P<sign>[+-])(?P<hours>[0-9]{2}):?(?P<minutes>[0-9]{2})\s*$"
_EACH = 500
"""Of so many rows one is looked at, beside those where the offset changes."""


def find_offset_zone(texts: pa.ChunkedArray) -> str | None:
    """A zone that has put its clocks forward or back as the offsets of times do; None where these
    never change, where some time has none, or where no zone of a few fits.

    Args:
        texts: times of ISO 8601, in any order.
    """
    parts = pc.extract_regex(texts.combine_chunks(), _OFFSET)
    if parts.null_count or not len(parts):
        return None
    hours, minutes = (pc.cast(parts.field(n), pa.int64()).to_numpy() for n in (1, 2))
    signs = np.where(pc.equal(parts.field(0), "-").to_numpy(zero_copy_only=False), -1, 1)
    offsets = signs * (hours * 60 + minutes)
    times, wrong = read_times([texts], TimeFormat("iso", ("",)))
    if wrong is not None or np.unique(offsets).size < 2:
        return None
    moments = times.to_numpy() // 1_000_000
    order = np.argsort(moments, kind="stable")
    moments, offsets = moments[order], offsets[order]
    change = np.flatnonzero(np.diff(offsets))
    looked = np.unique(np.concatenate([change, change + 1, np.arange(0, len(moments), _EACH)]))
    seen = list(zip(moments[looked].tolist(), offsets[looked].tolist(), strict=True))
    for zone in ZONES:
        clocks = ZoneInfo(zone)
        if all(_offset(second, clocks) == minutes for second, minutes in seen):
            return zone
    return None


def _offset(second: int, zone: ZoneInfo) -> int:
    """In minutes."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return offset // timedelta(minutes=1)
