"""When the groups of values that a rule closes are final."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.columnar.runs import order_rows
from ontoweir.runtime.results.group_state import GroupColumn, GroupState, add_groups
from ontoweir.runtime.results.measures import Measure, MeasureKind
from ontoweir.runtime.times.steps import count_steps

NEVER = 1 << 62
"""When what is open is final, as far as is known."""

_DAY_US = 86_400_000_000
_SHORT = 1 << 16
"""Fewer places than that are put in order by two bytes, which numpy does at once."""

TIME: Measure = (MeasureKind.MAX, "time")
"""Of an open value: by a gap, its last row's time; by rows, when it was closed, if it is; else when
its groups are final, as far as is known. In µs."""
SINCE: Measure = (MeasureKind.WEIGHT, "since")
"""Of an open value by rows: how many came in later steps than its last one; of one in an order by
rows: in later steps than its first one."""


@dataclass(frozen=True, slots=True)
class ValueClosing:
    """When groups are final.

    Args:
        variables: the group's columns with the values.
        wait_us: how long after a value is closed matches of its rows may come.
        gap_us: it is closed so long after its last row.
        rows: it is closed when more rows than that have come in later steps.
        span_us: it is closed so long after its first row; of none, by the row that says so.
        at_once: a group is answered when it is found, and forgotten when it is final.
        slack: it is closed by a value that is greater by more than that.
        late_rows: it is closed when more rows than that have come in steps after a greater value.
        stream: what has the rule, of `columns`.
        timed: values are times, from which on a span is counted, whenever the first row comes.
        begun_us: live, since when a lesser k is used: nothing is final before it.
    """

    variables: tuple[str, ...]
    wait_us: int
    gap_us: int | None = None
    rows: int | None = None
    span_us: int | None = None
    at_once: bool = False
    slack: int | None = None
    late_rows: int | None = None
    stream: str = ""
    columns: tuple[str, ...] = ()
    timed: bool = False
    begun_us: int | None = None


class Followed(NamedTuple):
    """What watched rows say.

    `values`: all values that were open or came, by place; `places`, `times`: when the groups of a
    value are final for the first time, for the second, … (µs), in order of places, then of times.
    If rows keep the rule, a value is closed once; else, and in sessions, what comes after that
    begins its groups anew, in the next turn. `open`: the values that are open, or whose groups are
    not final. `once`: no value's groups begin anew, so that every match is of the first turn.
    """

    values: GroupState
    places: Array
    times: Array
    open: GroupState
    once: bool = False

    def number_turns(self, places: Array, at: Array) -> Array:
        """In which turn of their values matches at some times (µs) come, from 0."""
        moments, ranks = np.unique(self.times, return_inverse=True)
        width = len(moments) + 1
        ends = self.places * width + ranks
        found = np.searchsorted(ends, places * width + np.searchsorted(moments, at))
        turns: Array = found - np.searchsorted(self.places, places)
        return turns

    def final_at(self, places: Array, turns: Array) -> Array:
        """When the groups of values are final in some turns (µs; NEVER: they are not)."""
        # many groups are of one value
        begins = np.searchsorted(self.places, np.arange(int(places.max(initial=-1)) + 2))
        index = begins[places] + turns
        inside = index < begins[places + 1]
        final = np.full(len(places), NEVER, dtype=np.int64)
        final[inside] = self.times[index[inside]]
        return final


class _Ends(NamedTuple):
    """When the groups of values are final, in order of places, then times; and what is open: its
    places and measures."""

    places: Array
    times: Array
    left: Array
    measures: dict[Measure, Array]


def follow_values(
    closing: ValueClosing,
    before: GroupState,
    rows: pa.Table,
    watched: tuple[Array, Array],
    now: int | None,
) -> Followed:
    """What the watched rows of a chunk say of values.

    Args:
        closing: the rule.
        before: the values that are open.
        rows: what they say of `closing.variables`.
        watched: their times (µs), and how many each of them is.
        now: the last finished timestamp, in µs (None: there is none yet).
    """
    at, weights = watched
    values, places = add_groups(before, rows, len(at))
    until = -NEVER if now is None else now
    if closing.gap_us is not None:
        ends = _by_gap(closing, before, places, at, until)
    elif closing.rows is not None:
        ends = _by_rows(closing, before, places, (at, weights), until)
    elif closing.slack is not None or closing.late_rows is not None:
        ends = _by_order(closing, before, _read_values(values), places, (at, weights), until)
    elif closing.span_us is not None:
        begins = _read_values(values, day=_DAY_US) if closing.timed else None
        ends = _by_span(before, places, at, (closing.span_us, closing.wait_us), until, begins)
    else:
        ends = _by_ends(before, places, at, closing.wait_us, until)
    # by the other rules, matches of a row that breaks them may come when groups are final, if they
    # are waited for; and where rows say that they are the last, others are not looked at
    whole = (
        closing.span_us is not None or closing.slack is not None or closing.late_rows is not None
    )
    once = closing.gap_us is not None or closing.rows is not None
    once = once or (whole and not closing.wait_us)
    if once:
        periods = np.bincount(np.concatenate([ends.places, ends.left]))
        once = int(periods.max(initial=0)) < 2
    return Followed(values, ends.places, ends.times, _keep(values, ends), once)


def _keep(values: GroupState, ends: _Ends) -> GroupState:
    """The values that are left."""
    if not len(ends.left):
        return GroupState(texts=values.texts)
    assert values.keys is not None
    return GroupState(
        len(ends.left),
        values.keys.take(pa.array(ends.left)).combine_chunks(),
        {
            name: GroupColumn(column, column != NEVER if name == TIME else column >= 0)
            for name, column in ends.measures.items()
        },
        changed=np.full(len(ends.left), LONG_AGO, dtype=np.int64),
        texts=values.texts,
    )


def _times(before: GroupState) -> Array:
    """The times of open values; NEVER where there is none."""
    held = before.measures.get(TIME)
    if held is None:
        return np.full(before.count, NEVER, dtype=np.int64)
    return np.where(held.valid, held.values, NEVER)


def _order(held: int, place: Array, at: Array, time: Array) -> Array:
    """The order of places, and of times where these are equal.

    Args:
        held: so many rows, each of a place of its own, are from before the others.
        place: of all rows.
        at: the times of the others, in order in all but few cases.
        time: those of all.
    """
    if held and len(at) and int(at.min()) < int(time[:held].max()):
        return np.lexsort((time, place))
    if not (at[1:] >= at[:-1]).all():
        return np.lexsort((time, place))
    most = int(place.max(initial=0))
    if most < _SHORT:
        return np.argsort(place.astype(np.uint16), kind="stable")
    return order_rows(place, most + 1)


def _by_gap(closing: ValueClosing, before: GroupState, places: Array, at: Array, now: int) -> _Ends:
    """A run of rows of a value, each at most a while after the one before, ends that long after its
    last one."""
    assert closing.gap_us is not None
    after = closing.gap_us + closing.wait_us
    begun = -NEVER if closing.begun_us is None else closing.begun_us
    place = np.concatenate([np.arange(before.count), places])
    time = np.concatenate([_times(before), at])
    order = _order(before.count, place, at, time)
    place, time = place[order], time[order]
    # of most rows the next one of their value comes in time: only others are looked at further
    same = place[1:] == place[:-1]
    resumed = np.flatnonzero(same & (time[1:] - time[:-1] > after))
    resumed = resumed[time[resumed + 1] > begun]
    last = np.flatnonzero(np.append(~same, True)) if len(place) else np.zeros(0, dtype=np.int64)
    ended = np.maximum(time[last] + after, begun) <= now
    over, left = np.sort(np.concatenate([resumed, last[ended]])), last[~ended]
    ends = np.maximum(time[over] + after, begun)
    return _Ends(place[over], ends, place[left], {TIME: time[left]})


def _by_rows(
    closing: ValueClosing,
    before: GroupState,
    places: Array,
    watched: tuple[Array, Array],
    now: int,
) -> _Ends:
    """A run of rows of a value ends in the step in which too many have come since its last one; and
    then matches are waited for."""
    assert closing.rows is not None
    at, weights = watched
    steps, step, total = count_steps(at, weights)
    held = before.measures.get(SINCE)
    since = np.zeros(0, dtype=np.int64) if held is None else held.values
    place = np.concatenate([np.arange(before.count), places])
    time = np.concatenate([np.full(before.count, -NEVER), at])
    base = np.concatenate([-since, total[step]])
    known = np.concatenate([_times(before), np.full(len(at), NEVER)])
    order = _order(before.count, place, at, time)
    place, time, base, known = place[order], time[order], base[order], known[order]
    reached = np.searchsorted(total, base + closing.rows, side="right")
    closed = np.append(steps, NEVER)[reached]
    closed = np.where(known != NEVER, known, closed)
    final = np.where(closed == NEVER, NEVER, closed + closing.wait_us)
    last = np.append(place[1:] != place[:-1], True)[: len(place)]
    over = np.where(last, final <= now, np.append(time[1:], 0)[: len(time)] > final)
    left = last & ~over
    rest = (int(total[-1]) if len(total) else 0) - base[left]
    return _Ends(place[over], final[over], place[left], {TIME: closed[left], SINCE: rest})


def _by_span(
    before: GroupState,
    places: Array,
    at: Array,
    after: tuple[int, int],
    now: int,
    begins: Array | None,
) -> _Ends:
    """A value is closed a span after its first row, or after it `begins`, if it is a time. A row
    that comes while matches are waited for breaks the rule, and prolongs the wait."""
    span, wait = after
    final = np.full(int(max(before.count, places.max(initial=-1) + 1)), -NEVER, dtype=np.int64)
    final[: before.count] = _times(before)
    found: list[tuple[Array, Array]] = []
    mine = np.arange(before.count)
    while True:
        while (more := (at <= final[places]) & (at + wait > final[places])).any():
            np.maximum.at(final, places[more], at[more] + wait)
        found.append((mine, final[mine]))
        rest = at > final[places]
        if not rest.any():
            return _settle(found, now)
        places, at = places[rest], at[rest]
        first = np.full(len(final), NEVER, dtype=np.int64)
        np.minimum.at(first, places, at)
        mine = np.unique(places)
        since = first if begins is None else begins
        final[mine] = since[mine] + span + wait


def _read_values(values: GroupState, *, day: int = 1) -> Array:
    """Values as numbers: times in µs, and days as their numbers, each counted so often."""
    assert values.keys is not None
    (name,) = values.keys.column_names
    column = values.keys.column(name).combine_chunks()
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz))
    days = pa.types.is_date32(column.type)
    column = column.cast(pa.int32()) if days else column
    numbers: Array = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers * day if days else numbers


def _by_order(
    closing: ValueClosing,
    before: GroupState,
    values: Array,
    places: Array,
    watched: tuple[Array, Array],
    now: int,
) -> _Ends:
    """A value is closed when a greater one has come, by the slack, or so many rows ago. One that
    comes after that breaks the rule, and is final at once; others while matches are waited for say
    nothing new."""
    at, weights = watched
    steps, _, total = count_steps(at, weights)
    first = np.full(len(values), NEVER, dtype=np.int64)
    first[: before.count] = -NEVER
    np.minimum.at(first, places, at)
    base = np.append(total, NEVER)[np.searchsorted(steps, first)]
    if before.count and closing.late_rows is not None:
        base[: before.count] = -before.measures[SINCE].values
    closed = _find_closed(closing, values, (first, base), (steps, total))
    known = np.full(len(values), NEVER, dtype=np.int64)
    known[: before.count] = _times(before)
    begun = -NEVER if closing.begun_us is None else closing.begun_us
    fresh = np.maximum(np.maximum(closed, first) + closing.wait_us, begun)
    fresh = np.where(closed == NEVER, NEVER, fresh)
    final = np.where(known != NEVER, known, fresh)
    found = [(np.arange(len(values)), final.copy())]
    while (rest := at > final[places]).any():
        places, at = places[rest], at[rest]
        late = np.full(len(values), NEVER, dtype=np.int64)
        np.minimum.at(late, places, at)
        mine = np.unique(places)
        final[mine] = late[mine] + closing.wait_us
        found.append((mine, final[mine]))
    ends = _settle(found, now)
    if closing.late_rows is None:
        return ends
    since = (int(total[-1]) if len(total) else 0) - base[ends.left]
    return ends._replace(measures={**ends.measures, SINCE: since})


def _find_closed(
    closing: ValueClosing,
    values: Array,
    known: tuple[Array, Array],
    watched: tuple[Array, Array],
) -> Array:
    """When each value was closed (-NEVER: before; NEVER: it is not), whenever it came.

    Args:
        closing: the rule.
        values: those that are open, or came.
        known: when each came first (-NEVER: before), and how many rows there were up to the end of
            that step, without those before.
        watched: the steps in which rows came, and how many there were up to the end of each.
    """
    first, base = known
    steps, total = watched
    order = np.argsort(values, kind="stable")[::-1]
    after = np.append(steps, NEVER)
    if closing.late_rows is not None:
        least = np.minimum.accumulate(base[order])
        above = np.concatenate([np.full(1, NEVER, dtype=np.int64), least[:-1]])[: len(order)]
        closed = np.full(len(values), NEVER, dtype=np.int64)
        there = above != NEVER
        reached = np.searchsorted(total, above[there] + closing.late_rows, side="right")
        closed[order[there]] = after[reached]
        closed[order[there]] = np.where(
            above[there] + closing.late_rows < 0, -NEVER, closed[order[there]]
        )
        return closed
    assert closing.slack is not None
    least = np.minimum.accumulate(first[order])  # when a value as great as this came first
    most = np.iinfo(np.int64).max
    limit = np.minimum(values, most - closing.slack) + closing.slack
    greater = np.searchsorted(values[order][::-1], limit, side="right")
    count = len(values) - greater  # so many values are greater by more than the slack
    return np.where(count > 0, least[np.maximum(count - 1, 0)], NEVER)


def _settle(found: list[tuple[Array, Array]], now: int) -> _Ends:
    """The times that are over, and those that are not; `found`: places, and the next time each."""
    place = np.concatenate([p for p, _ in found])
    time = np.concatenate([t for _, t in found])
    order = np.lexsort((time, place))
    place, time = place[order], time[order]
    over = time <= now
    return _Ends(place[over], time[over], place[~over], {TIME: time[~over]})


def _by_ends(before: GroupState, places: Array, at: Array, wait: int, now: int) -> _Ends:
    """A value is closed by the first row that says so; others while matches are waited for say
    nothing new."""
    final = np.full(int(max(before.count, places.max(initial=-1) + 1)), -NEVER, dtype=np.int64)
    final[: before.count] = _times(before)
    found = [(np.arange(before.count), final[: before.count].copy())]
    while True:
        rest = at > final[places]
        if not rest.any():
            break
        places, at = places[rest], at[rest]
        first = np.full(len(final), NEVER, dtype=np.int64)
        np.minimum.at(first, places, at)
        mine = np.unique(places)
        final[mine] = first[mine] + wait
        found.append((mine, final[mine]))
    return _settle(found, now)
