"""Values by the turns in which they are open, as values of their own while a kernel advances.

Rows are joined by a value that a rule closes where they came in one turn of it: from its first row,
or the first after it was closed, until it is closed. So what is an answer does not depend on when
the kernel forgets what is closed, and what waited for a closed value is needed no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind, NormalForm, OpenValues
from ontoweir.runtime.columnar.columns import stamp, total, value
from ontoweir.runtime.columnar.frame import EVENT, LONG_AGO, WEIGHT, Array, Frame
from ontoweir.runtime.groups.value_closing import (
    NEVER,
    SINCE,
    TIME,
    Followed,
    ValueClosing,
    follow_values,
)
from ontoweir.runtime.kept.kernel_state import KernelState, Members, Stored, frame_of
from ontoweir.runtime.results.group_state import GroupColumn, GroupState, add_groups

_MEASURES = {TIME: stamp(-1), SINCE: total(-1)}
"""What is known of open values, as columns of the kernel's state."""


def place_of(number: int) -> Members:
    """Where the state has the open values of a plan's equality, by its number."""
    return frozenset({-1 - number})


@dataclass(frozen=True, slots=True)
class ChunkTime:
    """When a chunk ends (a step), and how long a step is (µs)."""

    now: int
    step_us: int


@dataclass(frozen=True, slots=True)
class NumberedTurns:
    """The turns of one equality's values in a chunk, each by a code.

    `owners`: by code, the place of its value; `values`: by class, that of each place; `is_open`: by
    code, whether it is open after the chunk; `left`: the open values, for the state.
    """

    one: OpenValues
    owners: Array
    values: dict[int, Array]
    is_open: Array
    left: Frame

    def waits(self, members: Members) -> bool:
        """Whether rows over some members wait for another one with their value."""
        return bool(self.one.members & members) and bool(self.one.members - members)

    def restore(self, frame: Frame) -> Frame:
        """Rows with the values that they had."""
        name = value(self.one.coded)
        if name not in frame.columns:
            return frame
        return frame.with_columns({name: self.values[self.one.coded][self.owners[frame[name]]]})

    def settle(self, members: Members, frame: Frame) -> Frame:
        """As restore, of a table after the chunk; without rows that wait for a closed value."""
        name = value(self.one.coded)
        if name in frame.columns and self.waits(members):
            frame = frame.take(self.is_open[frame[name]])
        return self.restore(frame)


def number_turns(
    place: tuple[int, OpenValues],
    form: NormalForm,
    watched: Frame,
    given: tuple[KernelState, Sequence[Frame]],
    time: ChunkTime,
) -> tuple[NumberedTurns, KernelState, list[Frame]]:
    """The turns of an equality's values in a chunk; the state and the members' tuples with codes in
    the place of the values of its first class.

    Args:
        place: which equality of the plan it is, and the equality.
        form: the plan's normal form.
        watched: the rows of the stream that say when values are closed.
        given: the state before, with what place_of says, and the members' tuples.
        time: of the chunk.
    """
    number, one = place
    state, batches = given
    before = _read_open(one, state, number)
    followed = _follow(one, form, before, watched, time)
    tables: Stored = {z: frame_of(t) for z, t in state.stored.items() if z != place_of(number)}
    held = [z for z, t in tables.items() if min(z) >= 0 and value(one.coded) in t.names]
    mine = [m for m in sorted(one.members) if batches[m].rows]
    frames = [*(frame_of(tables[z]) for z in held), *(batches[m] for m in mine)]
    known, places = add_groups(followed.values, _keys(one, frames), sum(f.rows for f in frames))
    ended = np.bincount(followed.places, minlength=known.count)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(ended + 1)])
    owners = np.repeat(np.arange(known.count), ended + 1)
    made, start = [], 0
    for n, frame in enumerate(frames):
        here = places[start : start + frame.rows]
        start += frame.rows
        turns = np.zeros_like(here)
        if n >= len(held):  # a row of the state is of the turn that was open
            turns = followed.number_turns(here, frame[EVENT] * time.step_us)
        made.append(frame.with_columns({value(one.coded): first[here] + turns}))
    coded = list(batches)
    for m, frame in zip(mine, made[len(held) :], strict=True):
        coded[m] = frame
    tables = {**tables, **dict(zip(held, made, strict=False))}
    numbered = NumberedTurns(
        one,
        owners,
        {v: _column(known, v) for v in one.values},
        np.arange(len(owners)) == first[owners] + ended[owners],
        _write_open(one, followed),
    )
    return numbered, KernelState(tables), coded


def end_turns(
    turns: Sequence[NumberedTurns], results: Frame, state: KernelState
) -> tuple[Frame, KernelState]:
    """What a kernel made of coded tuples, with the values; the state without what waits for closed
    ones, and with those that are open."""
    tables = {z: frame_of(t) for z, t in state.stored.items()}
    for one in turns:
        results = one.restore(results)
        tables = {z: one.settle(z, t) for z, t in tables.items()}
    tables |= {place_of(n): t.left for n, t in enumerate(turns) if t.left.rows}
    return results, KernelState(tables)


def _follow(
    one: OpenValues, form: NormalForm, before: GroupState, watched: Frame, time: ChunkTime
) -> Followed:
    """What the watched rows of a chunk say."""
    none = np.zeros(0, dtype=np.int64)
    if not watched.rows and not before.count:
        return Followed(before, none, none, before)
    at = watched[EVENT] * time.step_us
    rows = at, watched[WEIGHT]
    now = time.now * time.step_us
    return follow_values(_closing(one, form), before, _keys(one, [watched]), rows, now)


def _closing(one: OpenValues, form: NormalForm) -> ValueClosing:
    """The rule; values of an order are counted in the units of the plan."""
    rule = one.rule
    kind = form.classes[one.values[0]].kind
    slack = rule.slack
    if slack is not None and kind is Kind.NUMBER:
        slack *= form.unit
    return ValueClosing(
        tuple(map(str, one.values)),
        0,
        gap_us=rule.gap_us,
        rows=rule.rows,
        slack=slack,
        late_rows=rule.late_rows,
        stream=one.stream,
        columns=rule.columns,
    )


def _keys(one: OpenValues, frames: Sequence[Frame]) -> pa.Table:
    """The values of rows, one after the other."""
    return pa.table(
        {
            str(v): np.concatenate([np.zeros(0, np.int64), *(f[value(v)] for f in frames)])
            for v in one.values
        }
    )


def _column(values: GroupState, index: int) -> Array:
    """The values of a class, by place."""
    if values.keys is None:
        return np.zeros(0, dtype=np.int64)
    column: Array = values.keys.column(str(index)).to_numpy()
    return column


def _read_open(one: OpenValues, state: KernelState, number: int) -> GroupState:
    """The values that were open."""
    held = state.stored.get(place_of(number))
    if held is None:
        return GroupState()
    frame = frame_of(held)
    known = {m: frame[name] for m, name in _MEASURES.items() if name in frame.columns}
    return GroupState(
        frame.rows,
        _keys(one, [frame]),
        {m: GroupColumn(c, c != NEVER if m == TIME else c >= 0) for m, c in known.items()},
        changed=np.full(frame.rows, LONG_AGO, dtype=np.int64),
    )


def _write_open(one: OpenValues, followed: Followed) -> Frame:
    """The values that are open, as a table of the state."""
    left = followed.open
    columns = {value(v): _column(left, v) for v in one.values}
    columns |= {_MEASURES[m]: held.values for m, held in left.measures.items()}
    return Frame(left.count, columns)
