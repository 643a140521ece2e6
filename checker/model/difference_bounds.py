"""Difference-bound matrices: what a conjunction of `x - y <= c` implies ([S] Def. 4, P⁺)."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import NamedTuple


class Limit(NamedTuple):
    """An upper limit on a difference: `<= value`, or `< value` where `strict` (dense domains)."""

    value: int | Fraction
    strict: bool = False

    def plus(self, other: "Limit") -> "Limit":
        """The limit of a sum of two limited differences."""
        return Limit(self.value + other.value, self.strict or other.strict)

    def within(self, other: "Limit | None") -> bool:
        """Whether this limit is at least as tight as the other (None: no limit)."""
        if other is None:
            return True
        return self.value < other.value or (
            self.value == other.value and (self.strict or not other.strict)
        )


ZERO = Limit(0)


class DifferenceBounds:
    """All limits on `x - y` that added ones imply, over `grains` (0: a dense node, else every
    value of the node is a multiple of its grain). Node 0 is the constant zero, of grain 0 in the
    sense that any constant may be compared with it.

    Shortest paths are exact for equal grains; for mixed ones every limit is sound.
    """

    def __init__(self, grains: Sequence[int]) -> None:
        self.grains = tuple(grains)
        n = len(self.grains)
        self._limit: list[list[Limit | None]] = [[None] * n for _ in range(n)]
        for i in range(n):
            self._limit[i][i] = ZERO
        self.satisfiable = True

    def limit(self, x: int, y: int) -> Limit | None:
        """The least upper limit on `x - y` (None: there is none)."""
        return self._limit[x][y]

    @property
    def parts(self) -> tuple[tuple[int, ...], tuple[tuple[Limit | None, ...], ...], bool]:
        """The grains, all limits, and whether there is a solution: what `restore` takes."""
        return self.grains, tuple(map(tuple, self._limit)), self.satisfiable

    @staticmethod
    def restore(
        grains: Sequence[int], limits: Sequence[Sequence[Limit | None]], satisfiable: bool
    ) -> "DifferenceBounds":
        """Those of `parts`."""
        made = DifferenceBounds(grains)
        made._limit = [list(row) for row in limits]
        made.satisfiable = satisfiable
        return made

    def copy(self) -> "DifferenceBounds":
        """An independent copy."""
        other = DifferenceBounds(self.grains)
        other._limit = [list(row) for row in self._limit]
        other.satisfiable = self.satisfiable
        return other

    def tighten(self, x: int, y: int, limit: Limit) -> Limit:
        """Round a limit down to the next value that `x - y` can take."""
        gx, gy = self.grains[x], self.grains[y]
        if x == 0:
            gx = gy
        if y == 0:
            gy = gx
        if gx <= 0 or gy <= 0:
            return limit
        grain = gcd(gx, gy)
        if limit.strict:
            return Limit(-(-limit.value // grain) * grain - grain)
        return Limit(limit.value // grain * grain)

    def add(self, x: int, y: int, limit: Limit) -> None:
        """Add `x - y <= limit` and all it implies with what is there (incremental closure)."""
        limits = self._limit
        pending = [(x, y, self.tighten(x, y, limit))]
        while pending and self.satisfiable:
            a, b, new = pending.pop()
            if self.implies(a, b, new):
                continue
            if a == b:
                self.satisfiable = False
                return
            left = [(i, known) for i, row in enumerate(limits) if (known := row[a]) is not None]
            right = [(j, known) for j, known in enumerate(limits[b]) if known is not None]
            for i, before in left:
                value, strict = before[0] + new[0], before[1] or new[1]
                row = limits[i]
                for j, after in right:
                    sum_, open_ = value + after[0], strict or after[1]
                    # what is known is a value that the difference can take: as tight as the sum
                    # is as tight as the sum rounded down
                    known = row[j]
                    if known is not None and (
                        known[0] < sum_ or (known[0] == sum_ and (known[1] or not open_))
                    ):
                        continue
                    total = Limit(sum_, open_)
                    if i == j:
                        if not ZERO.within(total):
                            self.satisfiable = False
                            return
                        continue
                    tight = self.tighten(i, j, total)
                    if self.implies(i, j, tight):
                        continue
                    if tight == total or (i, j) == (a, b):
                        row[j] = tight
                    else:
                        pending.append((i, j, tight))

    def implies(self, x: int, y: int, limit: Limit) -> bool:
        """Whether `x - y <= limit` follows."""
        known = ZERO if x == y else self._limit[x][y]
        return known is not None and known.within(limit)
