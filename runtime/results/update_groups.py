"""Aggregates: the current answer per group, and its updates from marker to marker.

[A] section 8.2: the answer to an aggregate query is not a stream of results but kept, one row for
each group; whenever a marker changes a group's row, the new row is emitted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, assert_never

import numpy as np

from ontoweir.errors import RunError
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import Array, group_codes, pack, starts_of_runs
from ontoweir.runtime.columnar.runs import (
    number_runs,
    order_rows,
    running_greatest,
    running_least,
    running_sums,
)
from ontoweir.runtime.pool.rank_texts import rank_texts, show_ranks
from ontoweir.runtime.results.divide_exactly import divide, halve, interpolate
from ontoweir.runtime.results.exact_sums import name_sums, round_digits, round_variance
from ontoweir.runtime.results.group_state import (
    ADDED,
    GroupColumn,
    GroupState,
    Histogram,
)
from ontoweir.runtime.results.measures import ALL_MATCHES, Measure, MeasureKind, rank_of
from ontoweir.runtime.results.running_medians import Rank, find_ranked

FAR = float(1 << 61)
"""Sums of so much are looked at once more: whether each fits."""
_SUM = MeasureKind.SUM
_HALF = 32
"""Bits of the lower half of a number, where its halves are added by themselves."""


@dataclass(frozen=True, slots=True)
class Deltas:
    """New matches of a part of an aggregate query: the group at place `code[i]` got more at marker
    `at[i]`.

    `columns`, by the names of GroupState: to be added (WEIGHT, SUM, DISTINCT), or compared (MIN,
    MAX); for a median, HISTOGRAM holds values and ALL_MATCHES how often each.
    """

    code: Array
    at: Array
    columns: Mapping[Measure, Array]


@dataclass(frozen=True, slots=True)
class AggregateValues:
    """An aggregate after each update of its group: its values, and where it is not NULL."""

    values: Array
    valid: Array

    def take(self, index: Array | slice) -> "AggregateValues":
        """The rows at (or under a mask of) `index`."""
        return AggregateValues(self.values[index], self.valid[index])

    def differs(self, other: "AggregateValues") -> Array:
        """Which rows differ from another's; what is not a number is equal to itself."""
        differ: Array = self.valid & (self.values != other.values)
        if self.values.dtype == np.float64:
            differ &= ~(np.isnan(self.values) & np.isnan(other.values))
        differ |= self.valid != other.valid
        return differ

    def changes(self) -> Array:
        """Which rows, from the second on, differ from the one before."""
        return self.take(slice(1, None)).differs(self.take(slice(None, -1)))


class ChangedGroups(NamedTuple):
    """Rows of groups that changed, in the order of groups, then markers; and the groups after.

    `codes`: int64, the place of each row's group; `markers`: int64, steps; `aggregates`: by name
    (SUM, MIN and MAX in units of the scale, AVG and MEDIAN as doubles).
    """

    codes: Array
    markers: Array
    aggregates: dict[str, AggregateValues]
    after: GroupState


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of groups.

    `aggregates`: what to compute; `scales`: per argument, its numbers are multiples of 10^-scale
    (None: floats); `weights`: per aggregate, by name, the column that counts its matches (default:
    ALL_MATCHES); `late`: the aggregates are asked for at last (show_groups), and not after every
    change.
    """

    aggregates: Sequence[Aggregate]
    scales: Mapping[str, int | None]
    weights: Mapping[str, Measure]
    late: bool = False

    def ranked(self, counted: Measure) -> dict[Measure, Rank]:
        """The medians and other quantiles of what is counted."""
        mine = (a for a in self.aggregates if a.function.ranks and a.argument == counted[1])
        return {
            rank_of(a): Rank(
                Fraction(1, 2) if a.fraction is None else a.fraction,
                between=a.function is not AggregateFunction.QUANTILE,
                adds=a.function.adds_distinct,
            )
            for a in mine
        }

    def show(self, columns: Mapping[Measure, GroupColumn]) -> dict[str, AggregateValues]:
        """All aggregates, by name."""
        return {
            a.name: show_aggregate(a, self.scales, columns, self.weights) for a in self.aggregates
        }


def update_groups(
    shown: Shown, deltas: Sequence[Deltas], state: GroupState, known: int
) -> ChangedGroups:
    """Add a chunk's new matches to the groups.

    Args:
        shown: the aggregates.
        deltas: of every part.
        state: the groups before, with those that are new (add_groups).
        known: how many there were before.

    Returns:
        What changed, and the groups after.

    Raises:
        RunError: a sum leaves the range of 64 bits.
    """
    moments = _Moments(deltas)
    starts = np.flatnonzero(moments.first)
    touched = moments.code[starts]
    running: dict[Measure, GroupColumn] = {}
    before: dict[Measure, GroupColumn] = {}
    histograms = dict(state.histograms)
    for part, place in zip(deltas, moments.places, strict=True):
        counted = next((n for n in part.columns if n[0] == MeasureKind.HISTOGRAM), None)
        if counted is not None:
            held = state.histogram(counted, part.columns[counted].dtype)
            if not shown.late:
                ranked = shown.ranked(counted)
                for rank, now, old in _rank(moments, place, part, held, touched, ranked):
                    running[rank], before[rank] = now, old
            values, weights = part.columns[counted], part.columns[ALL_MATCHES]
            histograms[counted] = held.add(part.code, values, weights)
            continue
        for name, column in part.columns.items():
            before[name] = state.column(name, touched, column.dtype)
            running[name] = _run(moments, place, name, column, before[name], shown.aggregates)
    rows, rows_before = ({}, {}) if shown.late else (shown.show(running), shown.show(before))
    changed = np.zeros(len(moments.code), dtype=np.bool_)
    changed[starts] = touched >= known
    for shown_name, made in rows.items():
        changed[1:] |= ~moments.first[1:] & made.changes()
        changed[starts] |= made.take(starts).differs(rows_before[shown_name])
    measures = dict(state.measures)
    last = np.append(starts[1:], len(moments.code)) - 1 if len(starts) else starts
    for measure, after in running.items():
        if measure[0] != MeasureKind.HISTOGRAM:
            measures[measure] = state.put(measure, touched, after.take(last))
    index = np.flatnonzero(changed)
    since = state.changed.copy()
    since[moments.code[index]] = moments.at[index]  # of several of a group the last stays
    state = replace(state, measures=measures, histograms=histograms, changed=since)
    told = {name: made.take(index) for name, made in rows.items()}
    return ChangedGroups(moments.code[index], moments.at[index], told, state)


def show_groups(shown: Shown, state: GroupState, places: Array) -> dict[str, AggregateValues]:
    """The current aggregates of the groups at some places, in order."""
    if not state.measures and not state.histograms:
        return {}
    columns = {name: held.take(places) for name, held in state.measures.items()}
    for name, counted in state.histograms.items():
        order = order_rows(counted.groups, state.count)
        groups = counted.groups[order]
        starts = np.searchsorted(groups, places)
        stops = np.searchsorted(groups, places, side="right")
        values, counts = counted.values[order], counted.counts[order]
        ranked = shown.ranked(name)
        found, valid = find_ranked(values, counts, starts, stops, list(ranked.values()))
        for rank, (low, high, share) in zip(ranked, found, strict=True):
            columns[rank] = GroupColumn(low, valid, high, share)
    return shown.show(columns)


class _Moments:
    """Every (group, marker) at which something new came, in order."""

    def __init__(self, deltas: Sequence[Deltas]) -> None:
        none = np.zeros(0, dtype=np.int64)
        codes = np.concatenate([none, *(d.code for d in deltas)])
        at = np.concatenate([none, *(d.at for d in deltas)])
        times, _ = group_codes([at], len(at))
        packed, size = pack([codes, times], len(codes))
        order = order_rows(packed, size)
        ordered = packed[order]
        fresh = starts_of_runs(ordered)
        place = np.empty(len(codes), dtype=np.int64)
        place[order] = number_runs(fresh)
        self.code, self.at = codes[order[fresh]], at[order[fresh]]
        self.first = starts_of_runs(self.code)
        ends = np.cumsum([len(d.code) for d in deltas])
        self.places = [place[end - len(d.code) : end] for d, end in zip(deltas, ends, strict=True)]
        """Of every part, at which moment each of its rows came."""


def _run(
    moments: _Moments,
    place: Array,
    name: Measure,
    column: Array,
    before: GroupColumn,
    aggregates: Sequence[Aggregate],
) -> GroupColumn:
    """A column's value after every moment: running sums, minima or maxima per group."""
    size, first = len(moments.code), moments.first
    if name[0] in ADDED:
        most = sum(float(np.sum(np.abs(c.astype(np.float64)))) for c in (column, before.values))
        if most > FAR:
            _refuse_far(moments, place, name, column, before, aggregates)
        sums = _add_up(moments, place, column, before.values)
        return GroupColumn(sums, np.ones(size, dtype=np.bool_))
    low = name[0] == MeasureKind.MIN
    choose = np.minimum if low else np.maximum
    (column, old), texts = rank_texts([column, before.values])
    if column.dtype == np.float64:
        worst = np.inf if low else -np.inf
    else:
        worst = np.iinfo(np.int64).max if low else np.iinfo(np.int64).min
    extremes = np.full(size, worst, dtype=column.dtype)
    choose.at(extremes, place, column)
    valid = np.zeros(size, dtype=np.bool_)
    valid[place] = True
    starts = np.flatnonzero(first)[before.valid]
    extremes[starts] = choose(extremes[starts], old[before.valid])
    valid[starts] = True
    running = running_least(extremes, first) if low else running_greatest(extremes, first)
    valid = running_sums(valid.astype(np.int64), first) > 0
    return GroupColumn(show_ranks(running, texts), valid)


def _add_up(moments: _Moments, place: Array, column: Array, before: Array) -> Array:
    """A column's running sums per group."""
    sums = np.zeros(len(moments.code), dtype=np.int64)
    np.add.at(sums, place, column)
    sums[moments.first] += before
    return running_sums(sums, moments.first)


def _refuse_far(
    moments: _Moments,
    place: Array,
    name: Measure,
    column: Array,
    before: GroupColumn,
    aggregates: Sequence[Aggregate],
) -> None:
    """Raise RunError where a sum does not fit 64 bits; its halves are added by themselves."""
    lower = (1 << _HALF) - 1
    low = _add_up(moments, place, column & lower, before.values & lower)
    high = _add_up(moments, place, column >> _HALF, before.values >> _HALF) + (low >> _HALF)
    over = (high < -(1 << _HALF - 1)) | (high >= 1 << _HALF - 1)
    if not over.any():
        return
    at = int(moments.at[over].min())
    of = [a for a in aggregates if a.function.adds and name == (MeasureKind.SUM, a.argument)]
    what = f"the sum of {of[0].name}" if of else "a number of matches"
    raise RunError(
        f"{what} does not fit 64 bits at {show_time(at)}",
        why="multiplicities and sums are 64-bit whole numbers (of decimals, in units of their last "
        "place)",
        fix="replay a shorter history, add a window, group by more columns, or declare fewer "
        "decimal places",
    )


def _rank(
    moments: _Moments,
    place: Array,
    part: Deltas,
    held: Histogram,
    touched: Array,
    ranked: Mapping[Measure, Rank],
) -> Iterator[tuple[Measure, GroupColumn, GroupColumn]]:
    """The values of several fractions (None: on both sides of the middle) after every moment, and
    those before the first moment of every group. `held`: what was counted before; `touched`: the
    places of the groups."""
    (values,) = [c for name, c in part.columns.items() if name[0] == MeasureKind.HISTOGRAM]
    weights = part.columns[ALL_MATCHES]
    starts = np.flatnonzero(moments.first)
    run = np.full(int(held.groups.max(initial=-1)) + 1, -1, dtype=np.int64)
    inside = touched < len(run)
    run[touched[inside]] = np.flatnonzero(inside)
    old = np.flatnonzero(run[held.groups] >= 0)
    # what was there before comes before all that came at the first moment
    keys = np.concatenate([2 * starts[run[held.groups[old]]], 2 * place + 1])
    order = order_rows(keys, 2 * len(moments.code) + 1)
    keys = keys[order]
    values = np.concatenate([held.values[old], values])[order]
    weights = np.concatenate([held.counts[old], weights])[order]
    begin = np.searchsorted(keys, 2 * starts)
    until = np.searchsorted(keys, 2 * np.arange(len(moments.code)) + 1, side="right")
    settled = np.searchsorted(keys, 2 * starts, side="right")
    found, valid = find_ranked(
        values,
        weights,
        np.concatenate([begin[number_runs(moments.first)], begin]),
        np.concatenate([until, settled]),
        list(ranked.values()),
    )
    cut = len(moments.code)
    for rank, (low, high, share) in zip(ranked, found, strict=True):
        now = GroupColumn(low[:cut], valid[:cut], high[:cut], share[:cut])
        yield rank, now, GroupColumn(low[cut:], valid[cut:], high[cut:], share[cut:])


def show_aggregate(
    aggregate: Aggregate,
    scales: Mapping[str, int | None],
    running: Mapping[Measure, GroupColumn],
    weights: Mapping[str, Measure],
) -> AggregateValues:
    """An aggregate's value after every moment; but for counts NULL where it has had no value."""
    argument = aggregate.argument
    weight = weights.get(aggregate.name, ALL_MATCHES)
    match aggregate.function:
        case AggregateFunction.COUNT | AggregateFunction.COUNT_DISTINCT:
            plain = aggregate.function is AggregateFunction.COUNT
            column = running[weight if plain else (MeasureKind.DISTINCT, argument)]
            return AggregateValues(column.values, column.valid)
        case AggregateFunction.SUM | AggregateFunction.AVG if scales[argument or ""] is None:
            counts = running[weight].values
            of = (_SUM, name_sums(aggregate.arguments)[0])
            digits = {n[2]: c.values for n, c in running.items() if n[:2] == of}
            mean = aggregate.function is AggregateFunction.AVG
            below = np.maximum(counts, 1) if mean else np.ones_like(counts)
            return AggregateValues(round_digits(digits, below), counts > 0)
        case (
            AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.REGR_SXX
        ):
            digits, counts = {n: c.values for n, c in running.items()}, running[weight].values
            return AggregateValues(*round_variance(digits, aggregate, counts))
        case AggregateFunction.SUM:
            return AggregateValues(running[_SUM, argument].values, running[weight].values > 0)
        case AggregateFunction.MIN | AggregateFunction.MAX:
            column = running[(MeasureKind(aggregate.function.lower()), argument)]
            return AggregateValues(column.values, column.valid)
        case AggregateFunction.AVG:
            assert argument is not None
            count = running[weight].values
            unit = 10 ** (scales[argument] or 0)
            total = running[(MeasureKind.SUM, argument)].values
            return AggregateValues(divide(total, np.maximum(count, 1), unit), count > 0)
        case AggregateFunction.AVG_DISTINCT:
            column = running[rank_of(aggregate)]
            assert argument is not None and column.share is not None  # noqa: PT018
            unit = 10 ** (scales[argument] or 0)
            made = divide(column.values, np.maximum(column.share, 1), unit)
            return AggregateValues(made, column.valid)
        case AggregateFunction.QUANTILE | AggregateFunction.SUM_DISTINCT:
            column = running[rank_of(aggregate)]
            return AggregateValues(column.values, column.valid)
        case AggregateFunction.MEDIAN:
            assert argument is not None
            middle = running[rank_of(aggregate)]
            assert middle.upper is not None
            return AggregateValues(
                halve(middle.values, middle.upper, 10 ** (scales[argument] or 0)), middle.valid
            )
        case AggregateFunction.PERCENTILE:
            assert argument is not None and aggregate.fraction is not None  # noqa: PT018
            place = running[rank_of(aggregate)]
            assert place.upper is not None and place.share is not None  # noqa: PT018
            unit, whole = 10 ** (scales[argument] or 0), aggregate.fraction.denominator
            made = interpolate(place.values, place.upper, place.share, whole, unit)
            return AggregateValues(made, place.valid)
        case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
            raise AssertionError("they are shown by list_values")
        case _:
            assert_never(aggregate.function)
