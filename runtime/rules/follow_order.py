"""Which rows come out of the order of a column, by what is remembered of greater values."""

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.rules.rule_state import RuleState
from ontoweir.runtime.rules.watched_rule import RuleKind, WatchedRule

_LEAST = int(np.iinfo(np.int64).min)


def follow_order(
    rule: WatchedRule, state: RuleState, rows: tuple[Array, Array, Array]
) -> tuple[Array, RuleState]:
    """Which rows break the rule, and what is remembered after them: `time` has the greatest values
    so far, in their order, and `upto` how many rows there were up to the end of the step in which
    each came.

    Args:
        rule: by a slack, or by rows.
        state: what is remembered.
        rows: the times of rows, in order; their values, whole numbers; and which of them no other
            rule rejects.
    """
    times, values, feeds = rows
    if not len(times):
        return np.zeros(0, dtype=np.bool_), state
    starts = np.flatnonzero(starts_of_runs(times))
    step = np.searchsorted(starts, np.arange(len(times)), side="right") - 1
    total = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(feeds)]) + state.total
    begun, over = total[starts], total[np.append(starts[1:], len(feeds))]
    most = np.full(len(starts), _LEAST, dtype=np.int64)
    np.maximum.at(most, step[feeds], values[feeds])
    greatest = np.maximum.accumulate(np.concatenate([state.time, most]))
    upto = np.concatenate([state.upto, over])
    known = len(state.time)
    if rule.kind is RuleKind.SLACK:
        place = known + np.arange(len(starts)) - 1
        slack = rule.span
    else:
        place = np.searchsorted(upto, begun - rule.span, side="left") - 1
        slack = 0
    limit = np.where(place >= 0, greatest[np.maximum(place, 0)], _LEAST)
    late = values < (np.maximum(limit, _LEAST + slack) - slack)[step]
    if rule.reject and rule.kind is RuleKind.ORDER and late.any():
        return _reject(rule, state, rows, starts)
    return late, _keep(rule, state, (greatest, upto), int(total[-1]))


def _keep(rule: WatchedRule, state: RuleState, known: tuple[Array, Array], total: int) -> RuleState:
    """The greatest values that may still say that one comes too late, each once."""
    greatest, upto = known
    fresh = starts_of_runs(greatest) & (greatest != _LEAST)
    greatest, upto = greatest[fresh], upto[fresh]
    first = len(greatest) - 1
    if rule.kind is RuleKind.ORDER:
        first = int(np.searchsorted(upto, total - rule.span, side="left")) - 1
    greatest, upto = greatest[max(first, 0) :], upto[max(first, 0) :]
    words = np.zeros(len(greatest), dtype=np.uint64)
    return replace(state, first=words, second=words, time=greatest, upto=upto, total=total)


def _reject(
    rule: WatchedRule, state: RuleState, rows: tuple[Array, Array, Array], starts: Array
) -> tuple[Array, RuleState]:
    """As follow_order by rows, where rows that break the rule do not count: step by step."""
    times, values, feeds = rows
    late = np.zeros(len(times), dtype=np.bool_)
    total, greatest, upto = state.total, state.time.tolist(), state.upto.tolist()
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(times)], strict=True):
        place = bisect_left(upto, total - rule.span) - 1
        if place >= 0:
            late[start:end] = values[start:end] < greatest[place]
        kept = feeds[start:end] & ~late[start:end]
        total += int(kept.sum())
        most = int(values[start:end][kept].max(initial=_LEAST))
        if kept.any() and (not greatest or most > greatest[-1]):
            greatest.append(most)
            upto.append(total)
    known = np.array(greatest, dtype=np.int64), np.array(upto, dtype=np.int64)
    return late, _keep(rule, state, known, total)
