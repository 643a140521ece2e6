"""What is known of the rows of a history before they are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.times.known_times import KnownTimes


@dataclass(frozen=True, slots=True)
class VerifiedRows:
    """All rows of a stream's files keep what is declared, but for those that are rejected.

    `rejects`: by reason, in the order in which it is looked for, and by the file that messages name
    (Piece.shown), the numbers (from 0, ascending) of its rows; `order`: how those that come late
    are put into order, as recall_order takes it (None: it is to be found); `times`: timestamps that
    are known too (None: they are read, and not kept).
    """

    rejects: Mapping[str, Mapping[str, Array]]
    order: Mapping[str, Any] | None = None
    times: KnownTimes | None = None

    def find(self, file: str, first: int, count: int) -> list[tuple[str, Array]]:
        """Of `count` rows of a file from number `first` on, those rejected, by reason: how many
        rows after the first each is."""
        found = []
        for reason, files in self.rejects.items():
            if (numbers := files.get(file)) is not None:
                start, stop = np.searchsorted(numbers, (first, first + count))
                if stop > start:
                    found.append((reason, numbers[start:stop] - first))
        return found
