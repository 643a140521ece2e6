"""The aggregates of a chunk: what the plans of every part found, added to the groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.columnar.frame import (
    LONG_AGO,
    Array,
)
from ontoweir.runtime.groups.bucket_closing import BucketClosing
from ontoweir.runtime.groups.list_values import code_lists, list_values
from ontoweir.runtime.groups.render_aggregate import render_aggregate
from ontoweir.runtime.groups.shape_rows import find_fresh, order_groups, shape_rows, shape_schema
from ontoweir.runtime.groups.value_closing import ValueClosing
from ontoweir.runtime.pool.text_columns import code_columns, show_columns
from ontoweir.runtime.results.aggregate_columns import (
    ArgumentScale,
    aggregate_schema,
    scale_argument,
)
from ontoweir.runtime.results.exact_sums import name_sums
from ontoweir.runtime.results.group_state import GroupState, add_groups
from ontoweir.runtime.results.measures import ALL_MATCHES, TEXTS, Measure, MeasureKind
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL, result_schema
from ontoweir.runtime.results.update_groups import (
    AggregateValues,
    ChangedGroups,
    Deltas,
    Shown,
    show_groups,
    update_groups,
)
from ontoweir.runtime.results.update_last import fold_deltas, update_last


@dataclass(frozen=True, slots=True)
class MatchBatch:
    """New matches of a part of an aggregate query. `rows`: of the part's schema, with texts or
    their codes among those of the groups; `numbers`: what they say of its arguments, a number for
    each row (units of the arguments' scales)."""

    rows: pa.Table
    numbers: Mapping[Measure, Array]


PartRows: TypeAlias = Sequence[Sequence[MatchBatch]]
"""New matches of all parts of an aggregate query, in the parts' order."""

_DISTINCT = MeasureKind.DISTINCT
_MAX_INT64 = (1 << 63) - 1
_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)


@dataclass(frozen=True, slots=True)
class AggregateWork:
    """What the tasks of an aggregate query need: its parts, and how many plans each has."""

    aggregation: Aggregation
    parts: tuple[tuple[AggregatePart, int], ...]
    scales: Mapping[str, ArgumentScale]
    schemas: tuple[pa.Schema, ...]
    """Per part, the columns of its matches: variables, `at`, and `multiplicity` for bags."""

    schema: pa.Schema
    """The columns of groups' rows: the group's variables, all aggregates, and `at`."""

    answers: pa.Schema
    """The columns of the results."""

    final: bool = False
    """Whether only the last row of every group is asked for."""

    closing: BucketClosing | ValueClosing | None = None
    """When groups are final (None: never)."""

    sliding: bool = False
    """Whether they are of sliding windows: tasks answer with matches, of which changes are made."""

    begins: bool = False
    """Whether, without GROUP BY, there is a row from the first timestamp on, over nothing."""

    alone: bool = False
    """Whether nobody goes on from the state after the task's rows, and the groups are all that is
    asked of it: then plans need not keep what the groups have."""

    @property
    def bucket(self) -> BucketClosing | None:
        """The bucket of time by which groups are final (None: there is none)."""
        return self.closing if isinstance(self.closing, BucketClosing) else None

    @property
    def functions(self) -> Mapping[str, Aggregate]:
        """By name, the aggregates as the parts have them: where a key says that values never
        repeat, COUNT DISTINCT is COUNT."""
        return {a.name: a for part, _ in self.parts for a in part.aggregates}

    @property
    def once(self) -> bool:
        """Whether a group has one match at most, and is forgotten once it is emitted."""
        return any(part.once for part, _ in self.parts)

    @property
    def keeps_groups(self) -> bool:
        """Whether groups are part of the state of its tasks."""
        return not self.once and not self.sliding


def plan_aggregates(
    union: SpjUnion,
    parts: Sequence[tuple[AggregatePart, int]],
    catalog: Catalog,
    closing: BucketClosing | ValueClosing | None = None,
) -> AggregateWork:
    """What the tasks of an aggregate query need; `parts` with the number of plans each has."""
    assert union.aggregation is not None
    plain = result_schema(union, catalog)
    arguments = {
        argument
        for a in union.aggregation.aggregates
        if a.function not in _COUNTS
        for argument in a.arguments
    }
    schemas, edges = [], {*union.ends, *union.begins}
    for part, _ in parts:
        fields = [plain.field(name) for name in part.union.variables if name not in edges]
        fields.append(pa.field(AT, INSTANT))
        if union.ends:
            fields.append(pa.field(UNTIL, INSTANT))
        if not part.union.distinct:
            fields.append(pa.field(MULTIPLICITY, pa.int64()))
        schemas.append(pa.schema(fields))
    rows = aggregate_schema(union, catalog)
    return AggregateWork(
        union.aggregation,
        tuple(parts),
        {a: scale_argument(union, catalog, a) for a in sorted(arguments)},
        tuple(schemas),
        rows,
        shape_schema(union.aggregation, rows),
        closing=closing,
        sliding=bool(union.ends),
    )


def weight_of(part: AggregatePart) -> Measure:
    """The name of the column that counts a part's matches."""
    return (MeasureKind.WEIGHT, *part.over) if part.over else ALL_MATCHES


def advance_groups(
    work: AggregateWork, tables: PartRows, state: GroupState, begins: int | None = None
) -> tuple[pa.Table, GroupState]:
    """The rows of groups that a chunk changed, in order of `at`, and the groups after.

    `tables`: the new matches of every part. `begins`: of a query without GROUP BY, when its row
    begins if it has none yet (µs; None: with its first match). Where only final answers are asked
    for, there are no rows; finish_groups makes them.
    """
    flat = [batch for part in tables for batch in part if batch.rows.num_rows]
    begins = None if state.count else begins
    if not flat and begins is None:
        return work.answers.empty_table(), state
    names = list(work.aggregation.group)
    coded = [code_columns(batch.rows.select(names), state.texts) for batch in flat]
    keys = pa.concat_tables(coded) if coded else pa.table({})
    known, total = state.count, sum(batch.rows.num_rows for batch in flat)
    state, places = add_groups(state, keys, total + (begins is not None))
    deltas, start = [], 0
    if begins is not None:
        deltas.append(Deltas(np.zeros(1, dtype=np.int64), np.array([begins]), {}))
    for (part, _), entries in zip(work.parts, tables, strict=True):
        filled = [batch for batch in entries if batch.rows.num_rows]
        if not filled:  # nothing new for this part, but its numbers are emitted with the others'
            none = np.zeros(0, dtype=np.int64)
            numbers = _nothing(part, work.scales) | _known_digits(part, state, set(), 0)
            deltas.append(Deltas(none, none, numbers))
            continue
        rows = sum(batch.rows.num_rows for batch in filled)
        times = [batch.rows.column(AT).cast(pa.int64()).to_numpy() for batch in filled]
        at, numbers = _join(times), join_numbers(part, filled)
        numbers |= code_lists(part, [batch.rows for batch in filled], state.texts)
        numbers |= _known_digits(part, state, set(numbers), rows)
        if work.closing is not None:  # when matches came is not asked; values are counted at last
            at = np.broadcast_to(np.int64(0), at.shape)
            numbers |= {n: np.zeros_like(c) for n, c in numbers.items() if n[0] == _DISTINCT}
        deltas.append(Deltas(places[start : start + rows], at, numbers))
        start += rows
    if work.final and work.closing is None and work.aggregation.shows_rows and begins is None:
        last = update_last(_shown_by_part(work), deltas, state, known)
        if last is not None:
            return work.answers.empty_table(), last
    folded = None if work.closing is None else fold_deltas(deltas, state.count)
    if folded is not None:
        last = update_last(_shown_by_part(work), folded, state, known)
        if last is not None:
            return work.answers.empty_table(), last
    changes = update_groups(shown_groups(work), deltas, state, known)
    if not work.aggregation.shows_rows and work.closing is None:
        changes = _drop_repeats(work, state, known, changes)
    after = changes.after
    if work.final or work.closing is not None:
        return work.answers.empty_table(), after
    return _render_groups(work, after, changes.codes, changes.markers, changes.aggregates), after


def known_groups(work: AggregateWork, before: PartRows, *, begun: bool) -> GroupState:
    """The groups that matches made before, none of which has changed since; `begun`: there have
    been timestamps."""
    begins = LONG_AGO if begun and work.begins else None
    tables = before or [()] * len(work.parts)
    return advance_groups(work, tables, GroupState(), begins)[1].settle()


def _drop_repeats(
    work: AggregateWork, before: GroupState, known: int, changes: ChangedGroups
) -> ChangedGroups:
    """The changes that make other answers than the group's answer before, if it had one.

    Args:
        work: of a query whose answers are not the groups' rows as they are.
        before: the groups before, `known` of them with a row; others are new.
        changes: of their rows.
    """
    old = np.unique(changes.codes[changes.codes < known])
    rows = [_list_rows(work, before, changes.codes, changes.markers, changes.aggregates)]
    if len(old):
        shown = show_groups(shown_groups(work), before, old)
        rows = [_list_rows(work, before, old, old, shown), *rows]
    groups = np.concatenate([old, changes.codes])
    fresh = find_fresh(work.aggregation, pa.concat_tables(rows), groups, len(old))
    codes, markers = changes.codes[fresh], changes.markers[fresh]
    told = {name: values.take(fresh) for name, values in changes.aggregates.items()}
    since = before.changed.copy()
    since[codes] = markers  # of several of a group the last stays
    return ChangedGroups(codes, markers, told, replace(changes.after, changed=since))


def _known_digits(
    part: AggregatePart, state: GroupState, there: set[Measure], rows: int
) -> dict[Measure, Array]:
    """Digits of sums of floats that no new match has, but groups may have."""
    kinds = (MeasureKind.SUM, MeasureKind.SQUARES)
    names = name_sums(part.added)
    known = (n for n in state.measures if n[0] in kinds and n[1] in names)
    return {name: np.zeros(rows, dtype=np.int64) for name in known if name not in there}


def finish_groups(work: AggregateWork, state: GroupState) -> pa.Table:
    """The last rows of the groups that have changed (GroupState.settle), in order of `at`."""
    places = np.flatnonzero(state.changed > LONG_AGO)
    if len(places) == 0:
        return work.answers.empty_table()
    columns = show_groups(shown_groups(work), state, places)
    columns |= list_values(work.aggregation.aggregates, state, places)
    return _render_groups(work, state, places, state.changed[places], columns)


def shown_groups(work: AggregateWork) -> Shown:
    """What is shown of groups."""
    scales = {name: scale.scale for name, scale in work.scales.items()}
    weights = {a.name: weight_of(part) for part, _ in work.parts for a in part.aggregates}
    shown = [a for a in work.aggregation.aggregates if not a.function.lists]
    functions = [work.functions[a.name] for a in shown]
    return Shown(functions, scales, weights, late=work.closing is not None)


def _shown_by_part(work: AggregateWork) -> list[Shown]:
    """What is shown of groups, by the part that says it."""
    whole = shown_groups(work)
    parts = [{a.name for a in part.aggregates} for part, _ in work.parts]
    return [
        replace(whole, aggregates=[a for a in whole.aggregates if a.name in names])
        for names in parts
    ]


def _render_groups(
    work: AggregateWork,
    state: GroupState,
    places: Array,
    at: Array,
    columns: Mapping[str, AggregateValues],
) -> pa.Table:
    """Answers of the groups at some places, in order of `at`, then of the groups."""
    assert state.keys is not None
    rows = order_groups(state.keys, places, at, state.texts)
    shown = {name: column.take(rows) for name, column in columns.items()}
    return shape_rows(work.aggregation, _list_rows(work, state, places[rows], at[rows], shown))


def _list_rows(
    work: AggregateWork,
    state: GroupState,
    places: Array,
    at: Array,
    columns: Mapping[str, AggregateValues],
) -> pa.Table:
    """Rows of the groups at some places, one for each."""
    assert state.keys is not None
    rendered = {}
    if work.aggregation.row:
        keys = show_columns(state.keys.take(pa.array(places)), state.texts)
        rendered = {name: keys.column(name) for name in work.aggregation.row}
    for name, column in columns.items():
        scale = work.scales.get(work.functions[name].argument or "")
        rendered[name] = render_aggregate(column, work.schema.field(name).type, scale)
    rendered[AT] = pa.array(at).cast(INSTANT)
    return pa.table([rendered[n] for n in work.schema.names], schema=work.schema)


def join_numbers(part: AggregatePart, batches: Sequence[MatchBatch]) -> dict[Measure, Array]:
    """The numbers of a part's matches, one batch after the other; matches are counted too."""
    names = dict.fromkeys(name for b in batches for name in b.numbers)
    numbers = {
        name: _join(
            [b.numbers.get(name, np.zeros(b.rows.num_rows, dtype=np.int64)) for b in batches]
        )
        for name in names
    }
    first = part.aggregates[0]
    rows = sum(b.rows.num_rows for b in batches)
    if first.function is AggregateFunction.COUNT_DISTINCT:
        numbers[(MeasureKind.DISTINCT, first.argument)] = np.ones(rows, dtype=np.int64)
    elif first.function.duplicate_sensitive and not first.function.holistic:
        numbers[weight_of(part)] = _join([b.rows.column(MULTIPLICITY).to_numpy() for b in batches])
    return numbers


def _join(parts: Sequence[Array]) -> Array:
    """One after the other; one alone is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _nothing(part: AggregatePart, scales: Mapping[str, ArgumentScale]) -> dict[Measure, Array]:
    """The columns of a part without rows."""
    numbers: dict[Measure, Array] = {}
    none = np.zeros(0, dtype=np.int64)
    for aggregate in part.aggregates:
        argument = aggregate.argument
        scale = scales.get(argument or "")
        dense = scale is not None and scale.scale is None
        empty = np.zeros(0, dtype=np.int64 if scale is None else scale.dtype)
        match aggregate.function:
            case AggregateFunction.COUNT:
                numbers[weight_of(part)] = none
            case (
                AggregateFunction.SUM
                | AggregateFunction.AVG
                | AggregateFunction.VAR_POP
                | AggregateFunction.VAR_SAMP
                | AggregateFunction.COVAR_POP
                | AggregateFunction.REGR_SXX
            ):
                numbers[weight_of(part)] = none
                if not dense:
                    numbers[(MeasureKind.SUM, argument)] = none
            case AggregateFunction.MIN:
                numbers[(MeasureKind.MIN, argument)] = empty
            case AggregateFunction.MAX:
                numbers[(MeasureKind.MAX, argument)] = empty
            case AggregateFunction.COUNT_DISTINCT:
                numbers[(MeasureKind.DISTINCT, argument)] = none
            case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
                numbers[ALL_MATCHES] = none
                numbers[(MeasureKind.HISTOGRAM, argument, TEXTS)] = none
            case (
                AggregateFunction.MEDIAN
                | AggregateFunction.QUANTILE
                | AggregateFunction.PERCENTILE
                | AggregateFunction.SUM_DISTINCT
                | AggregateFunction.AVG_DISTINCT
            ):
                numbers[ALL_MATCHES] = none
                numbers[(MeasureKind.HISTOGRAM, argument)] = empty
            case _:
                assert_never(aggregate.function)
    return numbers
