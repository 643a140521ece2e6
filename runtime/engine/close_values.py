"""Groups of values that a rule closes: each is final then, answered once, and forgotten."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    MatchBatch,
    PartRows,
    finish_groups,
)
from ontoweir.runtime.engine.close_groups import add_matches, count_distinct, select_groups
from ontoweir.runtime.groups.value_closing import NEVER, Followed, ValueClosing, follow_values
from ontoweir.runtime.pool.text_columns import code_columns
from ontoweir.runtime.results.group_state import GroupState, add_groups, forget_texts
from ontoweir.runtime.results.key_index import KeyIndex
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY

TURN = "turn of its value"
"""The column of a group that says in which run of rows of its value it is."""


def advance_values(
    work: AggregateWork,
    closing: ValueClosing,
    tables: PartRows,
    state: GroupState,
    now: int | None,
) -> tuple[pa.Table, GroupState]:
    """The rows of the groups that are final after a chunk, in order of `at`, and the others.

    Args:
        work: the query's aggregates; its last part watches values.
        closing: when values are closed.
        tables: the new matches of every part.
        state: the groups before, with the values that are open.
        now: the last finished timestamp, in µs (None: there is none yet).
    """
    inner = replace(work, parts=work.parts[:-1], schemas=work.schemas[:-1])
    followed = _follow(closing, tables[-1], state, now)
    mine, apart = tables[:-1], not followed.once
    if apart:
        inner, mine = _in_turns(inner), _number_matches(closing, mine, followed, state)
        state = _change_keys(state, _begin_turn)
    answers = work.answers.empty_table()
    if closing.at_once:
        found, state = _add_found(inner, mine, state)
        if found is not None:
            answers = finish_groups(work, found)
    else:
        state = add_matches(inner, mine, state)
    if state.keys is not None and state.count:
        places = _find(followed, state.keys.select(list(closing.variables)), state.count)
        turns = state.keys.column(TURN).to_numpy() if apart else np.zeros_like(places)
        at = followed.final_at(places, turns)
        over = at < NEVER
        if over.any():
            if not closing.at_once:
                ended = count_distinct(inner, select_groups(state, np.flatnonzero(over)))
                answers = finish_groups(work, replace(ended, changed=at[over]))
            state = select_groups(state, np.flatnonzero(~over))
    if apart:  # a value has one turn that is not over
        state = _change_keys(state, _end_turn)
    return answers, forget_texts(replace(state, open=followed.open))


def _in_turns(work: AggregateWork) -> AggregateWork:
    """The same, where groups are of a turn of their value, too."""
    parts = (
        (replace(p, union=replace(p.union, variables=(*p.union.variables, TURN))), plans)
        for p, plans in work.parts
    )
    group = (*work.aggregation.group, TURN)
    return replace(work, parts=tuple(parts), aggregation=replace(work.aggregation, group=group))


def _change_keys(state: GroupState, change: Callable[[pa.Table, int], pa.Table]) -> GroupState:
    """The same groups, and distinct values of groups, with other columns of keys."""
    seen = {name: _change_keys(held, change) for name, held in state.seen.items()}
    if state.keys is None:
        return replace(state, seen=seen)
    return replace(state, keys=change(state.keys, state.count), index=KeyIndex(), seen=seen)


def _begin_turn(keys: pa.Table, rows: int) -> pa.Table:
    """Keys of so many groups in the first turn of their values."""
    turns = pa.array(np.zeros(rows, dtype=np.int64))
    return pa.Table.from_arrays([*keys.columns, turns], names=[*keys.column_names, TURN])


def _end_turn(keys: pa.Table, _: int) -> pa.Table:
    """Keys of groups without the turn of their values."""
    return keys.drop_columns(TURN)


def _follow(
    closing: ValueClosing, watched: Sequence[MatchBatch], state: GroupState, now: int | None
) -> Followed:
    """What watched rows say."""
    names = list(closing.variables)
    filled = [b.rows for b in watched if b.rows.num_rows]
    before = GroupState(texts=state.texts) if state.open is None else state.open
    none = np.zeros(0, dtype=np.int64)
    if not filled:
        if before.keys is None:
            return Followed(before, none, none, before, once=True)
        return follow_values(closing, before, before.keys.slice(0, 0), (none, none), now)
    rows = pa.concat_tables(code_columns(table.select(names), state.texts) for table in filled)
    at = np.concatenate([table.column(AT).cast(pa.int64()).to_numpy() for table in filled])
    weights = np.concatenate([table.column(MULTIPLICITY).to_numpy() for table in filled])
    return follow_values(closing, before, rows, (at, weights), now)


def _number_matches(
    closing: ValueClosing, tables: PartRows, followed: Followed, state: GroupState
) -> PartRows:
    """The matches with the turn of their value in which they come."""
    numbered = []
    for batches in tables:
        mine = []
        for batch in (b for b in batches if b.rows.num_rows):
            keys = code_columns(batch.rows.select(list(closing.variables)), state.texts)
            places = _find(followed, keys, batch.rows.num_rows)
            at = batch.rows.column(AT).cast(pa.int64()).to_numpy()
            turns = followed.number_turns(places, at)
            mine.append(replace(batch, rows=batch.rows.append_column(TURN, pa.array(turns))))
        numbered.append(mine)
    return numbered


def _add_found(
    work: AggregateWork, tables: PartRows, state: GroupState
) -> tuple[GroupState | None, GroupState]:
    """The groups with those that are new, of which nothing is computed; and such with the time of
    their first match (None: none is new)."""
    known, times = state.count, []
    for batch in (b for batches in tables for b in batches if b.rows.num_rows):
        keys = code_columns(batch.rows.select(list(work.aggregation.group)), state.texts)
        state, places = add_groups(state, keys, batch.rows.num_rows)
        fresh = places >= known
        if fresh.any():
            at = batch.rows.column(AT).cast(pa.int64()).to_numpy()
            times.append((places[fresh], at[fresh]))
    if state.count == known:
        return None, state
    changed = np.full(state.count, NEVER, dtype=np.int64)
    changed[:known] = LONG_AGO
    for places, at in times:
        np.minimum.at(changed, places, at)
    return replace(state, changed=changed), state


def _find(followed: Followed, keys: pa.Table, rows: int) -> Array:
    """The places of values; greater ones are of others."""
    return add_groups(followed.values, keys, rows)[1]
