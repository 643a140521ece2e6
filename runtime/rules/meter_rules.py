"""How far rows go towards the limits of the rules on how they come, live ([B] 4.3, 5.3, 6.3).

What is measured of a rule is its k as the rows show it: the longest gap, the longest span, the most
rows between, the farthest out of order, the values open at once. Of values, a sample is remembered
that has a limit, each up to some times the k that is declared: a k that is greater still is told as
that. Nothing rests on what is measured here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import ClosingRule, Lag, Stream
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.rules.count_value_rows import count_value_rows
from ontoweir.runtime.rules.enforce_rules import look_at
from ontoweir.runtime.rules.follow_rule import Rows, group_values, read_numbers
from ontoweir.runtime.rules.rule_state import UNKNOWN, RuleState, Values
from ontoweir.runtime.rules.watched_rule import RuleKind, WatchedRule, describe_rule
from ontoweir.runtime.times.sliding_max import SlidingMax

REACH = 4
"""A value is remembered up to so many times the k that is declared."""
MOST = 1 << 13
"""So many values of a rule are remembered."""
_WINDOWS = 10
_LEAST_ROWS = 64
_HOUR_US = 3_600_000_000


class Metered(NamedTuple):
    """A rule that is measured; `used`: the k that is declared, in µs, rows or values; `step_us`:
    of its stream; `floor`: less is used where rows show less, and at least so much (None: what is
    declared is); `counts`: it is of how many rows a value has until it is closed."""

    rule: WatchedRule
    used: int
    step_us: int
    floor: int | None = None
    counts: bool = False


@dataclass(frozen=True, slots=True)
class RuleMeter:
    """What is remembered of a rule: of values whose hash ends with so many zero `bits`. `used`: the
    k in use (None: as declared), `since_us`: from when on it is less than the one before."""

    known: RuleState = field(default_factory=RuleState)
    bits: int = 0
    seen: SlidingMax = field(default_factory=SlidingMax)
    used: int | None = None
    since_us: int | None = None


def k_in_use(metered: Metered, meter: RuleMeter) -> int:
    """The k of a rule that is used."""
    return metered.used if meter.used is None else meter.used


def list_metered(streams: Mapping[str, tuple[Stream, Sequence[str]]]) -> tuple[Metered, ...]:
    """The rules of streams, given with the columns that are read, that can be measured: all whose
    columns are."""
    found = []
    for name, (stream, _) in sorted(streams.items()):
        rules: Iterable[Lag | ClosingRule] = (*stream.lags, *stream.closing)
        for declared in rules:
            rule = describe_rule(name, declared)
            read = all(
                other in streams and set(columns) <= set(streams[other][1])
                for other, columns in rule.read
            )
            if read:
                open_ones = declared.most_open if isinstance(declared, ClosingRule) else None
                used = (open_ones or 0) if rule.kind is RuleKind.END else rule.span
                floor = declared.floor if isinstance(declared, ClosingRule) else None
                found.append(Metered(rule, used, stream.grid_us, floor))
                if isinstance(declared, ClosingRule) and declared.most_rows is not None:
                    if declared.is_order:  # a value that has not come for long does not come again
                        rule = replace(rule, kind=RuleKind.GAP, span=_HOUR_US)
                    found.append(Metered(rule, declared.most_rows, stream.grid_us, counts=True))
    return tuple(found)


def meter_rules(
    rules: Sequence[Metered],
    meters: Sequence[RuleMeter],
    admitted: Mapping[str, Admitted],
    now_us: int,
) -> tuple[RuleMeter, ...]:
    """What is remembered after more rows, whole timestamps up to `now_us`."""
    known = tuple(meters) or tuple(RuleMeter() for _ in rules)
    came = {name: (rows.table, rows.times) for name, rows in admitted.items()}
    return tuple(
        _meter(rule, meter, came, now_us) for rule, meter in zip(rules, known, strict=True)
    )


def _meter(
    metered: Metered,
    meter: RuleMeter,
    came: Mapping[str, tuple[pa.Table, Array]],
    now_us: int,
) -> RuleMeter:
    rule = metered.rule
    counts = rule.kind is RuleKind.ROWS  # all rows are counted
    look = look_at(rule, meter.known, came, 0 if counts else meter.bits)
    rows = look.rows
    match rule.kind:
        case _ if metered.counts:
            k, known = count_value_rows(rule, meter.known, rows, look.said, meter.bits)
        case RuleKind.SPAN:
            fed = rows if look.behind is None else look.behind
            k, known = _measure_span(meter.known, rows, fed, rule)
        case RuleKind.GAP:
            k, known = _measure_gap(meter.known, rows)
        case RuleKind.ROWS:
            k, known = _measure_rows(meter.known, rows, meter.bits)
        case RuleKind.END:
            ends = rows.take(np.flatnonzero(look.said))
            known = _follow_open(meter.known, rows, ends)
            k = len(known.time) << meter.bits
        case RuleKind.SLACK | RuleKind.ORDER:
            k, known = _measure_order(meter.known, rows, rule.kind)
    window = _WINDOWS * rule.span if rule.kind in (RuleKind.SPAN, RuleKind.GAP) else _HOUR_US
    seen = meter.seen.see(k, now_us, max(window, metered.step_us))
    meter = _limit(replace(meter, known=_forget(metered, known, now_us), seen=seen))
    return meter if metered.floor is None else _adapt(metered, metered.floor, meter, now_us)


def _adapt(metered: Metered, floor: int, meter: RuleMeter, now_us: int) -> RuleMeter:
    """With the k that the last window has shown, and a fifth more, as it may rise (c = 1.2 in [B]):
    less as soon as a whole window has shown less, and more at once."""
    needed = -(-meter.seen.most * 6 // 5)
    if metered.rule.kind is RuleKind.GAP:
        needed = -(-needed // metered.step_us) * metered.step_us
    used, wanted = k_in_use(metered, meter), min(max(needed, floor), metered.used)
    if wanted > used:
        return replace(meter, used=wanted)
    if wanted < used and meter.seen.full:
        return replace(meter, used=wanted, since_us=now_us + metered.step_us)
    return meter


def _measure_span(
    state: RuleState, rows: Rows, fed: Rows, rule: WatchedRule
) -> tuple[int, RuleState]:
    """How long after the first row with its value a row comes."""
    both = Values(*(np.concatenate(pair) for pair in zip(rows.values, fed.values, strict=True)))
    grouped = group_values(state, both)
    mine, theirs = grouped.codes[: len(rows.times)], grouped.codes[len(rows.times) :]
    far = np.int64(1 << 62)
    least = np.full(len(grouped.time), far, dtype=np.int64)
    np.minimum.at(least, theirs, fed.times)
    since = np.where(grouped.time == UNKNOWN, least, grouped.time)
    ages = np.where(since[mine] == far, 0, rows.times - np.minimum(since[mine], rows.times))
    time = np.where(since == far, UNKNOWN, since)
    k = min(int(ages.max(initial=0)), REACH * rule.span if rule.span else 1 << 62)
    return k, state.put(grouped.distinct, time, np.zeros_like(time))


def _measure_gap(state: RuleState, rows: Rows) -> tuple[int, RuleState]:
    """How long after the last row with its value a row comes."""
    grouped = group_values(state, rows.values)
    order = np.lexsort((rows.times, grouped.codes))
    times, codes = rows.times[order], grouped.codes[order]
    if not len(times):
        return 0, state
    fresh = starts_of_runs(codes)
    before = np.append(np.int64(UNKNOWN), times[:-1])
    before[fresh] = grouped.time[codes[fresh]]
    known = before != UNKNOWN
    gaps = np.where(known, times - np.where(known, before, times), 0)
    time = grouped.time.copy()
    time[codes] = times  # of several, the last one counts
    return int(gaps.max(initial=0)), state.put(grouped.distinct, time, np.zeros_like(time))


def _measure_rows(state: RuleState, rows: Rows, bits: int) -> tuple[int, RuleState]:
    """How many rows come in steps between one with a value and the next."""
    if not len(rows.times):
        return 0, state
    starts = np.flatnonzero(starts_of_runs(rows.times))
    step = np.searchsorted(starts, np.arange(len(rows.times)), side="right") - 1
    begun, over = starts[step], np.append(starts[1:], len(rows.times))[step]
    count = state.total + len(rows.times)
    mask = np.uint64((1 << bits) - 1)
    some = np.flatnonzero(rows.values.first & mask == 0)
    grouped = group_values(state, rows.values.take(some))
    begun, over, times = begun[some] + state.total, over[some] + state.total, rows.times[some]
    order = np.lexsort((times, grouped.codes))
    codes = grouped.codes[order]
    if not len(codes):
        return 0, state.count(count)
    fresh = starts_of_runs(codes)
    before = np.append(np.int64(-1), over[order][:-1])
    known = grouped.time != UNKNOWN
    before[fresh] = np.where(known, grouped.upto, -1)[codes[fresh]]
    between = np.where(before >= 0, begun[order] - before, 0)
    time, upto = grouped.time.copy(), grouped.upto.copy()
    time[codes], upto[codes] = times[order], over[order]
    after = state.put(grouped.distinct, time, upto).count(count)
    return max(int(between.max()), 0), after


def _measure_order(state: RuleState, rows: Rows, kind: RuleKind) -> tuple[int, RuleState]:
    """How much less a value is than the greatest of earlier steps; or how many rows come, in later
    steps, between the first greater one and it."""
    times, values = rows.times, read_numbers(rows)
    if not len(times):
        return 0, state
    starts = np.flatnonzero(starts_of_runs(times))
    step = np.searchsorted(starts, np.arange(len(times)), side="right") - 1
    begun = starts + state.total
    over = np.append(starts[1:], len(times)) + state.total
    greatest = np.maximum.accumulate(
        np.concatenate([state.time, np.maximum.reduceat(values, starts)])
    )
    upto = np.concatenate([state.upto, over])
    place = len(state.time) + step - 1  # of the greatest before the row's step
    there = place >= 0
    if kind is RuleKind.SLACK:
        behind = np.where(there, greatest[np.maximum(place, 0)] - values, 0)
    else:
        first = np.searchsorted(greatest, values, side="right")
        late = there & (first <= place)
        behind = np.where(late, begun[step] - upto[np.minimum(first, len(upto) - 1)], 0)
    fresh = starts_of_runs(greatest)
    greatest, upto = greatest[fresh], upto[fresh]
    words = np.zeros(len(greatest), dtype=np.uint64)
    made = RuleState(words, words, greatest, upto, state.total + len(times))
    return max(int(behind.max()), 0), made


def _follow_open(state: RuleState, rows: Rows, ends: Rows) -> RuleState:
    """The values of which a row has come, and not the last one."""
    both = Values(*(np.concatenate(pair) for pair in zip(rows.values, ends.values, strict=True)))
    grouped = group_values(state, both)
    mine, theirs = grouped.codes[: len(rows.times)], grouped.codes[len(rows.times) :]
    time, ended = grouped.time.copy(), np.full(len(grouped.time), UNKNOWN, dtype=np.int64)
    np.maximum.at(time, mine, rows.times)
    np.maximum.at(ended, theirs, ends.times)
    time = np.where(ended >= time, UNKNOWN, time)
    return state.put(grouped.distinct, time, np.zeros_like(time)).forget(UNKNOWN)


def _forget(metered: Metered, state: RuleState, now_us: int) -> RuleState:
    """Without values whose k is greater than what is told."""
    rule = metered.rule
    match rule.kind:
        case RuleKind.GAP if metered.counts:
            return state.forget(now_us - rule.span)
        case RuleKind.ROWS if metered.counts:
            kept = state.total - state.time <= rule.span
        case RuleKind.SPAN | RuleKind.GAP:
            return state.forget(now_us - max(REACH * rule.span, metered.step_us))
        case RuleKind.ROWS | RuleKind.ORDER:
            kept = state.upto >= state.total - max(REACH * rule.span, _LEAST_ROWS)
        case RuleKind.SLACK:
            kept = np.arange(len(state.time)) == len(state.time) - 1
        case RuleKind.END:
            return state
    if rule.kind is RuleKind.ORDER:
        kept[:-MOST] = False
    return _take(state, kept)


def _take(state: RuleState, kept: Array) -> RuleState:
    return replace(
        state,
        first=state.first[kept],
        second=state.second[kept],
        time=state.time[kept],
        upto=state.upto[kept],
    )


def _limit(meter: RuleMeter) -> RuleMeter:
    """With half of the values where there are too many, and a greater share again where few are."""
    while len(meter.known.time) > MOST:
        bits = meter.bits + 1
        kept = meter.known.first & np.uint64((1 << bits) - 1) == 0
        meter = replace(meter, bits=bits, known=_take(meter.known, kept))
    if meter.bits and 8 * len(meter.known.time) < MOST:
        return replace(meter, bits=meter.bits - 1)
    return meter
