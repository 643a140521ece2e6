"""The groups of an aggregate query, column by column: their keys, and what is known of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import LONG_AGO, Array, first_of, group_codes
from ontoweir.runtime.pool.hash_slots import EMPTY
from ontoweir.runtime.pool.rank_texts import no_values
from ontoweir.runtime.pool.row_index import RowIndex
from ontoweir.runtime.pool.text_columns import CODE, code_columns, read_codes, write_codes
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.key_index import KeyIndex
from ontoweir.runtime.results.measures import TEXTS, Measure, MeasureKind

ADDED = (MeasureKind.WEIGHT, MeasureKind.SUM, MeasureKind.SQUARES, MeasureKind.DISTINCT)
"""Measures that begin with 0; others have no value before the first."""

_SPARE_TEXTS = 1 << 16
"""Texts that are remembered beside twice those that groups have."""


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A measure of groups: its values, and where it has any (`valid`). Of a histogram, the values
    on both sides of a place (`upper`: the greater one), and how far it is from the lower one
    (`share`, of the fraction's denominator)."""

    values: Array
    valid: Array
    upper: Array | None = None
    share: Array | None = None

    @property
    def greatest(self) -> float:
        """About the greatest absolute value."""
        if not len(self.values):
            return 0.0
        return max(abs(float(self.values.min())), abs(float(self.values.max())))

    def take(self, index: Array) -> "GroupColumn":
        """The rows at (or under a mask of) `index`."""
        upper = None if self.upper is None else self.upper[index]
        share = None if self.share is None else self.share[index]
        return GroupColumn(self.values[index], self.valid[index], upper, share)


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often each value of an argument occurs in each group, for a median.

    `groups`: int64, places of groups; `values`: int64 or float64; `counts`: int64. A pair of group
    and value is there once, in any order.
    """

    groups: Array
    values: Array
    counts: Array
    index: RowIndex = field(default_factory=RowIndex, compare=False, repr=False)

    def add(self, groups: Array, values: Array, counts: Array) -> "Histogram":
        """With more occurrences of values in groups."""
        if len(groups) == 0:
            return self
        codes, distinct = group_codes([groups, values], len(groups))
        first = first_of(codes, distinct)
        more = np.zeros(distinct, dtype=np.int64)
        np.add.at(more, codes, counts)
        index = self.index
        if len(index) != len(self.groups):  # another state has added to it, or it was left behind
            index = RowIndex()
            if len(self.groups):
                index.add(_words(self.groups, self.values))
        known = len(index)
        places = index.add(_words(groups[first], values[first]))
        fresh = first[places >= known]
        after = np.concatenate([self.counts, np.zeros(len(fresh), dtype=np.int64)])
        after[places] += more
        return Histogram(
            np.concatenate([self.groups, groups[fresh]]),
            np.concatenate([self.values, values[fresh]]),
            after,
            index,
        )


def _words(groups: Array, values: Array) -> list[Array]:
    if values.dtype == np.float64:
        values = (values + 0.0).view(np.int64)  # -0.0 is 0.0
    return [groups, values]


@dataclass(frozen=True, slots=True)
class GroupState:
    """All groups, by place: 0, 1, … in the order in which they came.

    Args:
        count: how many there are.
        keys: their columns, texts by their codes among `texts` (None: there are none yet).
        measures: by name, the numbers of every group.
        histograms: by name, what medians count.
        changed: int64, the marker at which the answer of a group changed last (LONG_AGO: before).
        seen: where a bucket of time closes groups, by argument of COUNT(DISTINCT …): its distinct
            values, as groups of the group's columns and the argument, with the same `texts`.
        closed: where these buckets overlap, the last finished timestamp (µs) of which all that was
            final is answered (None: nothing is).
        open: where a rule closes values, those that are open, as groups (value_closing.py).
        index: finds keys.
        texts: those of the keys, and others. It only grows, so that several states share it.
    """

    count: int = 0
    keys: pa.Table | None = None
    measures: Mapping[Measure, GroupColumn] = field(default_factory=dict)
    histograms: Mapping[Measure, Histogram] = field(default_factory=dict)
    changed: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    index: KeyIndex = field(default_factory=KeyIndex, compare=False, repr=False)
    seen: Mapping[str, "GroupState"] = field(default_factory=dict)
    closed: int | None = None
    open: "GroupState | None" = None
    texts: TextTable = field(default_factory=TextTable, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """One for each group, and for each value that a median, or a bucket, counts, or that is
        open."""
        counted = sum(len(held.groups) for held in self.histograms.values())
        counted += 0 if self.open is None else self.open.count
        return self.count + counted + sum(values.count for values in self.seen.values())

    def settle(self) -> "GroupState":
        """The same groups, none of which has changed since."""
        return replace(self, changed=np.full(self.count, LONG_AGO, dtype=np.int64))

    def column(self, name: Measure, places: Array, kind: np.dtype[np.generic]) -> GroupColumn:
        """A measure of groups at some places, also where nothing is known of it."""
        held = self.measures.get(name)
        if held is not None:
            return held.take(places)
        valid = np.full(len(places), name[0] in ADDED)
        return GroupColumn(no_values(len(places), kind), valid)

    def put(
        self, name: Measure, places: Array, column: GroupColumn, *, over: bool = False
    ) -> GroupColumn:
        """A measure of all groups, after it has changed at some places; `over`: nobody asks for
        what it was."""
        held = self.measures.get(name)
        if held is None:
            held, over = self.column(name, np.arange(self.count), column.values.dtype), True
        values, valid = held.values, held.valid
        if not over:
            values, valid = values.copy(), valid.copy()
        values[places], valid[places] = column.values, column.valid
        return GroupColumn(values, valid)

    def histogram(self, name: Measure, kind: np.dtype[np.generic]) -> Histogram:
        """What a median counts, which may be nothing yet."""
        none = np.zeros(0, dtype=np.int64)
        return self.histograms.get(name) or Histogram(none, np.zeros(0, dtype=kind), none)


def add_groups(state: GroupState, keys: pa.Table, rows: int) -> tuple[GroupState, Array]:
    """The groups with those that are new, of which nothing is known; and the place of every row's
    group.

    Args:
        state: the groups before.
        keys: rows of groups, which may repeat, with texts or their codes (code_columns); columns
            that the state has no others of.
        rows: how many there are, as without columns no table says it.
    """
    keys, index = code_columns(keys, state.texts), state.index
    if len(index) != state.count:  # another state has added to it, or it was left behind
        index = KeyIndex()
        if state.count:
            assert state.keys is not None
            index.add(state.keys, state.count)
    places, fresh = index.add(keys, rows)
    if len(fresh) == 0:
        return replace(state, index=index), places
    new = keys.take(pa.array(fresh))
    whole = new if state.keys is None else pa.concat_tables([state.keys, new])
    measures = {name: _extend(name, held, len(fresh)) for name, held in state.measures.items()}
    changed = np.concatenate([state.changed, np.full(len(fresh), LONG_AGO, dtype=np.int64)])
    state = replace(
        state,
        count=state.count + len(fresh),
        keys=whole.combine_chunks(),
        measures=measures,
        changed=changed,
        index=index,
    )
    return state, places


def forget_texts(state: GroupState) -> GroupState:
    """The same groups, without texts that they do not have, where these are many."""
    held_too = state.seen.values() if state.open is None else (*state.seen.values(), state.open)
    tables = [held.keys for held in (state, *held_too) if held.keys is not None]
    coded = [c for table in tables for c in table.columns if c.type == CODE]
    listed = [h.values for n, h in state.histograms.items() if n[-1] == TEXTS]
    if len(state.texts) <= 2 * sum(map(len, (*coded, *listed))) + _SPARE_TEXTS:
        return state
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *map(read_codes, coded), *listed]))
    used = used[used != EMPTY]
    texts, moved = TextTable(), np.full(len(state.texts) + 1, EMPTY, dtype=np.int64)
    moved[used] = texts.add(state.texts.take(used))
    seen = {name: _recode(held, moved, texts) for name, held in state.seen.items()}
    is_open = None if state.open is None else _recode(state.open, moved, texts)
    return replace(_recode(state, moved, texts), seen=seen, open=is_open)


def _recode(state: GroupState, moved: Array, texts: TextTable) -> GroupState:
    """With other codes; `moved`: by code the new one, which has its text among `texts`, last that
    of NULL."""
    keys = state.keys
    if keys is None:
        return replace(state, texts=texts)
    for place, name in enumerate(keys.column_names):
        column = keys.column(place)
        if column.type == CODE:
            keys = keys.set_column(place, name, write_codes(moved[read_codes(column)]))
    histograms = {
        name: Histogram(held.groups, moved[held.values], held.counts) if name[-1] == TEXTS else held
        for name, held in state.histograms.items()
    }
    return replace(state, keys=keys, histograms=histograms, index=KeyIndex(), texts=texts)


def _extend(name: Measure, held: GroupColumn, more: int) -> GroupColumn:
    values = np.concatenate([held.values, no_values(more, held.values.dtype)])
    return GroupColumn(values, np.concatenate([held.valid, np.full(more, name[0] in ADDED)]))
