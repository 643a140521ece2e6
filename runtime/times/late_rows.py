"""How late the rows of a stream came that came later than it declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.runtime.columnar.frame import Array

_SECOND = 1_000_000
LIMITS_US = tuple(
    s * _SECOND for s in (1, 10, 60, 600, 3_600, 6 * 3_600, 86_400, 7 * 86_400, 30 * 86_400)
)
"""Late rows are counted by which of these latenesses would have been enough."""


@dataclass(frozen=True, slots=True)
class LateRows:
    """`needed_us`: the lateness with which none of them would have been late; `counts`: how many
    the first of LIMITS_US would have been enough for, of the others how many the second would have,
    and so on, at last those for which none would."""

    needed_us: int = 0
    counts: tuple[int, ...] = (0,) * (len(LIMITS_US) + 1)

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.counts)

    def add(self, needed: Array) -> "LateRows":
        """With more rows: for each, the lateness that it would have needed (µs)."""
        if not len(needed):
            return self
        places = np.searchsorted(LIMITS_US, needed)
        more = np.bincount(places, minlength=len(self.counts)).tolist()
        counts = tuple(a + b for a, b in zip(self.counts, more, strict=True))
        return LateRows(max(self.needed_us, int(needed.max())), counts)

    def describe(self) -> Mapping[str, Any]:
        """As JSON: `rows`; `needs`, the lateness they would have needed; `within`: how many would
        have needed no more than some latenesses, and `more`: how many needed more than all."""
        shown = zip(LIMITS_US, self.counts, strict=False)
        return {
            "rows": self.rows,
            "needs": show_duration(self.needed_us),
            "within": {show_duration(limit): count for limit, count in shown if count},
            "more": self.counts[-1],
        }


def late_reason(stream: Stream) -> str:
    """Why a replay rejects them."""
    lateness = show_duration(stream.lateness_us)
    return f"{stream.name}.{stream.timestamp} is late: more than {lateness} after a later one"


NOT_LATE = LateRows()
"""No late rows."""
