"""Groups of values that a rule closes: each is final then, answered once, and forgotten."""

from collections.abc import Sequence
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
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY


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
    waves = _divide(closing, tables[:-1], followed, state)
    answers = []
    for turn, mine in enumerate(waves):
        known, state = state.count, add_matches(inner, mine, state)
        if closing.at_once and state.count > known:
            answers.append(finish_groups(inner, _found(inner, mine, state, known)))
        if turn == len(followed.turns) or state.keys is None or not state.count:
            continue
        keys = state.keys.select(list(closing.variables))
        at = _look_up(followed.turns[turn], _find(followed, keys, state.count))
        over = at < NEVER
        if over.any():
            if not closing.at_once:
                ended = count_distinct(inner, select_groups(state, np.flatnonzero(over)))
                answers.append(finish_groups(inner, replace(ended, changed=at[over])))
            state = select_groups(state, np.flatnonzero(~over))
    state = forget_texts(replace(state, open=followed.open))
    if len(answers) > 1:  # only where rows break the rule: others are final once
        shown = [name for name in work.aggregation.row if name in work.answers.names]
        order = [(name, "ascending") for name in (AT, *shown)]
        return pa.concat_tables(answers).sort_by(order), state
    return answers[0] if answers else work.answers.empty_table(), state


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
            return Followed(before, (), before)
        return follow_values(closing, before, before.keys.slice(0, 0), (none, none), now)
    rows = pa.concat_tables(code_columns(table.select(names), state.texts) for table in filled)
    at = np.concatenate([table.column(AT).cast(pa.int64()).to_numpy() for table in filled])
    weights = np.concatenate([table.column(MULTIPLICITY).to_numpy() for table in filled])
    return follow_values(closing, before, rows, (at, weights), now)


def _divide(
    closing: ValueClosing, tables: PartRows, followed: Followed, state: GroupState
) -> Sequence[PartRows]:
    """The matches by the turn of their value in which they come."""
    turns = followed.turns
    if followed.once:
        return [tables, *([[] for _ in tables] for _ in turns)]
    waves: list[list[list[MatchBatch]]] = [[[] for _ in tables] for _ in range(len(turns) + 1)]
    for part, batches in enumerate(tables):
        for batch in batches:
            if not batch.rows.num_rows:
                continue
            keys = code_columns(batch.rows.select(list(closing.variables)), state.texts)
            places = _find(followed, keys, batch.rows.num_rows)
            at = batch.rows.column(AT).cast(pa.int64()).to_numpy()
            number = np.zeros(len(at), dtype=np.int64)
            for times in turns:
                number += _look_up(times, places) < at
            for turn in np.unique(number).tolist():
                mine = np.flatnonzero(number == turn)
                if len(mine) == len(number):
                    waves[turn][part].append(batch)
                    continue
                numbers = {name: column[mine] for name, column in batch.numbers.items()}
                waves[turn][part].append(MatchBatch(batch.rows.take(pa.array(mine)), numbers))
    return waves


def _found(work: AggregateWork, tables: PartRows, state: GroupState, known: int) -> GroupState:
    """The groups, those that are new with the time of their first match."""
    changed = np.full(state.count, LONG_AGO, dtype=np.int64)
    changed[known:] = NEVER
    for batches in tables:
        for batch in batches:
            keys = code_columns(batch.rows.select(list(work.aggregation.group)), state.texts)
            places = add_groups(state, keys, batch.rows.num_rows)[1]
            at = batch.rows.column(AT).cast(pa.int64()).to_numpy()
            fresh = places >= known
            np.minimum.at(changed, places[fresh], at[fresh])
    return replace(state, changed=changed)


def _find(followed: Followed, keys: pa.Table, rows: int) -> Array:
    """The places of values; greater ones are of others."""
    return add_groups(followed.values, keys, rows)[1]


def _look_up(times: Array, places: Array) -> Array:
    """The times at some places; NEVER where there are no such places."""
    found = np.full(len(places), NEVER, dtype=np.int64)
    inside = places < len(times)
    found[inside] = times[places[inside]]
    return found
