"""Rows of which a batch looks up and replaces a few: what that costs follows the batch."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ontoweir.runtime.columnar.frame import Array, Frame, Name, concat
from ontoweir.runtime.kept.hash_rows import hash_rows
from ontoweir.runtime.kept.sorted_runs import SortedRuns, sort_distinct

_SPARE = 1 << 12
"""Entries of an index that may be of no row, beside as many as there are rows."""

_FEW, _SMALL = 16, 1 << 13
"""One row of so many is few; less rows than these are looked at whole."""

_MANY = 4
"""Where more than one row of so many is looked up, all are."""

_Column: TypeAlias = tuple[Name, "np.dtype[Any]"]
"""A column, and the type in which its numbers are compared with others."""

When: TypeAlias = Callable[[Frame], Array]
"""When each of some rows is due (int64, steps)."""


def are_few(rows: int, of: int) -> bool:
    """Whether rows are so few, of so many, that it pays to look at theirs only."""
    return of >= _SMALL and rows * _FEW <= of


def have_equal_rows(one: Frame, other: Frame) -> bool:
    """Whether two frames have the same rows in the same order, whatever their columns are called:
    to the bit, so that -0.0 is not 0.0."""
    if one.rows != other.rows or len(one.columns) != len(other.columns):
        return False
    pairs = zip(one.columns.values(), other.columns.values(), strict=True)
    return all(a is b or (a.dtype == b.dtype and _are_equal(a, b)) for a, b in pairs)


def _are_equal(one: Array, other: Array) -> bool:
    if one.dtype == np.float64:
        one, other = one.view(np.int64), other.view(np.int64)
    return bool(np.array_equal(one, other))


def _kind(one: Array, other: Array) -> "np.dtype[Any]":
    """The type that numbers of two columns are compared in."""
    return np.promote_types(one.dtype, other.dtype)


def _hash(frame: Frame, columns: Sequence[_Column]) -> Array:
    return hash_rows([frame[name].astype(kind, copy=False) for name, kind in columns])


class _Store:
    """The columns of the last of several states, with what finds its rows.

    An index has an entry for every row under the hash of some of its columns, and entries of rows
    that were there before, which are left out when they are found.
    """

    def __init__(self, columns: Mapping[Name, Array], rows: int) -> None:
        self.columns, self.rows = dict(columns), rows
        self.room = rows
        self.indexes: dict[tuple[_Column, ...], SortedRuns] = {}
        self.due: SortedRuns | None = None

    def take(self, places: Array) -> Frame:
        return Frame(len(places), {n: c[places] for n, c in self.columns.items()})

    def index(self, names: tuple[_Column, ...]) -> SortedRuns:
        """The index of some columns."""
        found = self.indexes.get(names)
        if found is None or len(found) > 2 * self.rows + _SPARE:
            found = self.indexes[names] = SortedRuns()
            held = Frame(self.rows, {n: self.columns[n][: self.rows] for n, _ in names})
            found.add(_hash(held, names), np.arange(self.rows))
        return found

    def put(self, rows: int, places: Array, frame: Frame, when: When | None) -> None:
        """Have so many rows, and these at some places."""
        if rows > self.room:
            self.room = rows + rows // 2
            for name, column in self.columns.items():
                grown = np.empty(self.room, dtype=column.dtype)
                grown[: self.rows] = column[: self.rows]
                self.columns[name] = grown
        self.rows = rows
        for name, column in self.columns.items():
            column[places] = frame[name]
        for names, index in self.indexes.items():
            index.add(_hash(frame, names), places)
        if self.due is not None and when is not None:
            self.due.add(when(frame), places)


class KeptRows:
    """Rows at places 0, 1, …: a value, which never changes.

    States that follow one another share one store, which the last one owns; one before it has the
    rows that were in the places of others, and finds its own again by way of those after it, by
    copying (Baker, Shallow binding makes functional arrays fast, 1991). So going on from the last
    state costs no copy, and going back to an earlier one, as after an error, is safe. Who keeps an
    earlier state keeps with it what has changed since.
    """

    __slots__ = ("_after", "_change", "_frame", "_store", "_undo", "rows", "shared", "steps")

    def __init__(self, frame: Frame) -> None:
        columns = {name: column.copy() for name, column in frame.columns.items()}
        self.steps = 0
        """How many states of the same store came before."""
        self.shared = False
        """Whether another may go on from it, too."""
        self._change: tuple[object, Frame, KeptRows] | None = None
        self._own(_Store(columns, frame.rows))

    def _own(self, store: _Store) -> None:
        self.rows = store.rows
        self._store: _Store | None = store
        self._frame: Frame | None = None
        self._undo: tuple[Array, Frame] | None = None
        self._after: KeptRows | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptRows, (self.frame(),)

    @property
    def names(self) -> list[Name]:
        """The names of the columns."""
        return list(self._latest().columns)

    @property
    def nbytes(self) -> int:
        """Bytes of the columns."""
        return sum(c.dtype.itemsize for c in self._latest().columns.values()) * self.rows

    def frame(self) -> Frame:
        """All rows, by place."""
        if self._frame is None:
            store = self._root()
            columns = {n: c[: self.rows].copy() for n, c in store.columns.items()}
            self._frame = Frame(self.rows, columns)
        return self._frame

    def column(self, name: Name) -> Array:
        """A column of all rows, which is not to be kept: it changes with the rows."""
        column: Array = self._root().columns[name][: self.rows]
        return column

    def take(self, places: Array) -> Frame:
        """The rows at some places."""
        return self._root().take(places)

    def find(self, names: Sequence[Name], wanted: Frame) -> Array:
        """The places, in order, of all rows that are equal in some columns to one of those wanted;
        of other rows few, whose hashes are the same. Without columns, of all rows."""
        store = self._root()
        if not names:
            return np.arange(self.rows)
        columns = self._columns(names, wanted)
        hashes = sort_distinct(_hash(wanted, columns))
        return self._pick(store, columns, hashes, store.index(columns).find(hashes))

    def _pick(
        self, store: _Store, columns: tuple[_Column, ...], hashes: Array, entries: Array
    ) -> Array:
        """Of the places of entries with some hashes, those of rows that still have them."""
        places = sort_distinct(entries)
        places = places[: np.searchsorted(places, self.rows)]
        if not len(places):
            return places
        mine = _hash(store.take(places), columns)
        at = np.minimum(np.searchsorted(hashes, mine), len(hashes) - 1)
        found: Array = places[hashes[at] == mine]
        return found

    def look_up(self, names: Sequence[Name], wanted: Frame) -> Frame:
        """The rows that are equal in some columns to one of those wanted, and some others: all,
        where those are many."""
        columns = self._columns(names, wanted)
        if not columns:
            return self.frame()
        hashes = sort_distinct(_hash(wanted, columns))
        store = self._latest()
        index = store.index(columns)
        located = index.locate(hashes)
        if sum(int(length.sum()) for _, length in located) * _MANY > self.rows:
            return self.frame()
        if self._store is store:
            return store.take(self._pick(store, columns, hashes, index.take(located)))
        after = self._after
        if self._store is None and after is not None and after._store is store:
            return self._look_back(names, wanted, after, store)
        return self.take(self.find(names, wanted))

    def _look_back(
        self, names: Sequence[Name], wanted: Frame, after: "KeptRows", store: _Store
    ) -> Frame:
        """As look_up, after another has gone on from here: in the store of the state after this
        one, and among the rows that went since; so whoever shares a state copies nothing."""
        assert self._undo is not None
        gone, rows = self._undo
        found = after.find(names, wanted)
        found = np.setdiff1d(found[found < self.rows], gone, assume_unique=True)
        columns = self._columns(names, wanted)
        back = np.isin(_hash(rows, columns), _hash(wanted, columns))
        places = np.concatenate([found, gone[back]])
        both = concat([store.take(found), rows.take(back)])
        return both.take(np.argsort(places, kind="stable"))

    def went_on(self, how: object, fresh: Frame) -> "KeptRows | None":
        """What came of these rows when another went on from them in the same way, with equal rows
        (None: nobody has)."""
        if self._change is None or self._change[0] != how:
            return None
        return self._change[2] if have_equal_rows(self._change[1], fresh) else None

    def go_on(self, how: object, fresh: Frame, after: "KeptRows") -> None:
        """Remember what came of these rows, if they are shared; `how`: with equal ones, and equal
        rows `fresh`, the same comes of them."""
        if self.shared:
            self._change = how, fresh, after

    def _columns(self, names: Sequence[Name], wanted: Frame) -> tuple[_Column, ...]:
        held = self._latest().columns
        return tuple((n, _kind(held[n], wanted[n])) for n in names)

    def due(self, now: int, when: When) -> Array:
        """The places, in order, of the rows that are due by now; `when`: always the same."""
        store = self._root()
        if store.due is None or len(store.due) > 2 * self.rows + _SPARE:
            store.due = SortedRuns()
            store.due.add(when(self.frame()), np.arange(self.rows))
        places = sort_distinct(store.due.up_to(now))
        places = places[: np.searchsorted(places, self.rows)]
        return places[when(store.take(places)) <= now]

    def replace(
        self, places: Array, frame: Frame, *, when: When | None = None, now: int | None = None
    ) -> "KeptRows":
        """The rows with others in the place of some.

        What is new takes the places of what goes; then come new places, or the last rows move to
        the places that are left. So most rows stay where they are.

        Args:
            places: of the rows that go, distinct and in order.
            frame: the others, with the same columns.
            when: as of `due`.
            now: nothing is due by now any more (None: nothing is ever due).
        """
        store = self._root()
        if not len(places) and not frame.rows:
            if store.due is not None and now is not None:
                store.due.drop(now)
            return self
        kinds = {n: _kind(c, frame[n]) for n, c in store.columns.items()}
        if frame.rows and any(k != store.columns[n].dtype for n, k in kinds.items()):
            wider = {n: c.astype(kinds[n]) for n, c in self.frame().columns.items()}
            return KeptRows(Frame(self.rows, wider)).replace(places, frame, when=when, now=now)
        rows = self.rows - len(places) + frame.rows
        filled = min(len(places), frame.rows)
        free = places[filled:]
        holes = free[free < rows]
        last = np.setdiff1d(np.arange(rows, self.rows), free, assume_unique=True)
        fresh = np.arange(self.rows, rows)
        targets = np.concatenate([places[:filled], fresh, holes])
        moved = store.take(last)
        incoming = moved
        if frame.rows:
            incoming = concat([frame.select(list(store.columns)), moved]) if len(last) else frame
        gone = np.concatenate([targets[targets < self.rows], np.arange(rows, self.rows)])
        undo = gone, store.take(gone)
        store.put(rows, targets, incoming, when)
        if store.due is not None and now is not None:
            store.due.drop(now)
        after = KeptRows.__new__(KeptRows)
        after.steps, after.shared, after._change = self.steps + 1, self.shared, None
        after._own(store)
        self._undo, self._after, self._store = undo, after, None
        return after

    def _latest(self) -> _Store:
        """The store of the last state that came of this one: its columns have the same types."""
        state = self
        while state._after is not None:
            state = state._after
        assert state._store is not None
        return state._store

    def _root(self) -> _Store:
        """The store, which it owns from now on."""
        if self._store is not None:
            return self._store
        later: list[KeptRows] = [self]
        while later[-1]._after is not None:
            later.append(later[-1]._after)
        owner = later.pop()
        assert owner._store is not None
        rows = max(self.rows, *(state.rows for state in (*later, owner)))
        columns = {}
        for name, column in owner._store.columns.items():
            columns[name] = np.empty(rows, dtype=column.dtype)
            columns[name][: owner.rows] = column[: owner.rows]
        for state in reversed(later):
            assert state._undo is not None
            places, frame = state._undo
            for name, column in columns.items():
                column[places] = frame[name]
        store = _Store({n: c[: self.rows].copy() for n, c in columns.items()}, self.rows)
        frame_known = self._frame
        self._own(store)
        self._frame = frame_known
        return store
