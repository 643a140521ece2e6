"""Rows with the first numbers of their key, of those in a window, as what changes."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import FirstRows, Standing
from ontoweir.runtime.columnar.frame import LONG_AGO, Array, first_of
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.numbered.keep_first import NEVER, FirstChanges
from ontoweir.runtime.numbered.may_come import MOST, may_come
from ontoweir.runtime.numbered.order_rows import code_order, find_told, show_rows
from ontoweir.runtime.numbered.window_board import WindowBoard, WindowRows
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL


def slide_first(
    standing: Standing, held: "pa.Table | None", answers: pa.Table, now: int
) -> FirstChanges:
    """What begins and ends, up to a time, of the rows with the first numbers of those in a window.

    A row is held while the window shows it, unless so many rows before it in the order stay as long
    as it does that it will never be among the first. Keys of which no row comes or leaves are not
    looked at.

    Args:
        standing: the key, the order, and which numbers.
        held: rows, each with when it ends; those that have begun as of long ago.
        answers: new ones, which may begin later.
        now: nothing is still to come up to it (µs since 1970).
    """
    first = standing.first
    assert first is not None
    whole = answers if held is None else pa.concat_tables([held, answers.select(held.column_names)])
    begins, ends = _times(whole, AT), _times(whole, UNTIL)
    seen = begins < ends
    if not seen.all():
        whole, begins, ends = whole.filter(pa.array(seen)), begins[seen], ends[seen]
    keys, count = code_rows(whole, standing.key)
    here, over = begins <= now, ends <= now
    asked = standing.distinct or standing.groups is not None  # of the rows of all keys together
    looked = np.full(count, asked)
    looked[keys[(here & (begins > LONG_AGO)) | over]] = True
    mine = looked[keys]
    orders = code_order(whole, first.order)
    columns = WindowRows(
        code_rows(whole, [n for n in whole.column_names if n not in _OWN])[0].tolist(),
        orders.tolist(),
        whole.column(MULTIPLICITY).to_numpy().tolist(),
        find_told(first, whole).tolist(),
        ends.tolist(),
    )
    work = _Events(first, columns, keys)
    near = here & mine
    if first.limit <= MOST:  # others have so many before them while they are there, up to now
        near[near] = _may_be_told(first, keys, orders, whole, (begins, ends), now, near)
    stay = [*work.advance(begins, ends, near, over & mine)]
    stay += np.flatnonzero(here & mine & ~near & ~over).tolist()
    made = np.array(work.changes, dtype=np.int64).reshape(-1, 4)
    index, at, deltas, numbers = (made[made[:, 1] > LONG_AGO][:, n] for n in range(4))
    changed = show_rows(whole, index, np.abs(deltas), numbers, first.number)
    kept = ~over & ~(here & mine)
    if first.limit <= MOST:
        there = np.array(stay, dtype=np.int64)
        often = whole.column(MULTIPLICITY).to_numpy()[there]
        there = there[may_come(first, keys[there], orders[there], ends[there], often)]
        kept[there] = True
    else:
        kept[stay] = True
    left = _merge(whole.filter(pa.array(kept)), here[kept])
    pairs = _pair(columns.items, work.changes) if asked else []
    spans = np.array(pairs, dtype=np.int64).reshape(-1, 4)
    rows = whole.take(pa.array(spans[:, 0]))
    return FirstChanges(changed, at, deltas, left, rows, *(spans[:, n] for n in range(1, 4)))


def list_first(standing: Standing, held: pa.Table) -> pa.Table:
    """The rows that are told, of those that are held, with how often and their numbers."""
    now = LONG_AGO + 1  # those that would begin now
    begins = pa.array(np.maximum(_times(held, AT), now)).cast(INSTANT)
    rows = held.set_column(held.column_names.index(AT), AT, begins)
    return slide_first(replace(standing, distinct=False, groups=None), None, rows, now).changed


def _may_be_told(
    first: FirstRows,
    keys: Array,
    orders: Array,
    whole: pa.Table,
    times: tuple[Array, Array],
    now: int,
    of: Array,
) -> Array:
    """Which of some rows may be among the first at some time up to now, by those that were there
    before."""
    begins, ends = (side[of] for side in times)
    weights = whole.column(MULTIPLICITY).to_numpy()[of]
    before = begins <= LONG_AGO
    until = np.minimum(ends, now + 1)
    return may_come(first, keys[of], orders[of], until, weights, there=before)


_OWN = (AT, UNTIL, MULTIPLICITY)


@dataclass(slots=True)
class _Events:
    """What begins and ends of rows. `keys`: a code of the key of each."""

    first: FirstRows
    rows: WindowRows
    keys: Array
    changes: list[tuple[int, int, int, int]] = field(default_factory=list)

    def advance(self, begins: Array, ends: Array, here: Array, over: Array) -> list[int]:
        """Rows begin, those that are `here`, and end, those whose time is `over`; which of them are
        still to be held."""
        came, gone = np.flatnonzero(here), np.flatnonzero(over & here)
        rows = np.concatenate([came, gone])
        times = np.concatenate([begins[came], ends[gone]])
        order = np.lexsort((times, self.keys[rows]))
        keys, times, rows = self.keys[rows][order], times[order], rows[order]
        begun = (order < len(came)).tolist()
        differ = (np.diff(keys) != 0) | (np.diff(times) != 0)
        starts = np.flatnonzero(np.append(True, differ)) if len(keys) else np.zeros(0, np.int64)
        stay: list[int] = []
        board, key = None, -1
        bounds = [*starts.tolist(), len(keys)]
        listed = rows.tolist()
        for start, end in pairwise(bounds):
            if board is None or key != keys[start]:
                stay += self._close(board)
                board, key = WindowBoard(self.first, self.rows, self.changes), int(keys[start])
            for place in range(start, end):
                if begun[place]:
                    board.begin(listed[place])
                else:
                    board.end(listed[place])
            board.tell(int(times[start]))
        return stay + self._close(board)

    def _close(self, board: WindowBoard | None) -> list[int]:
        if board is None:
            return []
        if self.first.limit > MOST:
            board.forget()
        return board.list_rows()


def _pair(
    items: Sequence[int], changes: Sequence[tuple[int, int, int, int]]
) -> list[tuple[int, int, int, int]]:
    """Of rows that are told: the row, since when, until when (µs), and how often. Of equal ones the
    first to begin is the first to end: they are told apart by nothing."""
    made: list[tuple[int, int, int, int]] = []
    open_: dict[tuple[int, int], deque[tuple[int, int, int]]] = {}
    for row, at, often, number in changes:
        mine = open_.setdefault((items[row], number), deque())
        if often > 0:
            mine.append((row, at, often))
        while often < 0:
            one, since, there = mine.popleft()
            less = min(there, -often)
            made.append((one, since, at, less))
            often += less
            if there > less:
                mine.appendleft((one, since, there - less))
    made += [(row, at, NEVER, often) for mine in open_.values() for row, at, often in mine]
    return made


def _merge(rows: pa.Table, begun: Array) -> pa.Table | None:
    """Rows as they are held: those that have begun as of long ago, equal ones together."""
    if not rows.num_rows:
        return None
    begins = pa.array(np.where(begun, LONG_AGO, _times(rows, AT))).cast(INSTANT)
    table = rows.set_column(rows.column_names.index(AT), AT, begins)
    codes, count = code_rows(table, [n for n in table.column_names if n != MULTIPLICITY])
    total = np.zeros(count, dtype=np.int64)
    np.add.at(total, codes, table.column(MULTIPLICITY).to_numpy())
    place = table.column_names.index(MULTIPLICITY)
    table = table.take(pa.array(first_of(codes, count)))
    return table.set_column(place, table.schema.field(place), pa.array(total)).combine_chunks()


def _times(table: pa.Table, name: str) -> Array:
    times: Array = table.column(name).cast(pa.int64()).to_numpy()
    return times
