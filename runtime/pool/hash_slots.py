"""Places of distinct things, found by their hashes: open addressing, whole columns at a time."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ontoweir.runtime.pool.grow import Growing

Codes: TypeAlias = NDArray[np.int64]
"""Of every row the code of its thing; -1: there is none."""

Same: TypeAlias = Callable[[Codes | None, Codes], NDArray[np.bool_]]
"""Whether rows that are looked for (None: all of them) are the things of some codes."""

EMPTY = -1


class HashSlots:
    """Codes 0, 1, … of things that are told apart elsewhere, by hash."""

    def __init__(self) -> None:
        self._hashes = Growing(np.zeros(0, dtype=np.uint64))
        self._slots = np.full(16, EMPTY, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Of all things, in the order of their codes."""
        return self._hashes.values

    def find(
        self, hashes: NDArray[np.uint64], same: Same | None, rows: Codes | None = None
    ) -> Codes:
        """The codes of things with some hashes (-1: they are not there), without `same` of any
        that has the hash; `rows`: those that are looked for (None: all)."""
        codes = np.full(len(hashes), EMPTY, dtype=np.int64)
        if not len(self) or not len(hashes):
            return codes
        self._probe(hashes, codes, rows, None)
        found = np.flatnonzero(codes != EMPTY)
        if not len(found) or same is None:
            return codes
        whole = len(found) == len(codes)
        equal = same(None if whole else found, codes if whole else codes[found])
        if not equal.all():  # others with the same hash: these are told apart place by place
            others = found[~equal]
            codes[others] = EMPTY
            self._probe(hashes, codes, others, same)
        return codes

    def _probe(
        self, hashes: NDArray[np.uint64], codes: Codes, rows: Codes | None, same: Same | None
    ) -> None:
        """Set the codes of rows (None: all) whose things are there; where they are not told apart
        (`same`), of the first with the same hash."""
        mask = len(self._slots) - 1
        place = (hashes & np.uint64(mask)).astype(np.int64)
        if rows is not None:
            place = place[rows]
        while len(place):
            there = self._slots[place]
            mine = hashes if rows is None else hashes[rows]
            like = (there != EMPTY) & (self.hashes[there] == mine)
            hit = np.flatnonzero(like)
            if len(hit):
                seen = hit if rows is None else rows[hit]
                if same is not None:
                    equal = same(seen, there[hit])
                    like[hit] = equal
                    hit, seen = hit[equal], seen[equal]
                codes[seen] = there[hit]
            going = np.flatnonzero((there != EMPTY) & ~like)
            rows = going if rows is None else rows[going]
            place = (place[going] + 1) & mask

    def append(self, hashes: NDArray[np.uint64]) -> None:
        """Add distinct things that are not there, which get the next codes."""
        start = len(self)
        self._hashes.append(hashes)
        size = len(self._slots)
        while size < 2 * len(self):
            size *= 2
        if size != len(self._slots):
            self._slots = np.full(size, EMPTY, dtype=np.int64)
            start = 0
        codes = np.arange(start, len(self), dtype=np.int64)
        place = (self.hashes[start:] & np.uint64(size - 1)).astype(np.int64)
        while len(codes):
            free = self._slots[place] == EMPTY
            self._slots[place[free]] = codes[free]  # of several at one place one stays
            left = self._slots[place] != codes
            codes, place = codes[left], (place[left] + 1) & (size - 1)
