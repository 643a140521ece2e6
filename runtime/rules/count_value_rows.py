"""How many rows come of one value until it is closed, live (`max_rows_per_value`)."""

from typing import NamedTuple

import numpy as np

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.rules.follow_rule import Rows, group_values
from ontoweir.runtime.rules.rule_state import UNKNOWN, RuleState
from ontoweir.runtime.rules.watched_rule import RuleKind, WatchedRule


class _Ordered(NamedTuple):
    """Rows by value, then by time: codes of their values, and which are the first of one; where
    each lies, and where it would have to come at the latest if it were not: by rows, after how many
    rows its step ends, and begins; else its time (µs)."""

    codes: Array
    fresh: Array
    ends: Array
    begins: Array


def count_value_rows(
    rule: WatchedRule, state: RuleState, rows: Rows, said: Array, bits: int
) -> tuple[int, RuleState]:
    """The most rows that a value has had since it began, and what is remembered: of each value, its
    rows so far (`upto`), and when the last one came (`time`: µs; by rows, how many there were up to
    the end of its step).

    Args:
        rule: closes values by a gap, by rows, or by a row that says that it is the last one.
        state: what is remembered.
        rows: more of them, whole timestamps in order; by rows, of all values.
        said: which of them say that they are the last of their values.
        bits: by rows, only values whose first hash ends with so many zero bits are looked at.
    """
    if not len(rows.times):
        return 0, state
    total = state.total + len(rows.times)
    starts = np.flatnonzero(starts_of_runs(rows.times))
    step = np.searchsorted(starts, np.arange(len(rows.times)), side="right") - 1
    begins, ends = rows.times, rows.times
    if rule.kind is RuleKind.ROWS:
        begins = starts[step] + state.total
        ends = np.append(starts[1:], len(rows.times))[step] + state.total
        some = np.flatnonzero(rows.values.first & np.uint64((1 << bits) - 1) == 0)
        rows, begins, ends, said = rows.take(some), begins[some], ends[some], said[some]
        if not len(some):
            return 0, state.count(total)
    grouped = group_values(state, rows.values)
    order = np.lexsort((rows.times, grouped.codes))
    codes = grouped.codes[order]
    mine = _Ordered(codes, starts_of_runs(codes), ends[order], begins[order])
    over = np.zeros(len(codes), dtype=np.bool_)  # the value of a row is closed with it
    if rule.kind is RuleKind.END:
        over = _find_ends(mine, said[order])
        closed = np.append(False, over[:-1]) & ~mine.fresh
        closed &= np.append(False, mine.ends[1:] != mine.ends[:-1])
    else:
        before = np.append(np.int64(UNKNOWN), mine.ends[:-1])
        before[mine.fresh] = grouped.time[codes[mine.fresh]]
        known = before != UNKNOWN
        closed = known & (mine.begins - np.where(known, before, mine.begins) > rule.span)
    begun = np.flatnonzero(mine.fresh | closed)
    run = np.cumsum(mine.fresh | closed) - 1
    there = mine.fresh & ~closed & (grouped.time[codes] != UNKNOWN)
    carried = np.where(there, grouped.upto[codes], 0)[begun]
    count = np.arange(len(codes)) - begun[run] + 1 + carried[run]
    time, upto = grouped.time.copy(), grouped.upto.copy()
    time[codes], upto[codes] = np.where(over, UNKNOWN, mine.ends), count  # the last one counts
    after = state.put(grouped.distinct, time, upto).forget(UNKNOWN)
    return int(count.max()), after.count(total)


def _find_ends(mine: _Ordered, said: Array) -> Array:
    """The rows of a value and a timestamp of which one says that it is the last."""
    same = np.append(False, (mine.codes[1:] == mine.codes[:-1]) & (mine.ends[1:] == mine.ends[:-1]))
    starts = np.flatnonzero(~same)
    ended: Array = np.logical_or.reduceat(said, starts)[np.cumsum(~same) - 1]
    return ended
