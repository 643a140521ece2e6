"""Rows with the first numbers of their key, of all that came, as what changes."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.numbered.order_rows import code_order, find_told, show_rows
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY

_BLOCK = 1 << 10
"""Rows that are compared at once with those that hold; each time twice as many."""
_MOST = 1 << 18
NEVER = (1 << 63) - 1
"""As an end: the row still holds."""
_ANY = NEVER
"""As the greatest place: any row would be among the first."""


@dataclass(frozen=True, slots=True)
class FirstChanges:
    """`changed`: rows; `deltas`: how often more, or (below 0) less, each holds from a time on, `at`
    (µs); `held`: those that hold afterwards (None: none); `told`: where groups or sets
    are made of them, rows that are told, and held at some time, `begins` and `ends` (µs; LONG_AGO:
    before, NEVER: they still hold), and how often."""

    changed: pa.Table
    at: Array
    deltas: Array
    held: "pa.Table | None"
    told: pa.Table
    begins: Array
    ends: Array
    weights: Array


def keep_first(standing: Standing, held: "pa.Table | None", answers: pa.Table) -> FirstChanges:
    """What begins and ends of the rows with the first numbers.

    Rows are never taken back, so that a row which is not among the first is never again: only those
    that hold are kept. Most rows of a long history are after all that hold: whole columns are
    compared with the last one of their key, and only the others are looked at one by one.

    Args:
        standing: the key, the order, and which numbers.
        held: the rows that hold.
        answers: new ones, all later; those of a time together.
    """
    first = standing.first
    assert first is not None
    names = [n for n in answers.column_names if n in (*_columns(standing, answers), MULTIPLICITY)]
    new = answers.take(np.argsort(_times(answers), kind="stable"))
    known = 0 if held is None else held.num_rows
    whole = new.select(names) if held is None else pa.concat_tables([held, new.select(names)])
    told = [n for n in names if n not in (first.number, MULTIPLICITY)]
    weights = np.ones(whole.num_rows, dtype=np.int64)
    if MULTIPLICITY in names:
        weights = whole.column(MULTIPLICITY).to_numpy()
    keys, count = code_rows(whole, standing.key)
    orders = code_order(whole, first.order)
    last = _list_last(first, keys[:known], orders[:known], weights[:known], count)
    seen = find_told(first, whole)
    board = _Board(first, code_rows(whole, told)[0], keys, orders, weights, seen, last, known)
    board.advance(_times(new))
    rows, often, numbers = board.list_held()
    kept = show_rows(whole, rows, often, numbers, first.number)
    if held is not None:
        same = held.select(names).filter(pa.array(~np.isin(keys[:known], list(board.kept))))
        kept = pa.concat_tables([same, kept]).combine_chunks()
    changes = np.array(board.changes, dtype=np.int64).reshape(-1, 4)
    index, at, deltas, places = (changes[:, n] for n in range(4))
    changed = show_rows(whole, index, np.abs(deltas), places, first.number)
    asked = standing.distinct or standing.groups is not None
    spans = np.array(board.list_spans() if asked else [], dtype=np.int64).reshape(-1, 4)
    told = whole.take(pa.array(spans[:, 0]))
    held = kept if kept.num_rows else None
    return FirstChanges(changed, at, deltas, held, told, *(spans[:, n] for n in range(1, 4)))


def tell_first(first: FirstRows, held: pa.Table) -> pa.Table:
    """The rows that are told, of those that are held."""
    told = find_told(first, held)
    if first.least > 1:
        assert first.number is not None
        told &= held.column(first.number).to_numpy() >= first.least
    return held.filter(pa.array(told))


def _list_last(first: FirstRows, keys: Array, orders: Array, weights: Array, count: int) -> Array:
    """Of each key the greatest place with which a row would be among the first, by those that
    hold."""
    if first.numbering is Numbering.DENSE:
        places = np.unique(np.stack([keys, orders]), axis=1)
        numbers = np.bincount(places[0], minlength=count)
    else:
        numbers = np.zeros(count, dtype=np.int64)
        np.add.at(numbers, keys, weights)
    last = np.full(count, -1, dtype=np.int64)
    np.maximum.at(last, keys, orders)
    last -= first.numbering is Numbering.ROWS
    return np.where(numbers >= first.limit, last, _ANY)


def _columns(standing: Standing, answers: pa.Table) -> list[str]:
    return [n for n in answers.column_names if n not in (AT, MULTIPLICITY)]


def _times(table: pa.Table) -> Array:
    times: Array = table.column(AT).cast(pa.int64()).to_numpy()
    return times


@dataclass(slots=True)
class _Entry:
    """A row that holds, so often; `order`: of its key, `item`: a code of all that it shows;
    `since`: since when (µs), and how often."""

    order: int
    item: int
    row: int
    often: int
    since: list[tuple[int, int]]


@dataclass(slots=True)
class _Board:
    """The rows that hold of each key. `items`, `keys`, `orders`, `weights`: of each row a code of
    all its values, of its key, its place in the order, how often it came, and whether it is told;
    `last`: of each key the greatest place with which a row would be among the first; `known`: so
    many of them hold already, before others come; `kept`: the rows that hold of keys that were
    looked at."""

    first: FirstRows
    items: Array
    keys: Array
    orders: Array
    weights: Array
    told: Array
    last: Array
    known: int
    kept: dict[int, list[_Entry]] = field(default_factory=dict)
    changes: list[tuple[int, int, int, int]] = field(default_factory=list)
    """The row, when, how often more, and its number."""
    ended: list[tuple[int, int, int, int]] = field(default_factory=list)
    """The row, since when, until when, and how often."""
    _sorted: Array = field(init=False)
    _places: Array = field(init=False)

    def __post_init__(self) -> None:
        known = self.known
        self._sorted = np.lexsort((np.arange(known), self.orders[:known], self.keys[:known]))
        self._places = self.keys[self._sorted]

    def _open(self, key: int) -> list[_Entry]:
        """The rows that hold of a key."""
        if key not in self.kept:
            start, end = np.searchsorted(self._places, [key, key + 1])
            mine = self._sorted[start:end]
            columns = (c[mine].tolist() for c in (self.orders, self.items, self.weights))
            held = zip(*columns, mine.tolist(), strict=True)
            self.kept[key] = [
                _Entry(o, item, row, often, [(LONG_AGO, often)]) for o, item, often, row in held
            ]
        return self.kept[key]

    def advance(self, times: Array) -> None:
        """The rows after those that are known come, at these times."""
        known = self.known
        start, size = known, _BLOCK
        while start < len(self.keys):
            end = min(start + size, len(self.keys))
            near = self.orders[start:end] <= self.last[self.keys[start:end]]
            rows = start + np.flatnonzero(near)
            moments = times[rows - known]
            starts = np.flatnonzero(np.append(True, np.diff(moments) != 0)) if len(rows) else rows
            for at, mine in zip(moments[starts].tolist(), np.split(rows, starts[1:]), strict=False):
                self._come(mine.tolist(), at)
            start, size = end, min(2 * size, _MOST)

    def _come(self, rows: Sequence[int], at: int) -> None:
        """Rows of one time come."""
        before: dict[int, dict[tuple[int, int], tuple[int, int]]] = {}
        for row in rows:
            key = int(self.keys[row])
            if self.orders[row] > self.last[key]:
                continue
            if key not in before:
                before[key] = self._number(key)
            self._insert(key, row, at)
        for key, old in before.items():
            new = self._number(key)
            for of in {**old, **new}:
                row, was = old.get(of, (-1, 0))
                found, often = new.get(of, (row, 0))
                if often != was:
                    self.changes.append((found, at, often - was, of[1]))

    def _insert(self, key: int, row: int, at: int) -> None:
        entries = self._open(key)
        order, item, often = int(self.orders[row]), int(self.items[row]), int(self.weights[row])
        place = bisect_right(entries, order, key=lambda e: e.order)
        if self.first.numbering is Numbering.ROWS:
            often = min(often, self.first.limit)
            entries[place:place] = [_Entry(order, item, row, 1, [(at, 1)]) for _ in range(often)]
            self._end(entries, self.first.limit, at)
        else:
            for entry in reversed(entries[:place]):
                if entry.order != order:
                    entries.insert(place, _Entry(order, item, row, often, [(at, often)]))
                    break
                if entry.item == item:
                    entry.often += often
                    entry.since.append((at, often))
                    break
            else:
                entries.insert(place, _Entry(order, item, row, often, [(at, often)]))
            self._end(entries, bisect_right(self._list_numbers(entries), self.first.limit), at)
        self.last[key] = self._find_last(entries)

    def _end(self, entries: list[_Entry], kept: int, at: int) -> None:
        """Those after so many hold no more."""
        for entry in entries[kept:]:
            held = ((since, often) for since, often in entry.since if since < at)
            self.ended += [(entry.row, since, at, often) for since, often in held]
        del entries[kept:]

    def _find_last(self, entries: list[_Entry]) -> int:
        """The greatest place with which one more row would be among the first."""
        match self.first.numbering:
            case Numbering.ROWS:
                held = len(entries)
            case Numbering.DENSE:
                held = self._list_numbers(entries)[-1]
            case Numbering.RANKS:
                held = sum(e.often for e in entries)
        if held < self.first.limit:
            return _ANY
        worst = entries[-1].order
        return worst - 1 if self.first.numbering is Numbering.ROWS else worst

    def _list_numbers(self, entries: list[_Entry]) -> list[int]:
        """The numbers of the rows of a key, in order."""
        numbers: list[int] = []
        before, number, last = 0, 0, None
        for entry in entries:
            match self.first.numbering:
                case Numbering.ROWS:
                    number += 1
                case Numbering.DENSE:
                    number += entry.order != last
                case Numbering.RANKS:
                    number = number if entry.order == last else before + 1
            numbers.append(number)
            before, last = before + entry.often, entry.order
        return numbers

    def _number(self, key: int) -> dict[tuple[int, int], tuple[int, int]]:
        """The rows of a key that are told, by their code and number (0: it is not needed), and of
        each a row, and how often."""
        entries = self._open(key)
        shown = self.first.number is not None
        numbers = self._list_numbers(entries) if shown else [0] * len(entries)
        made: dict[tuple[int, int], tuple[int, int]] = {}
        for entry, number in zip(entries, numbers, strict=True):
            if (shown and number < self.first.least) or not self.told[entry.row]:
                continue
            _, often = made.get((entry.item, number), (0, 0))
            made[entry.item, number] = entry.row, often + entry.often
        return made

    def list_spans(self) -> list[tuple[int, int, int, int]]:
        """Of rows that are told: the row, since when, until when, and how often."""
        made = list(self.ended)
        for entries in self.kept.values():
            made += [(e.row, since, NEVER, often) for e in entries for since, often in e.since]
        others = np.flatnonzero(~np.isin(self.keys[: self.known], list(self.kept)))
        made += [(row, LONG_AGO, NEVER, int(self.weights[row])) for row in others.tolist()]
        return [span for span in made if self.told[span[0]]]

    def list_held(self) -> tuple[Array, Array, Array]:
        """Of keys that were looked at, the rows that hold, how often, and their numbers."""
        rows: list[tuple[int, int, int]] = []
        for entries in self.kept.values():
            numbers = self._list_numbers(entries)
            rows += [(e.row, e.often, n) for e, n in zip(entries, numbers, strict=True)]
        made = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return made[:, 0], made[:, 1], made[:, 2]
