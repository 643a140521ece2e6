"""The groups of sliding windows: their rows as matches come and go, as changes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.errors import RunError
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.changes.group_moments import GroupMoments
from ontoweir.runtime.changes.keep_leaving import keep_leaving
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import LONG_AGO, Array, first_of, group_codes, pack
from ontoweir.runtime.columnar.runs import order_rows
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork, shown_groups, weight_of
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.groups.list_matches import (
    NO_PART,
    PART,
    WEIGHT,
    name_group,
    name_measure,
    numbers_of,
)
from ontoweir.runtime.groups.list_spans import list_spans
from ontoweir.runtime.groups.render_aggregate import render_aggregate
from ontoweir.runtime.groups.shape_rows import find_holding, shape_rows
from ontoweir.runtime.pool.rank_texts import rank_texts, show_ranks
from ontoweir.runtime.results.exact_sums import name_sums
from ontoweir.runtime.results.group_state import GroupColumn
from ontoweir.runtime.results.measures import Measure, MeasureKind
from ontoweir.runtime.results.render_results import AT, INSTANT, UNTIL
from ontoweir.runtime.results.update_groups import FAR, AggregateValues
from ontoweir.runtime.spans.running_spans import (
    best_of_spans,
    count_distinct,
    rank_spans,
    sum_spans,
)

OP = "op"
"""The column that says whether an answer begins (+) or ends (-)."""
_HALF = 32
"""Bits of the lower half of a number, where its halves are added by themselves."""


def slide_groups(
    work: AggregateWork, held: "pa.Table | None", matches: pa.Table, now: int
) -> "tuple[pa.Table, pa.Table | None]":
    """The changes of the groups' rows up to a time, in order, and what is held for later ones.

    A group has a row while a match of it holds. At one time, the row that ends comes first.

    Args:
        work: the query's aggregates.
        held: matches that are still to leave the groups (keep_leaving).
        matches: new ones (list_matches), which may begin later.
        now: nothing is still to come up to it (µs since 1970).

    Returns:
        the answers' columns, with `op` before `at`; and matches.

    Raises:
        RunError: a sum, or a number of matches, does not fit 64 bits.
    """
    changes, found = _change(work, held, matches, now)
    if found is None:
        return changes, None
    parts = [part for part, _ in work.parts]
    return changes, keep_leaving(parts, found.table, found.groups, found.begins, found.ends, now)


def tell_groups(work: AggregateWork, matches: pa.Table, now: int) -> pa.Table:
    """As slide_groups, where nothing was held, and nothing will be."""
    return _change(work, None, matches, now)[0]


@dataclass(frozen=True, slots=True)
class _Found:
    """Matches that begin before they end (µs), each with the code of its group."""

    table: pa.Table
    groups: Array
    begins: Array
    ends: Array


def _change(
    work: AggregateWork, held: "pa.Table | None", matches: pa.Table, now: int
) -> "tuple[pa.Table, _Found | None]":
    """The changes of the groups' rows, and the matches (None: there are none)."""
    tables = [t for t in (held, matches) if t is not None and t.num_rows]
    if not tables:
        return change_schema(work).empty_table(), None
    table = pa.concat_tables(tables, promote_options="default")
    variables = work.aggregation.group
    for column, name in zip(name_group(variables), variables, strict=True):
        if column not in table.column_names:  # there is no match, only that there may be some
            values = pa.nulls(table.num_rows, work.schema.field(name).type)
            table = table.append_column(column, values)
    begins, ends = (table.column(name).cast(pa.int64()).to_numpy() for name in (AT, UNTIL))
    seen = begins < ends
    if not seen.all():
        table, begins, ends = table.filter(pa.array(seen)), begins[seen], ends[seen]
    groups, count = code_rows(table, name_group(work.aggregation.group))
    moments = GroupMoments(groups, count, begins, ends, now)
    changes = change_schema(work).empty_table()
    if len(moments):
        keys = table.select(name_group(work.aggregation.group))
        keys = keys.rename_columns(list(work.aggregation.group))
        if keys.num_columns:
            keys = keys.take(pa.array(first_of(groups, count)))
        changes = _Sliding(work, table, moments, keys).changes()
    return changes, _Found(table, groups, begins, ends)


def count_leaving(held: pa.Table) -> int:
    """How many rows slide_groups holds of matches that have begun: of others there may be more to
    come that are folded with them."""
    return int(np.count_nonzero(held.column(AT).cast(pa.int64()).to_numpy() == LONG_AGO))


def standing_groups(work: AggregateWork, held: pa.Table) -> pa.Table:
    """The rows of groups that hold, of what slide_groups holds: those that would begin now."""
    begins = held.column(AT).cast(pa.int64()).to_numpy()
    now = LONG_AGO + 1
    begun = pa.array(np.maximum(begins, now)).cast(INSTANT)
    place = held.column_names.index(AT)
    return tell_groups(work, held.set_column(place, AT, begun), now)


def change_schema(work: AggregateWork) -> pa.Schema:
    """The columns of changes."""
    fields = [work.answers.field(name) for name in work.aggregation.columns]
    return pa.schema([*fields, pa.field(OP, pa.string()), pa.field(AT, INSTANT)])


class _Sliding:
    """The rows of groups at moments. `keys`: of every group, its variables."""

    def __init__(
        self, work: AggregateWork, table: pa.Table, moments: GroupMoments, keys: pa.Table
    ) -> None:
        self.work, self.moments, self.keys = work, moments, keys
        columns: dict[Measure, GroupColumn] = {}
        self.lists: dict[str, AggregateValues] = {}
        numbers = table.column(PART).to_numpy()[moments.rows]
        always = np.flatnonzero(numbers == NO_PART)
        ones = np.ones(len(always), dtype=np.int64)
        begin, end = moments.begin[always], moments.end[always]
        exists = sum_spans(begin, end, ones, len(moments)) > 0
        for number, (part, _) in enumerate(work.parts):
            mine = np.flatnonzero(numbers == number)
            rows = table.take(pa.array(moments.rows[mine]))
            begin, end = moments.begin[mine], moments.end[mine]
            weights = rows.column(WEIGHT).to_numpy()
            held = self._sum(begin, end, weights, "a number of matches")
            if not part.over:
                exists |= held > 0
            columns |= self._measure(part, rows, begin, end, held)
        self.exists = exists
        self.values = {**shown_groups(work).show(columns), **self.lists}

    def _measure(
        self, part: AggregatePart, rows: pa.Table, begin: Array, end: Array, held: Array
    ) -> dict[Measure, GroupColumn]:
        """What a part says at every moment; `held`: how many of its rows hold then."""
        first, size = part.aggregates[0], len(self.moments)
        always = np.ones(size, dtype=np.bool_)
        match first.function:
            case AggregateFunction.COUNT_DISTINCT:
                measure: Measure = (MeasureKind.DISTINCT, first.argument)
                if first.argument is None:
                    return {}
                if len(begin) == 0:
                    return {measure: GroupColumn(np.zeros(size, dtype=np.int64), always)}
                named = name_measure((MeasureKind.VALUE, first.argument))
                owners = self.moments.group[begin]
                values, _ = code_rows(rows, [named])
                codes, _ = group_codes([owners, values], len(owners))
                counts = count_distinct(begin, end, codes, size)
                return {measure: GroupColumn(counts, always)}
            case AggregateFunction.MIN | AggregateFunction.MAX:
                measure = (MeasureKind(first.function.lower()), first.argument)
                (numbers,), texts = rank_texts([numbers_of(rows, name_measure(measure))])
                greatest = first.function is AggregateFunction.MAX
                best = best_of_spans(begin, end, numbers, size, greatest=greatest)
                return {measure: GroupColumn(show_ranks(best, texts), held > 0)}
            case (
                AggregateFunction.MEDIAN
                | AggregateFunction.QUANTILE
                | AggregateFunction.PERCENTILE
                | AggregateFunction.SUM_DISTINCT
                | AggregateFunction.AVG_DISTINCT
            ):
                measure = (MeasureKind.HISTOGRAM, first.argument)
                counted = numbers_of(rows, name_measure(measure)), rows.column(WEIGHT).to_numpy()
                ranked = shown_groups(self.work).ranked(measure)
                places = list(ranked.values())
                found, there = rank_spans(begin, end, counted, self.moments.first, places)
                sides = zip(ranked, found, strict=True)
                return {rank: GroupColumn(r.low, there, r.high, r.share) for rank, r in sides}
            case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
                texts = numbers_of(rows, name_measure((MeasureKind.HISTOGRAM, first.argument)))
                spans = begin, end, rows.column(WEIGHT).to_numpy()
                for a in part.aggregates:
                    self.lists[a.name] = list_spans(a, spans, texts, size)
                return {}
            case (
                AggregateFunction.COUNT
                | AggregateFunction.SUM
                | AggregateFunction.AVG
                | AggregateFunction.VAR_POP
                | AggregateFunction.VAR_SAMP
                | AggregateFunction.COVAR_POP
                | AggregateFunction.REGR_SXX
            ):
                made = {weight_of(part): GroupColumn(held, always)}
                nothing = GroupColumn(np.zeros(size, dtype=np.int64), always)
                for a in part.aggregates:
                    scale = self.work.scales.get(a.argument or "")
                    if scale is not None and scale.scale is not None:
                        made[(MeasureKind.SUM, a.argument)] = nothing
                for name in rows.column_names:
                    if not name.startswith("["):
                        continue
                    measure = tuple(json.loads(name))
                    sums = (MeasureKind.SUM, MeasureKind.SQUARES)
                    if measure[0] in sums and self._adds(part, measure[1]):
                        what = f"the sum of {self._name_sum(measure[1])}"
                        total = self._sum(begin, end, numbers_of(rows, name), what)
                        made[measure] = GroupColumn(total, always)
                return made

    @staticmethod
    def _adds(part: AggregatePart, argument: str) -> bool:
        return any(argument in name_sums(a.arguments) and a.function.adds for a in part.aggregates)

    def _name_sum(self, argument: str) -> str:
        made = self.work.aggregation.aggregates
        return next(a.name for a in made if argument in name_sums(a.arguments) and a.function.adds)

    def _sum(self, begin: Array, end: Array, values: Array, what: str) -> Array:
        """The sums of values at every moment."""
        size = len(self.moments)
        if float(np.sum(np.abs(values.astype(np.float64)))) > FAR:
            low = sum_spans(begin, end, values & ((1 << _HALF) - 1), size)
            high = sum_spans(begin, end, values >> _HALF, size) + (low >> _HALF)
            over = (high < -(1 << _HALF - 1)) | (high >= 1 << _HALF - 1)
            if over.any():
                raise RunError(
                    f"{what} does not fit 64 bits at {show_time(int(self.moments.at[over].min()))}",
                    why="multiplicities and sums are 64-bit whole numbers (of decimals, in units "
                    "of their last place)",
                    fix="write a shorter window, group by more columns, or declare fewer decimal "
                    "places",
                )
        return sum_spans(begin, end, values, size)

    def changes(self) -> pa.Table:
        """What ends and begins at the moments, in order of time."""
        first = self.moments.first
        holds, codes = self._compare()
        before = np.append(False, holds[:-1])
        differ = np.append(True, codes[1:] != codes[:-1]) if codes is not None else self._differ()
        ended = np.flatnonzero(~first & before & (~holds | differ))
        began = np.flatnonzero(~first & holds & (~before | differ))
        at = np.concatenate([self.moments.at[ended], self.moments.at[began]])
        begins = np.concatenate([np.zeros(len(ended), np.int64), np.ones(len(began), np.int64)])
        index = np.concatenate([ended - 1, began])
        times, _ = group_codes([at], len(at))
        ranks = self._rank_groups()[self.moments.group[index]]
        order = order_rows(*pack([times, ranks, begins], len(at)))
        index, at, begins = index[order], at[order], begins[order]
        plain = replace(self.work.aggregation, having=None)
        answers = shape_rows(plain, self._rows(index, at))
        place = answers.column_names.index(AT)
        words = pa.array(["-", "+"]).take(pa.array(begins))
        return answers.add_column(place, pa.field(OP, pa.string()), words)

    def _compare(self) -> "tuple[Array, Array | None]":
        """At which moments a group has an answer, and a code for each distinct one (None: answers
        are the groups' rows)."""
        aggregation = self.work.aggregation
        if aggregation.shows_rows:
            return self.exists, None
        index = np.flatnonzero(self.exists)
        rows = self._rows(index, self.moments.at[index])
        holds = self.exists.copy()
        if aggregation.having is not None:
            holds[index] = find_holding(aggregation, rows).to_numpy(zero_copy_only=False)
        answers = shape_rows(replace(aggregation, having=None), rows)
        codes = np.full(len(self.moments), -1, dtype=np.int64)
        codes[index] = code_rows(answers, list(aggregation.columns))[0]
        return holds, codes

    def _differ(self) -> Array:
        """At which moments the row of a group differs from that of the moment before."""
        differ = np.zeros(len(self.moments), dtype=np.bool_)
        for values in self.values.values():
            differ[1:] |= values.changes()
        return differ

    def _rank_groups(self) -> Array:
        """The place of every group in the order of their variables."""
        if not self.keys.num_columns:
            return np.zeros(1, dtype=np.int64)
        order = pc.sort_indices(self.keys, [(n, "ascending") for n in self.keys.column_names])
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order.to_numpy()] = np.arange(len(order))
        return ranks

    def _rows(self, index: Array, at: Array) -> pa.Table:
        """Rows of groups at some moments, with the times `at`."""
        work, rendered = self.work, {}
        if self.keys.num_columns:
            mine = self.keys.take(pa.array(self.moments.group[index]))
            rendered = {name: mine.column(name) for name in mine.column_names}
        shown: Mapping[str, AggregateValues] = self.values
        for name, values in shown.items():
            scale = work.scales.get(work.functions[name].argument or "")
            kind = work.schema.field(name).type
            rendered[name] = render_aggregate(values.take(index), kind, scale)
        rendered[AT] = pa.array(at).cast(INSTANT)
        return pa.table([rendered[n] for n in work.schema.names], schema=work.schema)
