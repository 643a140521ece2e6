"""Groups by a bucket of time: each is final when that is over, answered once, and forgotten."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    MatchBatch,
    PartRows,
    advance_groups,
    finish_groups,
)
from ontoweir.runtime.groups.bucket_closing import BucketClosing
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.groups.merge_panes import merge_panes
from ontoweir.runtime.pool.text_columns import code_columns
from ontoweir.runtime.results.group_state import (
    GroupColumn,
    GroupState,
    Histogram,
    add_groups,
    forget_texts,
)
from ontoweir.runtime.results.measures import MeasureKind


def advance_closing(
    work: AggregateWork,
    closing: BucketClosing,
    tables: PartRows,
    state: GroupState,
    now: int | None,
) -> tuple[pa.Table, GroupState]:
    """The rows of the groups that are final after a chunk, in order of `at`, and the others.

    Args:
        work: the query's aggregates.
        closing: when groups are final.
        tables: the new matches of every part.
        state: the groups before.
        now: the last finished timestamp, in µs (None: there is none yet).
    """
    state = add_matches(work, tables, state)
    if state.keys is None:
        return work.answers.empty_table(), state
    if closing.bucket.sliding is not None:
        return _close_panes(work, closing, state, now)
    ends = closing.ends(state.keys.column(closing.variable))
    over = closing.is_over(ends, now)
    if not over.any():
        return work.answers.empty_table(), state
    ended = count_distinct(work, select_groups(state, np.flatnonzero(over)))
    answers = finish_groups(work, replace(ended, changed=closing.final_at(ends[over])))
    return answers, forget_texts(select_groups(state, np.flatnonzero(~over)))


def _close_panes(
    work: AggregateWork, closing: BucketClosing, state: GroupState, now: int | None
) -> tuple[pa.Table, GroupState]:
    """As advance_closing, of buckets that overlap: the groups are those of their panes."""
    panes = work.aggregation.panes
    assert state.keys is not None
    assert panes is not None
    column = state.keys.column(closing.variable)
    found, at = closing.close_panes(column, state.closed, now)
    answers = work.answers.empty_table()
    if len(at):
        answers = finish_groups(work, merge_panes(state, panes.variable, panes.ends, found, at))
    over = closing.is_over(closing.ends(column), now)
    if over.any():
        state = forget_texts(select_groups(state, np.flatnonzero(~over)))
    # a range may begin with a chunk before what the ranges before it have finished
    told = [time for time in (state.closed, now) if time is not None]
    return answers, replace(state, closed=max(told, default=None))


def add_matches(work: AggregateWork, tables: PartRows, state: GroupState) -> GroupState:
    """The groups with new matches; none of them is answered."""
    if not any(batch.rows.num_rows for batches in tables for batch in batches):
        return state
    seen = dict(state.seen)
    for (part, _), batches in zip(work.parts, tables, strict=True):
        first = part.aggregates[0]
        if first.function is AggregateFunction.COUNT_DISTINCT and first.argument is not None:
            seen[first.argument] = _add_values(
                seen.get(first.argument, GroupState(texts=state.texts)),
                part.union.variables,
                batches,
            )
    _, after = advance_groups(work, tables, state)
    return replace(after, seen=seen)


def drop_final(
    work: AggregateWork, closing: BucketClosing, rows: PartRows, now: int | None
) -> PartRows:
    """Matches without those of groups that are final."""
    kept: list[list[MatchBatch]] = []
    for batches in rows:
        mine = []
        for batch in batches:
            ends = closing.ends(batch.rows.column(closing.variable))
            index = np.flatnonzero(~closing.is_over(ends, now))
            numbers = {name: column[index] for name, column in batch.numbers.items()}
            mine.append(MatchBatch(batch.rows.take(pa.array(index)), numbers))
        kept.append(mine)
    return kept


def _add_values(
    seen: GroupState, names: Sequence[str], batches: Sequence[MatchBatch]
) -> GroupState:
    """The distinct values of an argument in every group, with more."""
    filled = [b.rows.select(list(names)) for b in batches if b.rows.num_rows]
    if not filled:
        return seen
    rows = pa.concat_tables(code_columns(table, seen.texts) for table in filled)
    return add_groups(seen, rows, rows.num_rows)[0]


def count_distinct(work: AggregateWork, state: GroupState) -> GroupState:
    """The groups with how many distinct values each has of what is counted so."""
    measures = dict(state.measures)
    for argument, seen in state.seen.items():
        counts = np.zeros(state.count, dtype=np.int64)
        if seen.keys is not None and not work.aggregation.group:  # the values of one group
            counts[:] = seen.count
        elif seen.keys is not None:
            assert state.keys is not None
            names = state.keys.column_names
            both = pa.concat_tables([state.keys, seen.keys.select(names)])
            codes, number = code_rows(both, names)
            place = np.full(number, -1, dtype=np.int64)
            place[codes[: state.count]] = np.arange(state.count)
            np.add.at(counts, place[codes[state.count :]], 1)
        always = np.ones(state.count, dtype=np.bool_)
        measures[(MeasureKind.DISTINCT, argument)] = GroupColumn(counts, always)
    return replace(state, measures=measures)


def select_groups(state: GroupState, places: Array) -> GroupState:
    """Some of the groups, by their places in order, with what is known of them."""
    assert state.keys is not None
    keys = state.keys.take(pa.array(places))
    moved = np.full(state.count, -1, dtype=np.int64)
    moved[places] = np.arange(len(places))
    histograms = {}
    for name, held in state.histograms.items():
        mine = moved[held.groups]
        kept = mine >= 0
        histograms[name] = Histogram(mine[kept], held.values[kept], held.counts[kept])
    return GroupState(
        len(places),
        keys,
        {name: held.take(places) for name, held in state.measures.items()},
        histograms,
        state.changed[places],
        seen={
            name: _select_values(values, keys, len(places)) for name, values in state.seen.items()
        },
        closed=state.closed,
        open=state.open,
        texts=state.texts,
    )


def _select_values(seen: GroupState, groups: pa.Table, rows: int) -> GroupState:
    """The distinct values of some groups, which are so many `rows`: without columns, of one group
    or of none."""
    if seen.keys is None:
        return seen
    if not groups.num_columns:
        return seen if rows else select_groups(seen, np.zeros(0, dtype=np.int64))
    names = groups.column_names
    codes, number = code_rows(pa.concat_tables([groups, seen.keys.select(names)]), names)
    there = np.zeros(number, dtype=np.bool_)
    there[codes[: groups.num_rows]] = True
    return select_groups(seen, np.flatnonzero(there[codes[groups.num_rows :]]))
