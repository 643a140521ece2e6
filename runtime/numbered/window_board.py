"""The rows of one key that a window shows, in order, and those of them with the first numbers."""

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from heapq import heappush, heappushpop

from ontoweir.rewriter.model.aggregation import FirstRows, Numbering

_FEW = 64
"""So many rows are not looked at for those that will never be among the first."""
_LAST = 1 << 62
"""As the last place with a number that is told: any row would have one."""

Told = dict[tuple[int, int], tuple[int, int]]
"""Of the code of a row and its number (0: it is not needed): the row, and how often it holds."""


@dataclass(frozen=True, slots=True)
class WindowRows:
    """Columns of all rows: a code of all that each shows, its place in the order, how often it
    came, whether it is told, and when it leaves the window (µs)."""

    items: list[int]
    orders: list[int]
    weights: list[int]
    told: list[bool]
    ends: list[int]


@dataclass(slots=True)
class _Level:
    """The rows with one place: how many, by their index, and by their code with one of them."""

    count: int = 0
    rows: dict[int, int] = field(default_factory=dict)
    items: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, row: int, item: int, often: int) -> None:
        """So many more, or less, of a row."""
        self.count += often
        here, one = self.items.get(item, (0, row))
        if here + often:
            self.items[item] = here + often, one
        else:
            del self.items[item]


@dataclass(slots=True)
class WindowBoard:
    """The rows of a key. `changes`: of each change the row, when (µs), how often more (or, below 0,
    less) it holds from then on, and its number."""

    first: FirstRows
    rows: WindowRows
    changes: list[tuple[int, int, int, int]]
    _places: list[int] = field(default_factory=list)
    _levels: dict[int, _Level] = field(default_factory=dict)
    _numbers: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of the places that are told: the number of the first row there, and how many are told."""
    _last: int = _LAST
    _touched: dict[int, dict[int, tuple[int, int]]] = field(default_factory=dict)
    """What was added since the last time, by place and code: how often, and a row."""
    _size: int = 0
    _looked: int = _FEW

    def begin(self, row: int) -> None:
        """A row begins to be shown."""
        order, item, often = self._of(row)
        level = self._levels.get(order)
        if level is None:
            level = self._levels[order] = _Level()
            insort(self._places, order)
        level.rows[row] = often
        level.add(row, item, often)
        self._size += 1
        self._touch(order, item, row, often)

    def end(self, row: int) -> None:
        """A row leaves the window."""
        order, item, often = self._of(row)
        level = self._levels.get(order)
        if level is None or row not in level.rows:
            return  # it was never to be among the first
        self._remove(order, level, row)
        self._touch(order, item, row, -often)

    def tell(self, at: int) -> None:
        """All rows of a time have begun and ended: what changes then."""
        if self._touched:
            numbers = self._number()
            for place in {**self._numbers, **numbers}:
                self._compare(place, self._numbers.get(place), numbers.get(place), at)
            self._numbers = numbers
            self._touched.clear()
        if self._size > self._looked:
            self.forget()

    def forget(self) -> None:
        """Leave out rows before which so many others are until they end that they will never be
        among the first."""
        limit, ends = self.first.limit, self.rows.ends
        longest: list[int] = []  # the latest ends of so many rows before, as a heap
        for place in list(self._places):
            level = self._levels[place]
            full = len(longest) == limit
            for row in [r for r in level.rows if full and longest[0] >= ends[r]]:
                self._remove(place, level, row)
            stay = [(ends[r], often) for r, often in level.rows.items()]
            if self.first.numbering is Numbering.DENSE and stay:
                stay = [(max(end for end, _ in stay), 1)]
            for end, often in stay:
                for _ in range(min(often, limit)):
                    if len(longest) < limit:
                        heappush(longest, end)
                    else:
                        heappushpop(longest, end)
        self._looked = max(_FEW, 2 * self._size)

    def list_rows(self) -> list[int]:
        """The rows that are shown, and may be among the first."""
        return [row for level in self._levels.values() for row in level.rows]

    def _of(self, row: int) -> tuple[int, int, int]:
        of = self.rows
        return of.orders[row], of.items[row], of.weights[row]

    def _remove(self, place: int, level: _Level, row: int) -> None:
        _, item, _ = self._of(row)
        level.add(row, item, -level.rows.pop(row))
        self._size -= 1
        if not level.rows:
            del self._levels[place]
            del self._places[bisect_left(self._places, place)]

    def _touch(self, place: int, item: int, row: int, often: int) -> None:
        if place <= self._last:
            mine = self._touched.setdefault(place, {})
            before, _ = mine.get(item, (0, row))
            mine[item] = before + often, row

    def _number(self) -> dict[int, tuple[int, int]]:
        """The places that are told, and which is the last with which a row would be."""
        made: dict[int, tuple[int, int]] = {}
        before, limit, self._last = 0, self.first.limit, _LAST
        for n, place in enumerate(self._places):
            level = self._levels[place]
            match self.first.numbering:
                case Numbering.ROWS:
                    made[place] = before + 1, min(level.count, limit - before)
                    before += level.count
                case Numbering.RANKS:
                    made[place] = before + 1, 0
                    before += level.count
                case Numbering.DENSE:
                    made[place] = n + 1, 0
                    before += 1
            if before >= limit:
                self._last = place
                break
        return made

    def _compare(
        self, place: int, old: tuple[int, int] | None, new: tuple[int, int] | None, at: int
    ) -> None:
        """What changes at a place that was told, or is."""
        touched = self._touched.get(place, {})
        if old == new and not touched:
            return
        level = self._levels.get(place)
        here = {} if level is None else level.items
        if old == new and self.first.numbering is not Numbering.ROWS:
            here = {item: here[item] for item in touched if item in here}
        before = dict(here)
        for item, (often, row) in touched.items():
            known, one = here.get(item, (0, row))
            before[item] = known - often, one
        was, now = self._show(before, old), self._show(here, new)
        for key in {**was, **now}:
            (row, less), (one, more) = was.get(key, (-1, 0)), now.get(key, (-1, 0))
            if more != less:
                self.changes.append((one if more else row, at, more - less, key[1]))

    def _show(self, items: dict[int, tuple[int, int]], of: tuple[int, int] | None) -> Told:
        """Rows of a place, as they are told."""
        made: Told = {}
        if of is None:
            return made
        number, left = of
        shown, least = self.first.number is not None, self.first.least
        for item, (often, row) in items.items():
            if self.first.numbering is not Numbering.ROWS or not shown:
                if self.first.numbering is Numbering.ROWS:
                    often, left = min(often, left), left - min(often, left)
                if often and self.rows.told[row] and not (shown and number < least):
                    made[item, number if shown else 0] = row, often
                continue
            for _ in range(min(often, left)):
                if number >= least and self.rows.told[row]:
                    made[item, number] = row, 1
                number, left = number + 1, left - 1
        return made
