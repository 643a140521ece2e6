"""Find the rows of a chunk that break rules: reject them, or count them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.rules.follow_rule import Rows, follow_rule, read_values
from ontoweir.runtime.rules.rule_state import RuleState
from ontoweir.runtime.rules.watched_rule import FOR_EVER, RuleKind, WatchedRule

Masks: TypeAlias = dict[str, Array]
"""By stream, some of the rows that were admitted."""


@dataclass(frozen=True, slots=True)
class Enforced:
    """What is admitted still, what is remembered after, and which rows were rejected: by stream
    and reason, their places among those that were admitted before."""

    admitted: Mapping[str, Admitted]
    states: tuple[RuleState, ...]
    rejected: tuple[tuple[str, str, Array], ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """A rule, what is remembered of it, and the rows that it is about; `behind`: of a rule between
    streams, those it counts from."""

    rule: WatchedRule
    state: RuleState
    rows: Rows
    said: Array
    behind: Rows | None

    def follow(self, others: Masks, every: Masks) -> tuple[Array, RuleState]:
        """Which rows of the stream break it, and what is remembered after, where `others` are
        rejected by other rules, and `every` by any.

        The mask is of all rows that were admitted.
        """
        rule = self.rule
        feeds = ~others[rule.stream][self.rows.places]
        if self.behind is not None and rule.behind is not None:
            gone = every[rule.behind[0]][self.behind.places]
            fed = self.behind.take(np.flatnonzero(~gone))
        else:
            fed = self.rows.take(np.flatnonzero(feeds & self.said))
        found, after = follow_rule(rule, self.state, self.rows, feeds, fed)
        late = np.zeros(len(others[rule.stream]), dtype=np.bool_)
        late[self.rows.places[found]] = True
        return late, after


def begin_rules(rules: Sequence[WatchedRule]) -> tuple[RuleState, ...]:
    """What is remembered before the first row."""
    return tuple(RuleState(limited=rule.limited) for rule in rules)


def enforce_rules(
    rules: Sequence[WatchedRule],
    admitted: Mapping[str, Admitted],
    states: Sequence[RuleState],
    now: int | None,
) -> Enforced:
    """Reject and count rows of a chunk that break rules.

    A row breaks a rule by rows of earlier timestamps that no rule rejects, whatever the order of
    rows within a timestamp.

    Args:
        rules: those that are watched.
        admitted: what was admitted of every stream, whole timestamps.
        states: what is remembered of each rule (none: nothing yet).
        now: the last finished timestamp (µs; None: there is none yet).
    """
    if not rules:
        return Enforced(admitted, ())
    known = tuple(states) or begin_rules(rules)
    if now is None or not any(len(a.times) for a in admitted.values()):
        return Enforced(admitted, _forget(rules, known, now))
    came = {name: (rows.table, rows.times) for name, rows in admitted.items()}
    looks = [look_at(rule, state, came) for rule, state in zip(rules, known, strict=True)]
    rejecting = [n for n, rule in enumerate(rules) if rule.reject]
    lates, after = _reject(looks, rejecting, admitted)
    every = _unite(lates, admitted, looks)
    for number, look in enumerate(looks):
        if not look.rule.reject:
            late, kept = look.follow(every, every)
            broken = int((late & ~every[look.rule.stream]).sum())
            after[number] = replace(kept, broken=kept.broken + broken)
    held = _forget(rules, tuple(after[n] for n in range(len(rules))), now)
    told, left = [], dict(admitted)
    for name, gone in every.items():
        if not gone.any():
            continue
        counts: dict[str, int] = {}
        for number in rejecting:
            mine = lates[number] & gone if rules[number].stream == name else gone & False
            gone = gone & ~mine
            if mine.any():
                reason = rules[number].name
                told.append((name, reason, np.flatnonzero(mine)))
                counts[reason] = counts.get(reason, 0) + int(mine.sum())
        left[name] = _keep(admitted[name], np.flatnonzero(~every[name]), counts)
    return Enforced(left, held, tuple(told))


def count_broken(rules: Sequence[WatchedRule], states: Sequence[RuleState]) -> dict[str, int]:
    """How many rows have broken each rule that only counts, by its name (none: nothing came)."""
    known = tuple(states) or begin_rules(rules)
    pairs = zip(rules, known, strict=True)
    return {rule.name: state.broken for rule, state in pairs if not rule.reject}


def look_at(
    rule: WatchedRule,
    state: RuleState,
    came: Mapping[str, tuple[pa.Table, Array]],
    bits: int = 0,
) -> Look:
    """A rule over more rows: whole timestamps in order, by stream, with their times (µs); `bits`:
    only those of some values (read_values)."""
    table, times = came[rule.stream]
    ordered = rule.kind in (RuleKind.SLACK, RuleKind.ORDER)
    rows = read_values(table, times, rule.columns, ordered=ordered, bits=bits)
    said = np.ones(len(rows.times), dtype=np.bool_)
    if rule.kind is RuleKind.END and rule.ends is not None:
        column = table.column(rule.ends).take(pa.array(rows.places))
        said = pc.fill_null(column.cast(pa.bool_()), False).to_numpy().astype(np.bool_)
    behind = None
    if rule.behind is not None:
        behind = read_values(*came[rule.behind[0]], rule.behind[1], bits=bits)
    return Look(rule, state, rows, said, behind)


def _reject(
    looks: Sequence[Look], rejecting: Sequence[int], admitted: Mapping[str, Admitted]
) -> tuple[dict[int, Array], dict[int, RuleState]]:
    """Which rows each rule rejects, and what is remembered after. A rule looks at rows that no
    other one rejects: again and again until nothing changes, which ends, as what is rejected at a
    timestamp depends on earlier ones only."""
    lates = {n: np.zeros(len(admitted[looks[n].rule.stream].times), np.bool_) for n in rejecting}
    after: dict[int, RuleState] = {}
    alone = len(rejecting) == 1 and not _feeds_itself(looks[rejecting[0]].rule)
    while True:
        changed = False
        for number in rejecting:
            others = _unite({n: m for n, m in lates.items() if n != number}, admitted, looks)
            every = _unite(lates, admitted, looks)
            late, after[number] = looks[number].follow(others, every)
            changed |= not np.array_equal(late, lates[number])
            lates[number] = late
        if not changed or alone:
            return lates, after


def _unite(
    lates: Mapping[int, Array], admitted: Mapping[str, Admitted], looks: Sequence[Look]
) -> Masks:
    """By stream, the rows that rules reject."""
    gone = {name: np.zeros(len(a.times), dtype=np.bool_) for name, a in admitted.items()}
    for number, late in lates.items():
        gone[looks[number].rule.stream] |= late
    return gone


def _feeds_itself(rule: WatchedRule) -> bool:
    """Whether rows of the stream are counted from others of it, by other columns."""
    return rule.behind is not None and rule.behind[0] == rule.stream


def _forget(
    rules: Sequence[WatchedRule], states: Sequence[RuleState], now: int | None
) -> tuple[RuleState, ...]:
    """Without values that are remembered no longer."""
    if now is None:
        return tuple(states)
    return tuple(
        state if rule.keep_us == FOR_EVER else state.forget(now - rule.keep_us)
        for rule, state in zip(rules, states, strict=True)
    )


def _keep(admitted: Admitted, index: Array, counts: Mapping[str, int]) -> Admitted:
    """Some of the rows that were admitted; `counts`: the others, by reason."""
    rejected = dict(admitted.rejected)
    for reason, count in counts.items():
        rejected[reason] = rejected.get(reason, 0) + count
    return replace(admitted.take(index), rejected=rejected)
