"""Aggregates: the current answer per group, and its updates from marker to marker.

[A] section 8.2: the answer to an aggregate query is not a stream of results but kept, one row for
each group; whenever a marker changes a group's row, the new row is emitted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, assert_never

import numpy as np

from ontoweir.errors import RunError
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.results.divide_exactly import divide, halve
from ontoweir.runtime.results.measures import ALL_MATCHES, Measure, MeasureKind

Group: TypeAlias = tuple[Any, ...]
_BLOCK = 1 << 22
"""Numbers of a median's table handled at once."""
_FAR = float(1 << 61)
"""Sums of so much are looked at one by one: whether each fits."""
_MIN_INT64, _MAX_INT64 = -(1 << 63), (1 << 63) - 1
_ADDED = (MeasureKind.WEIGHT, MeasureKind.SUM, MeasureKind.DISTINCT)


@dataclass(frozen=True, slots=True)
class GroupState:
    """Per group, what is known of it: by column, a number, or a histogram for a median.

    Of an argument that has had no value in a group, the group has no columns, or zeros.
    """

    groups: Mapping[Group, Mapping[Measure, Any]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """One for each group, and one for each value that a median counts."""
        histograms = (
            len(held)
            for known in self.groups.values()
            for name, held in known.items()
            if name[0] == MeasureKind.HISTOGRAM
        )
        return len(self.groups) + sum(histograms)


@dataclass(frozen=True, slots=True)
class Deltas:
    """New matches of a part of an aggregate query: `groups[code[i]]` got more at marker `at[i]`.

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

    def take(self, index: Array) -> "AggregateValues":
        """The rows at (or under a mask of) `index`."""
        return AggregateValues(self.values[index], self.valid[index])

    def changes(self) -> Array:
        """Which rows, from the second on, differ from the one before."""
        differ: Array = self.valid[1:] & (self.values[1:] != self.values[:-1])
        differ |= self.valid[1:] != self.valid[:-1]
        return differ


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column of GroupState after every moment; of a histogram, the values on both sides of the
    middle (`upper`: the greater one). `valid`: where the group has had any."""

    values: Array
    valid: Array
    upper: Array | None = None


class ChangedGroups(NamedTuple):
    """Rows of groups that changed, in the order of groups, then markers; and the groups after.

    `codes`: int64, the group of each row; `markers`: int64, steps; `aggregates`: by name (SUM, MIN
    and MAX in units of the scale, AVG and MEDIAN as doubles).
    """

    codes: Array
    markers: Array
    aggregates: dict[str, AggregateValues]
    after: GroupState


def update_groups(
    aggregates: Sequence[Aggregate],
    scales: Mapping[str, int | None],
    groups: Sequence[Group],
    deltas: Sequence[Deltas],
    state: GroupState,
    weights: Mapping[str, Measure] | None = None,
) -> ChangedGroups:
    """Add a chunk's new matches to the groups.

    Args:
        aggregates: what to compute.
        scales: per argument, its numbers are multiples of 10^-scale (None: floats).
        groups: the groups that codes stand for.
        deltas: of every part.
        state: the groups before.
        weights: per aggregate, by name, the column that counts its matches (default: ALL_MATCHES).

    Returns:
        What changed, and the groups after.

    Raises:
        RunError: a sum leaves the range of 64 bits.
    """
    moments = _Moments(len(groups), deltas)
    known = [state.groups.get(group, {}) for group in groups]
    running: dict[Measure, GroupColumn] = {}
    histograms: dict[Measure, list[dict[int, int]]] = {}
    for part in deltas:
        place = moments.place(part)
        if (
            median := next((n for n in part.columns if n[0] == MeasureKind.HISTOGRAM), None)
        ) is not None:
            running[median], histograms[median] = _medians(moments, place, part, known, median)
            continue
        for name, column in part.columns.items():
            running[name] = _run(moments, place, name, column, known, aggregates)
    shown = {a.name: show_aggregate(a, scales, running, weights or {}) for a in aggregates}
    changed = moments.first.copy()
    for i in np.flatnonzero(moments.first).tolist():
        before = known[int(moments.code[i])]
        if before:
            changed[i] = any(
                _differ(shown[a.name], i, _show_one(a, scales, before, running, weights or {}))
                for a in aggregates
            )
    for values in shown.values():
        changed[1:] |= ~moments.first[1:] & values.changes()
    after = dict(state.groups)
    for i in moments.last.tolist():
        code = int(moments.code[i])
        numbers = {
            n: c.values[i].item()
            for n, c in running.items()
            if n[0] != MeasureKind.HISTOGRAM and c.valid[i]
        }
        counts = {n: counted[code] for n, counted in histograms.items() if counted[code]}
        after[groups[code]] = {**known[code], **numbers, **counts}
    rows = {name: values.take(changed) for name, values in shown.items()}
    return ChangedGroups(moments.code[changed], moments.at[changed], rows, GroupState(after))


def _differ(shown: AggregateValues, row: int, before: AggregateValues) -> bool:
    if shown.valid[row] != before.valid[0]:
        return True
    return bool(shown.valid[row] and shown.values[row] != before.values[0])


class _Moments:
    """Every (group, marker) at which something new came, in order."""

    def __init__(self, groups: int, deltas: Sequence[Deltas]) -> None:
        codes = np.concatenate([d.code for d in deltas]) if deltas else np.zeros(0, np.int64)
        at = np.concatenate([d.at for d in deltas]) if deltas else np.zeros(0, np.int64)
        self._times, inner = np.unique(at, return_inverse=True)
        self._span = max(len(self._times), 1)
        pairs = np.sort(codes * self._span + inner.reshape(-1))  # np.unique is slower
        self._pairs = pairs[starts_of_runs(pairs)]
        self.code = self._pairs // self._span
        self.at = self._times[self._pairs % self._span] if len(self._pairs) else at
        self.first = starts_of_runs(self.code)
        starts = np.flatnonzero(self.first)
        stops = np.append(starts[1:], len(self.code)) if len(starts) else starts
        self.segments = list(zip(starts.tolist(), stops.tolist(), strict=True))
        self.last = stops - 1

    def place(self, part: Deltas) -> Array:
        """Where the rows of a part belong."""
        return np.searchsorted(
            self._pairs, part.code * self._span + np.searchsorted(self._times, part.at)
        )


def _run(
    moments: _Moments,
    place: Array,
    name: Measure,
    column: Array,
    known: Sequence[Mapping[Measure, Any]],
    aggregates: Sequence[Aggregate],
) -> GroupColumn:
    """A column's value after every moment: running sums, minima or maxima per group."""
    size = len(moments.code)
    if name[0] not in (MeasureKind.MIN, MeasureKind.MAX):
        sums = _add_up(moments, place, name, column, known, column.dtype)
        most = float(np.sum(np.abs(column.astype(np.float64))))
        if most + sum(abs(k.get(name, 0)) for k in known) > _FAR:
            # what wraps on the way is right again wherever the sum itself is not too great
            exact = _add_up(moments, place, name, column.astype(object), known, np.dtype(object))
            _refuse_far(moments, exact, name, aggregates)
        return GroupColumn(sums, np.ones(size, dtype=np.bool_))
    low = name[0] == MeasureKind.MIN
    choose = np.minimum if low else np.maximum
    dense = column.dtype == np.float64
    edge = _MAX_INT64 if low else _MIN_INT64
    worst: Any = (np.inf if low else -np.inf) if dense else edge
    extremes = np.full(size, worst, dtype=column.dtype)
    valid = np.zeros(size, dtype=np.bool_)
    choose.at(extremes, place, column)
    valid[place] = True
    for start, stop in moments.segments:
        before = known[int(moments.code[start])].get(name)
        if before is not None:
            extremes[start] = choose(extremes[start], before)
            valid[start] = True
        extremes[start:stop] = choose.accumulate(extremes[start:stop])
        valid[start:stop] = np.logical_or.accumulate(valid[start:stop])
    return GroupColumn(extremes, valid)


def _add_up(
    moments: _Moments,
    place: Array,
    name: Measure,
    column: Array,
    known: Sequence[Mapping[Measure, Any]],
    dtype: Any,
) -> Array:
    """A column's running sums per group."""
    sums = np.zeros(len(moments.code), dtype=dtype)
    np.add.at(sums, place, column)
    for start, stop in moments.segments:
        sums[start : start + 1] += known[int(moments.code[start])].get(name, 0)
        sums[start:stop] = np.cumsum(sums[start:stop])
    return sums


def _refuse_far(
    moments: _Moments, exact: Array, name: Measure, aggregates: Sequence[Aggregate]
) -> None:
    """Raise RunError where a sum, in Python's whole numbers, does not fit 64 bits."""
    over = np.array(
        [not _MIN_INT64 <= total <= _MAX_INT64 for total in exact.tolist()], dtype=np.bool_
    )
    if not over.any():
        return
    at = int(moments.at[over].min())
    summed = (AggregateFunction.SUM, AggregateFunction.AVG)
    of = [a for a in aggregates if a.function in summed and name == (MeasureKind.SUM, a.argument)]
    what = f"the sum of {of[0].name}" if of else "a number of matches"
    raise RunError(
        f"{what} does not fit 64 bits at {show_time(at)}",
        why="multiplicities and sums are 64-bit whole numbers (of decimals, in units of their last "
        "place)",
        fix="replay a shorter history, add a window, group by more columns, or declare fewer "
        "decimal places",
    )


def _medians(
    moments: _Moments,
    place: Array,
    part: Deltas,
    known: Sequence[Mapping[Measure, Any]],
    name: Measure,
) -> tuple[GroupColumn, list[dict[int, int]]]:
    """The values on both sides of the middle after every moment, and every group's histogram at
    the end."""
    values, weights = part.columns[name], part.columns[ALL_MATCHES]
    order = np.argsort(place, kind="stable")
    place, values, weights = place[order], values[order], weights[order]
    below = np.zeros(len(moments.code), dtype=values.dtype)
    above, valid = below.copy(), np.zeros(len(below), dtype=np.bool_)
    after: list[dict[int, int]] = [dict(k.get(name, {})) for k in known]
    for start, stop in moments.segments:
        code = int(moments.code[start])
        low, high = np.searchsorted(place, [start, stop])
        before = after[code]
        domain = np.unique(np.concatenate([np.array(list(before), values.dtype), values[low:high]]))
        if len(domain) == 0:
            continue
        count = np.zeros(len(domain), dtype=np.int64)
        for number, times in before.items():
            count[np.searchsorted(domain, number)] = times
        step = max(_BLOCK // len(domain), 1)
        for block in range(start, stop, step):
            until = min(block + step, stop)
            a, b = np.searchsorted(place, [block, until])
            table = np.zeros((until - block, len(domain)), dtype=np.int64)
            np.add.at(
                table, (place[a:b] - block, np.searchsorted(domain, values[a:b])), weights[a:b]
            )
            table[0] += count
            table = np.cumsum(table, axis=0)
            count = table[-1].copy()
            upto = np.cumsum(table, axis=1)
            total = upto[:, -1]
            lower = (upto >= ((total + 1) // 2)[:, None]).argmax(axis=1)
            upper = (upto >= (total // 2 + 1)[:, None]).argmax(axis=1)
            below[block:until], above[block:until] = domain[lower], domain[upper]
            valid[block:until] = total > 0
        after[code] = dict(zip(domain.tolist(), count.tolist(), strict=True))
    return GroupColumn(below, valid, above), after


def show_aggregate(
    aggregate: Aggregate,
    scales: Mapping[str, int | None],
    running: Mapping[Measure, GroupColumn],
    weights: Mapping[str, Measure],
) -> AggregateValues:
    """An aggregate's value after every moment: NULL where its argument has had no value, but for
    counts."""
    argument = aggregate.argument
    weight = weights.get(aggregate.name, ALL_MATCHES)
    match aggregate.function:
        case AggregateFunction.COUNT:
            column = running[weight]
            return AggregateValues(column.values, column.valid)
        case AggregateFunction.COUNT_DISTINCT:
            column = running[(MeasureKind.DISTINCT, argument)]
            return AggregateValues(column.values, column.valid)
        case AggregateFunction.SUM:
            return AggregateValues(
                running[(MeasureKind.SUM, argument)].values, running[weight].values > 0
            )
        case AggregateFunction.MIN:
            column = running[(MeasureKind.MIN, argument)]
            return AggregateValues(column.values, column.valid)
        case AggregateFunction.MAX:
            column = running[(MeasureKind.MAX, argument)]
            return AggregateValues(column.values, column.valid)
        case AggregateFunction.AVG:
            assert argument is not None
            count = running[weight].values
            unit = 10 ** (scales[argument] or 0)
            total = running[(MeasureKind.SUM, argument)].values
            return AggregateValues(divide(total, np.maximum(count, 1), unit), count > 0)
        case AggregateFunction.MEDIAN:
            assert argument is not None
            middle = running[(MeasureKind.HISTOGRAM, argument)]
            assert middle.upper is not None
            return AggregateValues(
                halve(middle.values, middle.upper, 10 ** (scales[argument] or 0)), middle.valid
            )
        case _:
            assert_never(aggregate.function)


def _show_one(
    aggregate: Aggregate,
    scales: Mapping[str, int | None],
    known: Mapping[Measure, Any],
    running: Mapping[Measure, GroupColumn],
    weights: Mapping[str, Measure],
) -> AggregateValues:
    """An aggregate's value in a known group; `running`: the columns there are."""
    single: dict[Measure, GroupColumn] = {}
    for name, like in running.items():
        there = name in known
        one = np.array([there or name[0] in _ADDED])
        if name[0] == MeasureKind.HISTOGRAM:
            low, high = _middle(known[name]) if there else (0, 0)
            dtype = like.values.dtype
            single[name] = GroupColumn(np.array([low], dtype), one, np.array([high], dtype))
        else:
            single[name] = GroupColumn(np.array([known.get(name, 0)], like.values.dtype), one)
    return show_aggregate(aggregate, scales, single, weights)


def _middle(histogram: Mapping[int, int]) -> tuple[int, int]:
    """The values on both sides of the middle."""
    ordered = sorted(histogram.items())
    upto = np.cumsum([times for _, times in ordered])
    total = int(upto[-1])
    lower = int(np.searchsorted(upto, (total + 1) // 2))
    upper = int(np.searchsorted(upto, total // 2 + 1))
    return ordered[lower][0], ordered[upper][0]
