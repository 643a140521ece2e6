"""Aggregates: the current answer per group, and its updates from marker to marker.

[A] section 8.2: the answer to an aggregate query is not a stream of results but kept, one row for
each group; whenever a marker changes a group's row, the new row is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

import numpy as np

from ontoweir.rewriter.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.frame import Array, check_total

Group: TypeAlias = tuple[Any, ...]
_BLOCK = 1 << 22
"""Numbers of a median's table handled at once."""
_FAR = float(1 << 61)
"""Sums of so much are looked at one by one: whether each fits."""


@dataclass(frozen=True, slots=True)
class GroupState:
    """Per group, what is known of it: by column, a number, or a histogram for a median.

    The columns are ("w",) matches, ("s", argument), ("min", argument), ("max", argument),
    ("distinct", argument), ("hist", argument).
    """

    groups: Mapping[Group, Mapping[Group, Any]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """One for each group, and one for each value that a median counts."""
        histograms = (
            len(found)
            for known in self.groups.values()
            for name, found in known.items()
            if name[0] == "hist"
        )
        return len(self.groups) + sum(histograms)


@dataclass(frozen=True, slots=True)
class Deltas:
    """New matches of a part of an aggregate query: `groups[code[i]]` got more at marker `at[i]`.

    `columns`, by the names of GroupState: to be added ("w", "s", "distinct"), or compared ("min",
    "max"); for a median, "hist" holds values and "w" how often each.
    """

    code: Array
    at: Array
    columns: Mapping[Group, Array]


def update_groups(
    aggregates: Sequence[Aggregate],
    scales: Mapping[str, int | None],
    groups: Sequence[Group],
    deltas: Sequence[Deltas],
    state: GroupState,
) -> tuple[Array, Array, dict[str, Array], GroupState]:
    """Add a chunk's new matches to the groups.

    Args:
        aggregates: what to compute.
        scales: per argument, its numbers are multiples of 10^-scale (None: floats).
        groups: the groups that codes stand for.
        deltas: of every part.
        state: the groups before.

    Returns:
        Of every changed row: the group's code, the marker, and the aggregates by name (SUM, MIN
        and MAX in units of the scale, AVG and MEDIAN as doubles); and the groups after. The rows
        are in the order of groups, then markers.
    """
    moments = _Moments(len(groups), deltas)
    known = [state.groups.get(group, {}) for group in groups]
    running: dict[Group, Array] = {}
    histograms: dict[Group, list[dict[int, int]]] = {}
    for part in deltas:
        place = moments.place(part)
        if (median := next((n for n in part.columns if n[0] == "hist"), None)) is not None:
            running[median], histograms[median] = _medians(moments, place, part, known, median)
            continue
        for name, column in part.columns.items():
            running[name] = _run(moments, place, name, column, known)
    shown = {a.name: _show(a, scales, running) for a in aggregates}
    changed = moments.first.copy()
    for i in np.flatnonzero(moments.first):
        before = known[int(moments.code[i])]
        if before:
            told = {a.name: _show_one(a, scales, before) for a in aggregates}
            changed[i] = any(shown[name][i] != told[name] for name in shown)
    for column in shown.values():
        changed[1:] |= ~moments.first[1:] & (column[1:] != column[:-1])
    after = dict(state.groups)
    for i in moments.last:
        code = int(moments.code[i])
        numbers = {n: c[i].item() for n, c in running.items() if n[0] != "hist"}
        counts = {n: found[code] for n, found in histograms.items()}
        after[groups[code]] = {**known[code], **numbers, **counts}
    rows = {name: column[changed] for name, column in shown.items()}
    return moments.code[changed], moments.at[changed], rows, GroupState(after)


class _Moments:
    """Every (group, marker) at which something new came, in order."""

    def __init__(self, groups: int, deltas: Sequence[Deltas]) -> None:
        codes = np.concatenate([d.code for d in deltas]) if deltas else np.zeros(0, np.int64)
        at = np.concatenate([d.at for d in deltas]) if deltas else np.zeros(0, np.int64)
        self._times, inner = np.unique(at, return_inverse=True)
        self._span = max(len(self._times), 1)
        pairs = np.sort(codes * self._span + inner.reshape(-1))  # np.unique is slower
        fresh = np.ones(len(pairs), dtype=np.bool_)
        np.not_equal(pairs[1:], pairs[:-1], out=fresh[1:])
        self._pairs = pairs[fresh]
        self.code = self._pairs // self._span
        self.at = self._times[self._pairs % self._span] if len(self._pairs) else at
        self.first = np.ones(len(self.code), dtype=np.bool_)
        self.first[1:] = self.code[1:] != self.code[:-1]
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
    name: Group,
    column: Array,
    known: Sequence[Mapping[Group, Any]],
) -> Array:
    """A column's value after every moment: running sums, minima or maxima per group."""
    size = len(moments.code)
    match name[0]:
        case "min" | "max":
            low = name[0] == "min"
            choose = np.minimum if low else np.maximum
            dense = column.dtype == np.float64
            edge = np.iinfo(np.int64).max if low else np.iinfo(np.int64).min
            worst: Any = (np.inf if low else -np.inf) if dense else edge
            found = np.full(size, worst, dtype=column.dtype)
            choose.at(found, place, column)
            for start, stop in moments.segments:
                before = known[int(moments.code[start])].get(name)
                if before is not None:
                    found[start] = choose(found[start], before)
                found[start:stop] = choose.accumulate(found[start:stop])
        case _:
            found = _add_up(moments, place, name, column, known)
            most = float(np.sum(np.abs(column), dtype=np.float64))
            if most + sum(abs(k.get(name, 0)) for k in known) > _FAR:
                # what wraps on the way is right again wherever the sum itself is not too great
                near = _add_up(moments, place, name, column.astype(np.float64), known)
                check_total(np.max(np.abs(near), keepdims=True))
    return found


def _add_up(
    moments: _Moments,
    place: Array,
    name: Group,
    column: Array,
    known: Sequence[Mapping[Group, Any]],
) -> Array:
    """A column's running sums per group."""
    found = np.zeros(len(moments.code), dtype=column.dtype)
    np.add.at(found, place, column)
    for start, stop in moments.segments:
        found[start : start + 1] += known[int(moments.code[start])].get(name, 0)
        found[start:stop] = np.cumsum(found[start:stop])
    return found


def _medians(
    moments: _Moments,
    place: Array,
    part: Deltas,
    known: Sequence[Mapping[Group, Any]],
    name: Group,
) -> tuple[Array, list[dict[int, int]]]:
    """Twice the median after every moment, and every group's histogram at the end."""
    values, weights = part.columns[name], part.columns[("w",)]
    order = np.argsort(place, kind="stable")
    place, values, weights = place[order], values[order], weights[order]
    twice = np.zeros(len(moments.code), dtype=values.dtype)
    after: list[dict[int, int]] = [dict(k.get(name, {})) for k in known]
    for start, stop in moments.segments:
        code = int(moments.code[start])
        low, high = np.searchsorted(place, [start, stop])
        before = after[code]
        domain = np.unique(np.concatenate([np.array(list(before), values.dtype), values[low:high]]))
        count = np.zeros(len(domain), dtype=np.int64)
        for number, times in before.items():
            count[np.searchsorted(domain, number)] = times
        step = max(_BLOCK // max(len(domain), 1), 1)
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
            twice[block:until] = domain[lower] + domain[upper]
        after[code] = dict(zip(domain.tolist(), count.tolist(), strict=True))
    return twice, after


def _show(
    aggregate: Aggregate, scales: Mapping[str, int | None], running: Mapping[Group, Array]
) -> Array:
    """An aggregate's value after every moment."""
    argument = aggregate.argument
    match aggregate.function:
        case AggregateFunction.COUNT:
            return running[("w",)]
        case AggregateFunction.COUNT_DISTINCT:
            return running[("distinct", argument)]
        case AggregateFunction.SUM:
            return running[("s", argument)]
        case AggregateFunction.MIN:
            return running[("min", argument)]
        case AggregateFunction.MAX:
            return running[("max", argument)]
        case AggregateFunction.AVG:
            assert argument is not None
            unit = 10 ** (scales[argument] or 0)
            return _divide(running[("s", argument)], running[("w",)], unit)
        case AggregateFunction.MEDIAN:
            assert argument is not None
            twice = running[("hist", argument)]
            unit = 2 * 10 ** (scales[argument] or 0)
            one = np.ones(len(twice), dtype=np.int64)
            half: Array = twice / unit  # right for floats
            return half if twice.dtype == np.float64 else _divide(twice, one, unit)
        case _:
            assert_never(aggregate.function)


def _divide(above: Array, below: Array, unit: int) -> Array:
    """above / (below · unit) as the nearest doubles."""
    exact = 1 << 53
    quotient: Array = above / (below.astype(np.float64) * unit)
    large = (np.abs(above) > exact) | (below > exact // unit)
    for i in np.flatnonzero(large):
        quotient[i] = float(Fraction(int(above[i]), int(below[i]) * unit))
    return quotient


def _show_one(
    aggregate: Aggregate, scales: Mapping[str, int | None], known: Mapping[Group, Any]
) -> Any:
    """An aggregate's value in a known group."""
    running: dict[Group, Array] = {}
    for name, found in known.items():
        if name[0] == "hist":
            if aggregate.function is AggregateFunction.MEDIAN and name[1] == aggregate.argument:
                running[name] = np.array([_twice_median(found)])
        else:
            running[name] = np.array([found])
    return _show(aggregate, scales, running)[0]


def _twice_median(histogram: Mapping[int, int]) -> int:
    ordered = sorted(histogram.items())
    upto = np.cumsum([times for _, times in ordered])
    total = int(upto[-1])
    lower = int(np.searchsorted(upto, (total + 1) // 2))
    upper = int(np.searchsorted(upto, total // 2 + 1))
    return ordered[lower][0] + ordered[upper][0]
