"""Joins of rows at their markers with a table's matches from strictly before them.

What is joined comes block by block, so that memory does not grow with the number of pairs.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.columns import frontier, is_frontier, past_frontier, stamp, value
from ontoweir.runtime.columnar.frame import (
    EVENT,
    LONG_AGO,
    SLOT,
    UNTIL,
    WEIGHT,
    Array,
    Frame,
    Name,
    expand,
    first_of,
    fit_totals,
    group_codes,
    join_weights,
    pair_up,
    sums_of,
)
from ontoweir.runtime.columnar.runs import blocks
from ontoweir.runtime.kept.asof_index import AsOfIndex
from ontoweir.runtime.kernel.keep_apart import keep_apart
from ontoweir.runtime.kernel.pareto_front import pareto_front
from ontoweir.runtime.kernel.plan_view import Members, PlanView

_FAR = float(1 << 62)


class _Grouped(NamedTuple):
    """Events in groups of equal keys, and the groups that each row of a frame meets.

    `events`: sorted by (group, marker); `first`: int64, where each group begins among them;
    `search`: finds events before a marker; `runs`, `start`, `length`: int64, for each row of the
    frame the place of its groups (`pair_up`).
    """

    events: Frame
    first: Array
    search: AsOfIndex
    runs: Array
    start: Array
    length: Array


def _grouped(frame: Frame, events: Frame, keys: Sequence[Name]) -> _Grouped:
    codes, count = group_codes([events[n] for n in keys], events.rows)
    search = AsOfIndex(codes, count, events[EVENT], frame.rows)
    if search.order is not None:
        events, codes = events.take(search.order), codes[search.order]
    first = first_of(codes, count)
    groups = events.take(first)
    shared = [n for n in keys if n in frame.columns]
    runs, start, length = pair_up(
        [frame[n] for n in shared], [groups[n] for n in shared], frame.rows, groups.rows
    )
    return _Grouped(events, first, search, runs, start, length)


def look_up_sums(
    view: PlanView,
    frame: Frame,
    table: SynopsisTable,
    events: Frame,
    window: tuple[int | None, int],
) -> Iterator[Frame]:
    """Join with sums of weights per key, over all the past or over a window of it.

    `window`: (c, d): from now - c (None: the beginning) to now - d.
    """
    keys = [value(k.value) for k in table.keys]
    near = None if window[0] is None else _find_near(frame, events, keys, (window[0], window[1]))
    if near is not None:
        yield from _look_up_rows(view, frame, keys, near)
        return
    events, first, search, runs, start, length = _grouped(frame, events, keys)
    totals = {n: _running(events[n]) for n in (WEIGHT, *sums_of(events))}
    until = search.place(frame[EVENT] - window[1] + 1)
    since = None if window[0] is None else search.place(frame[EVENT] - window[0])
    for cut in blocks(length):
        row, position = expand(start[cut], length[cut])
        row = row + cut.start
        group = runs[position]
        upper = search.rank_at(group, until[row])
        lower = first[group] if since is None else search.rank_at(group, since[row])
        lower = np.minimum(lower, upper)
        now = frame[EVENT][row]
        sums_by_name = {n: fit_totals(of[upper] - of[lower], now) for n, of in totals.items()}
        sums = Frame(len(row), sums_by_name)
        hit = sums[WEIGHT] > 0
        row, group, sums = row[hit], group[hit], sums.take(hit)
        mine = frame.take(row)
        theirs = {n: events[n][first[group]] for n in keys if n not in frame.columns}
        weights = (
            join_weights(mine, sums, np.arange(sums.rows))
            if view.bag
            else {WEIGHT: np.ones(len(row), np.int64)}
        )
        yield mine.with_columns({**theirs, **weights})


class _Near(NamedTuple):
    """The events that are in each row's window, by keys that both share: `start`, `length`: for
    each row, its events' places."""

    events: Frame
    start: Array
    length: Array


def _find_near(
    frame: Frame, events: Frame, keys: Sequence[Name], window: tuple[int, int]
) -> _Near | None:
    """The events in the windows of a frame's rows, where looking at them is less than looking up
    all the keys that a row may meet; None: it is not, or there are events that take others back."""
    shared = [n for n in keys if n in frame.columns]
    if len(shared) == len(keys) or not events.rows or int(events[WEIGHT].min()) <= 0:
        return None
    _, count = group_codes([events[n] for n in keys], events.rows)
    known = [events[n] for n in shared]
    codes, groups = group_codes(known, events.rows)
    search = AsOfIndex(codes, groups, events[EVENT], frame.rows)
    order = np.arange(events.rows) if search.order is None else search.order
    first = first_of(codes[order], groups)
    one = [column[order[first]] for column in known]
    runs, at, met = pair_up([frame[n] for n in shared], one, frame.rows, groups)
    there = met > 0
    group = runs[np.where(there, at, 0)]
    upper = search.rank_at(group, search.place(frame[EVENT] - window[1] + 1))
    lower = search.rank_at(group, search.place(frame[EVENT] - window[0]))
    length = np.where(there, np.maximum(upper - lower, 0), 0)
    if int(length.sum()) * groups > count * frame.rows:
        return None
    return _Near(events.take(order), lower, length)


def _look_up_rows(
    view: PlanView, frame: Frame, keys: Sequence[Name], near: _Near
) -> Iterator[Frame]:
    """As look_up_sums, event by event."""
    events = near.events
    for cut in blocks(near.length):
        row, event = expand(near.start[cut], near.length[cut])
        row = row + cut.start
        if not view.bag:  # a key counts once for each row
            codes, count = group_codes([events[n][event] for n in keys], len(event))
            _, once = np.unique(row * count + codes, return_index=True)
            row, event = row[once], event[once]
        mine = frame.take(row)
        theirs = {n: events[n][event] for n in keys if n not in frame.columns}
        weights = (
            join_weights(mine, events, event) if view.bag else {WEIGHT: np.ones(len(row), np.int64)}
        )
        yield mine.with_columns({**theirs, **weights})


def look_up_best(
    view: PlanView, frame: Frame, table: SynopsisTable, events: Frame
) -> Iterator[Frame]:
    """Join with the best frontier per key as of strictly before the marker.

    Events carry UNTIL, the marker at which a better one replaced them.
    """
    keys = [value(k.value) for k in table.keys]
    if table.samples:
        events, slots = keep_apart(events, table)
    else:
        events, slots = pareto_front(events, keys, len(table.frontier))
    events = events.with_columns({SLOT: slots})
    apart = {value(a.value) for a in table.samples}
    slotted = [*(k for k in keys if k not in apart), SLOT]
    events, first, search, runs, start, length = _grouped(frame, events, slotted)
    names = [*keys, *[frontier(i) for i in range(len(table.frontier))]]
    for cut in blocks(length):
        row, position = expand(start[cut], length[cut])
        row = row + cut.start
        group = runs[position]
        now = frame[EVENT][row]
        found = search.rank(group, now) - 1
        hit = found >= first[group]
        hit[hit] &= events[UNTIL][found[hit]] >= now[hit]
        row, found = row[hit], found[hit]
        mine = frame.take(row)
        theirs = {n: events[n][found] for n in names if n not in frame.columns}
        theirs = {_name_past(n, table): c for n, c in theirs.items()}
        yield mine.with_columns(theirs)


def join_single_matches(
    view: PlanView, frame: Frame, table: SynopsisTable, events: Frame, past: Members, now: Members
) -> Iterator[Frame]:
    """Join with single matches whose timestamps are kept: those inside the window; where the latest
    of each key serves, with these alone, unless the window has fewer rows than there are keys."""
    keys = [value(k.value) for k in table.keys]
    shared = [n for n in keys if n in frame.columns]
    both, count = group_codes(
        [np.concatenate([frame[n], events[n]]) for n in shared], frame.rows + events.rows
    )
    mine, other = both[: frame.rows], both[frame.rows :]
    search = AsOfIndex(other, count, events[EVENT], 2 * frame.rows)
    if search.order is not None:
        events = events.take(search.order)
    at = frame[EVENT]
    high = search.rank(mine, at)
    reach = [k.expire_after for k in table.kept if k.expire_after is not None]
    relevant = [t.steps for t in view.form.times if t.earlier in past and t.later in now]
    if relevant and reach:
        low = search.rank(mine, at - min(relevant))
    else:
        low = search.rank(mine, np.full(frame.rows, LONG_AGO))
    length = np.maximum(high - low, 0)
    if table.latest is not None:
        grouped = _grouped(frame, events, [n for n in keys if n[1] not in table.latest])
        if int(grouped.length.sum()) <= int(length.sum()):
            yield from _join_latest(view, frame, grouped, past, now)
            return
    for cut in blocks(length):
        row, position = expand(low[cut], length[cut])
        row = row + cut.start
        left = frame.take(row)
        theirs = {
            _name_past(n, table): events[n][position]
            for n in events.columns
            if n not in frame.columns
        }
        weights = (
            join_weights(left, events, position)
            if view.bag
            else {WEIGHT: np.ones(len(row), np.int64)}
        )
        joined = left.with_columns({**theirs, **weights})
        good = _in_time(view, joined, past, now)
        if UNTIL in theirs:  # the one tuple that could join it has come then
            good &= joined[UNTIL] >= joined[EVENT]
            joined = joined.select([n for n in joined.columns if n != UNTIL])
        yield joined.take(good)


def _join_latest(
    view: PlanView, frame: Frame, grouped: _Grouped, past: Members, now: Members
) -> Iterator[Frame]:
    """Join with the last event of each group before the marker, if it is in time."""
    events, first, search, runs, start, length = grouped
    for cut in blocks(length):
        row, position = expand(start[cut], length[cut])
        row = row + cut.start
        group = runs[position]
        found = search.rank(group, frame[EVENT][row]) - 1
        hit = found >= first[group]
        row, found = row[hit], found[hit]
        theirs = {n: c[found] for n, c in events.columns.items() if n not in frame.columns}
        joined = frame.take(row).with_columns({**theirs, WEIGHT: np.ones(len(row), np.int64)})
        yield joined.take(_in_time(view, joined, past, now))


def _in_time(view: PlanView, frame: Frame, past: Members, now: Members) -> Array:
    """The time constraints between past members (kept stamps) and those of the marker."""
    at = frame[EVENT]
    good = np.ones(frame.rows, dtype=np.bool_)
    for t in view.form.times:
        if t.earlier in past and t.later in now and stamp(t.earlier) in frame.columns:
            good &= at - frame[stamp(t.earlier)] <= t.steps
        if t.later in past and t.earlier in now and stamp(t.later) in frame.columns:
            good &= frame[stamp(t.later)] - at <= t.steps
    for d in view.form.time_differences:
        if d.left in past and d.right in now and stamp(d.left) in frame.columns:
            good &= frame[stamp(d.left)] != at + d.steps
        if d.right in past and d.left in now and stamp(d.right) in frame.columns:
            good &= at != frame[stamp(d.right)] + d.steps
    return good


def _running(column: Array) -> Array:
    """Sums of the first 0, 1, 2 … rows."""
    if float(np.sum(np.abs(column.astype(np.float64)))) > _FAR:
        column = column.astype(object)  # in Python's whole numbers, as differences may fit
    return np.concatenate([np.zeros(1, column.dtype), np.cumsum(column)])


def _name_past(name: Name, table: SynopsisTable) -> Name:
    """The name of a table's column among those of matches that join it."""
    return past_frontier(table.members, name[1]) if is_frontier(name) else name
