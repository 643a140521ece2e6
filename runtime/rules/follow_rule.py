"""Which rows of a chunk break a rule, by what is remembered before it."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.ingest.watch_keys import hash_keys
from ontoweir.runtime.rules.follow_order import follow_order
from ontoweir.runtime.rules.rule_state import UNKNOWN, RuleState, Values, hash_values
from ontoweir.runtime.rules.watched_rule import RuleKind, WatchedRule

_NEVER = 1 << 62


class Rows(NamedTuple):
    """Rows with a value, in the order of time: `times` in µs, and their places in the chunk."""

    values: Values
    times: Array
    places: Array

    def take(self, index: Array) -> "Rows":
        """Some of them, in order."""
        return Rows(self.values.take(index), self.times[index], self.places[index])


class Grouped(NamedTuple):
    """Rows by their values: `distinct`, in order of both hashes, `codes` by row; and what is
    remembered of them: `time` (UNKNOWN: nothing) and `upto`."""

    distinct: Values
    codes: Array
    time: Array
    upto: Array


def read_values(
    rows: pa.Table,
    times: Array,
    columns: tuple[str, ...],
    *,
    ordered: bool = False,
    bits: int = 0,
) -> Rows:
    """The rows that have values in all of some columns; `ordered`: of one, which are compared by
    order; `bits`: only those with values whose first hash ends with so many zero bits."""
    there = np.ones(len(times), dtype=np.bool_)
    for name in columns:
        column = rows.column(name)
        if column.null_count:
            there &= pc.is_valid(column).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(there)
    table = rows.select(list(columns))
    if len(places) < len(times):
        table = table.take(pa.array(places))
    if bits and not ordered:
        first = hash_keys(table, columns, 1)
        some = np.flatnonzero(first & np.uint64((1 << bits) - 1) == 0)
        sampled = table.take(pa.array(some))
        places = places[some]
        values = Values(first[some], hash_keys(sampled, columns, 2))
        return Rows(values, times[places], places)
    hashed = _hold_numbers(table) if ordered else hash_values(table, columns)
    return Rows(hashed, times[places], places)


def _hold_numbers(rows: pa.Table) -> Values:
    """The whole numbers, or days, of one column as they are."""
    column = rows.column(0)
    if pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32())
    numbers: Array = column.cast(pa.int64()).to_numpy()
    return Values(numbers.view(np.uint64), np.zeros(len(numbers), dtype=np.uint64))


def read_numbers(rows: Rows) -> Array:
    """Of rows that are compared by order, their numbers."""
    return rows.values.first.view(np.int64)


def follow_rule(
    rule: WatchedRule, state: RuleState, rows: Rows, feeds: Array, fed: Rows
) -> tuple[Array, RuleState]:
    """Which rows break a rule, and what is remembered after them. Only rows of earlier timestamps
    say so; a row that is rejected by this rule says nothing.

    Args:
        rule: the rule.
        state: what is remembered.
        rows: of the stream that has the rule.
        feeds: which of them no other rule rejects.
        fed: by a span or an end, the rows that say that values are closed.
    """
    match rule.kind:
        case RuleKind.SPAN | RuleKind.END:
            return _by_first(rule, state, rows, fed)
        case RuleKind.GAP:
            return _by_gap(rule, state, rows, feeds)
        case RuleKind.ROWS:
            return _by_rows(rule, state, rows, feeds)
        case RuleKind.SLACK | RuleKind.ORDER:
            return follow_order(rule, state, (rows.times, read_numbers(rows), feeds))


def group_values(state: RuleState, values: Values) -> Grouped:
    order = np.lexsort((values.second, values.first))
    first, second = values.first[order], values.second[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.cumsum(fresh) - 1
    distinct = Values(first[fresh], second[fresh])
    places, there = state.find(distinct)
    time = np.full(len(places), UNKNOWN, dtype=np.int64)
    upto = np.zeros(len(places), dtype=np.int64)
    time[there], upto[there] = state.time[places[there]], state.upto[places[there]]
    return Grouped(distinct, codes, time, upto)


def _by_first(
    rule: WatchedRule, state: RuleState, rows: Rows, fed: Rows
) -> tuple[Array, RuleState]:
    """A value is closed a span after the first row that counts."""
    count = len(rows.times)
    both = Values(*(np.concatenate(pair) for pair in zip(rows.values, fed.values, strict=True)))
    grouped = group_values(state, both)
    mine, theirs = grouped.codes[:count], grouped.codes[count:]
    least = np.full(len(grouped.time), _NEVER, dtype=np.int64)
    np.minimum.at(least, theirs, fed.times)
    found = np.where(least == _NEVER, UNKNOWN, least)
    since = np.where(grouped.time == UNKNOWN, found, grouped.time)
    ages = _age(rows.times, since[mine])
    late = ages > rule.span
    renewed = np.zeros(len(since), dtype=np.bool_)
    renewed[mine[ages > rule.keep_us]] = True
    renewed[theirs[_age(fed.times, since[theirs]) > rule.keep_us]] = True
    if renewed.any():
        _renew(rule, (rows.times, mine, late), (fed.times, theirs), (grouped.time, since, renewed))
    return late, state.put(grouped.distinct, since, np.zeros_like(since))


def _age(times: Array, since: Array) -> Array:
    """How long ago something was; 0 where it was not."""
    return np.where(since == UNKNOWN, 0, times - np.where(since == UNKNOWN, 0, since))


def _renew(
    rule: WatchedRule,
    tested: tuple[Array, Array, Array],
    fed: tuple[Array, Array],
    known: tuple[Array, Array, Array],
) -> None:
    """As _by_first, of values that are forgotten on the way: row by row.

    Args:
        rule: the rule.
        tested: rows' times and values, and whether they break it, which is changed in place.
        fed: times and values of those that count.
        known: by value, since when it is remembered before, and after, which is changed in place;
            and whether it is one of those.
    """
    times, codes, late = tested
    before, since, renewed = known
    own, others = np.flatnonzero(renewed[codes]), np.flatnonzero(renewed[fed[1]])
    place = np.concatenate([own, np.full(len(others), -1)])
    code = np.concatenate([codes[own], fed[1][others]])
    time = np.concatenate([times[own], fed[0][others]])
    since[renewed] = before[renewed]
    held: dict[int, int] = {}
    order = np.lexsort((place < 0, time, code))
    for at in order.tolist():
        one, moment, row = int(code[at]), int(time[at]), int(place[at])
        first = held.get(one, int(before[one]))
        if first != UNKNOWN and moment - first > rule.keep_us:
            first = UNKNOWN
        if row < 0:
            first = moment if first == UNKNOWN else first
        else:
            late[row] = first != UNKNOWN and moment - first > rule.span
        held[one] = first
    for one, first in held.items():
        since[one] = first


def _previous(codes: Array, times: Array, feeds: Array) -> tuple[Array, Array]:
    """Of rows in order of values, then times: the place of the last one of an earlier timestamp
    that counts (-1: there is none); and by value the place of the last one."""
    place = np.arange(len(codes))
    fresh = starts_of_runs(codes)
    begins = np.maximum.accumulate(np.where(fresh | starts_of_runs(times), place, 0))
    start = np.maximum.accumulate(np.where(fresh, place, 0))
    seen = np.maximum.accumulate(np.where(feeds, place, -1))
    before = np.where(begins > 0, seen[begins - 1], -1)
    ends = np.append(np.flatnonzero(fresh)[1:], len(codes)) - 1 if len(codes) else place
    last = np.where(seen[ends] >= start[ends], seen[ends], -1)
    return np.where(before >= start, before, -1), last


def _by_gap(
    rule: WatchedRule, state: RuleState, rows: Rows, feeds: Array
) -> tuple[Array, RuleState]:
    """A value is closed a gap after its last row."""
    grouped = group_values(state, rows.values)
    order = np.lexsort((rows.times, grouped.codes))
    times, codes = rows.times[order], grouped.codes[order]
    before, last = _previous(codes, times, feeds[order])
    known = np.where(before >= 0, times[before], grouped.time[codes]) if len(times) else times
    ages = _age(times, known)
    found = (ages > rule.span) & (ages <= rule.keep_us)
    time = np.where(last >= 0, times[last], grouped.time) if len(times) else grouped.time
    if rule.reject and found.any():
        again = np.zeros(len(grouped.time), dtype=np.bool_)
        again[codes[found]] = True
        held: dict[int, int] = {}
        for at in np.flatnonzero(again[codes]).tolist():
            one, moment = int(codes[at]), int(times[at])
            latest = held.get(one, int(grouped.time[one]))
            age = 0 if latest == UNKNOWN else moment - latest
            found[at] = rule.span < age <= rule.keep_us
            held[one] = moment if feeds[order[at]] and not found[at] else latest
        for one, latest in held.items():
            time[one] = latest
    late = np.zeros(len(times), dtype=np.bool_)
    late[order] = found
    return late, state.put(grouped.distinct, time, np.zeros_like(time))


def _by_rows(
    rule: WatchedRule, state: RuleState, rows: Rows, feeds: Array
) -> tuple[Array, RuleState]:
    """A value is closed when more rows than that have come in steps after its last one."""
    grouped = group_values(state, rows.values)
    starts = np.flatnonzero(starts_of_runs(rows.times))
    step = np.searchsorted(starts, np.arange(len(rows.times)), side="right") - 1
    total = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(feeds)]) + state.total
    begun, over = total[starts][step], total[np.append(starts[1:], len(feeds))][step]
    order = np.lexsort((rows.times, grouped.codes))
    times, codes, ended = rows.times[order], grouped.codes[order], over[order]
    before, last = _previous(codes, times, feeds[order])
    time, upto = grouped.time.copy(), grouped.upto.copy()
    known, reached = time[codes], upto[codes]
    if len(times):
        known = np.where(before >= 0, times[before], known)
        reached = np.where(before >= 0, ended[before], reached)
        time = np.where(last >= 0, times[last], time)
        upto = np.where(last >= 0, ended[last], upto)
    found = (known != UNKNOWN) & (begun[order] - reached > rule.span)
    found &= _age(times, known) <= rule.keep_us
    late = np.zeros(len(times), dtype=np.bool_)
    late[order] = found
    counted = int(total[-1])
    if rule.reject and found.any():
        time, upto = grouped.time.copy(), grouped.upto.copy()
        late, counted = _reject_by_rows(
            rule, (rows.times, grouped.codes, feeds), (time, upto), state.total
        )
    after = state.put(grouped.distinct, time, upto)
    return late, after.count(counted)


def _reject_by_rows(
    rule: WatchedRule, rows: tuple[Array, Array, Array], known: tuple[Array, Array], total: int
) -> tuple[Array, int]:
    """As _by_rows, where rows that break the rule do not count: step by step. `known` is changed in
    place; and how many rows have come."""
    times, codes, feeds = rows
    time, upto = known
    late = np.zeros(len(times), dtype=np.bool_)
    starts = np.flatnonzero(starts_of_runs(times))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(times)], strict=True):
        moment, mine = int(times[start]), codes[start:end]
        there = time[mine] != UNKNOWN
        there &= _age(times[start:end], time[mine]) <= rule.keep_us
        late[start:end] = there & (total - upto[mine] > rule.span)
        kept = feeds[start:end] & ~late[start:end]
        total += int(kept.sum())
        time[mine[kept]], upto[mine[kept]] = moment, total
    return late, total
