"""What is joined of rows that come and go, where little came: of what is held, only that is looked
at which changes may meet."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.runtime.changes.change_feed import ChangeFeed, JoinedFeed
from ontoweir.runtime.changes.group_changes import pair_changes
from ontoweir.runtime.changes.joined_groups import pair_groups
from ontoweir.runtime.changes.sliding_groups import OP
from ontoweir.runtime.columnar.frame import LONG_AGO, Array, first_of
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.kept.hash_columns import hash_columns
from ontoweir.runtime.kept.kept_parts import Part
from ontoweir.runtime.kept.kept_table import KeptTable, hash_wanted
from ontoweir.runtime.results.render_results import MULTIPLICITY
from ontoweir.runtime.spans.spans import NEVER, Spans
from ontoweir.runtime.told.find_ways import Ways
from ontoweir.runtime.told.join_feeds import (
    join_all,
    number_columns,
    repeat_held,
    standing_spans,
)
from ontoweir.runtime.told.list_standing import list_standing

_MANY = 4
"""Where more than one row of so many is found, all are looked at."""

_Way: TypeAlias = "tuple[tuple[str, ...], pa.Table]"
"""Columns, and rows to which others are equal in these (without columns: all are)."""


def join_few(
    of: JoinedFeed, ways: Ways, told: Sequence[pa.Table], after: Sequence[Part], now: int
) -> Spans | None:
    """The rows that are joined, or were, of those that changes may meet, with the columns that are
    shown, or computed: each that began or ended, and where rows are shown once, or grouped, all
    that show the same, or are of the same groups (None: these may be many of all).

    A row of the join changes only where one of its parts does. From the changes of each part the
    rows of the others are found by the columns that are equal, from one to the next; and for LEFT
    JOIN all that are beside a row which is found, so that it is known when there is none. Of groups
    those are computed whose rows are found.

    Args:
        of: how rows are joined.
        ways: how they are found.
        told: the changes of each part's rows.
        after: what is held of each part after them.
        now: µs since 1970, up to which they are.
    """
    search = _Search(of, ways, told, after, now, [[] for _ in told])
    for number, changes in enumerate(told):
        if changes.num_rows:
            search.spread(number, ways.own[number], changes)
    if search.are_many():
        return None
    made = search.join()
    if ways.again is None or not len(made.begins):
        return made
    place, names, shown = ways.again
    changed = np.flatnonzero((made.begins > LONG_AGO) | (made.ends < NEVER))
    wanted = made.rows.select(shown).take(pa.array(changed)).rename_columns(list(names))
    search.spread(place, names, wanted)
    return None if search.are_many() else search.join()


@dataclass(slots=True)
class _Search:
    """The rows that are looked at. `found`: of each part those that are equal in some columns to
    one of a table."""

    of: JoinedFeed
    ways: Ways
    told: Sequence[pa.Table]
    after: Sequence[Part]
    now: int
    found: list[list[_Way]]
    _whole: set[int] = field(default_factory=set)
    _looked_at: int = 0

    def are_many(self) -> bool:
        """Whether so many rows were found that to look at all costs hardly more."""
        size = sum(held.num_rows for held in self.after if held is not None)
        return self._looked_at * _MANY > size

    def spread(self, number: int, names: tuple[str, ...], wanted: pa.Table) -> None:
        """Look at the rows of a part that are equal in some columns to one of those wanted (without
        any: at all), and at what they may be joined with. Of LEFT JOIN, where a row is found by
        those before it, others before it are not found by this one: there may be none."""
        rows = [self._look_at(number, names, wanted)]
        order, seen, ahead = [number], {number}, set[int]()
        for one, mine in zip(order, rows, strict=False):
            for edge in self.ways.edges:
                back = one in ahead and edge.to < one
                if edge.of != one or edge.to in seen or back:
                    continue
                asked = mine.select(edge.mine).rename_columns(edge.others)
                if self.are_many():
                    return
                seen.add(edge.to)
                order.append(edge.to)
                if one < edge.to and self.of.joined.parts[edge.to].kind is not JoinKind.INNER:
                    ahead.add(edge.to)
                rows.append(self._look_at(edge.to, edge.others, asked))
        if rows[0].num_rows:
            self._whole |= set(range(len(self.told))) - seen

    def _look_at(self, number: int, names: tuple[str, ...], wanted: pa.Table) -> pa.Table:
        self.found[number].append((names, wanted))
        shown = self.of.parts[number].feed.variables
        held = self.after[number]
        tables = [self.told[number].filter(pa.array(_among(self.told[number], names, wanted)))]
        if held is not None:
            places = _find(held, names, wanted)
            self._looked_at += len(places)
            tables.append(_take(held, places))
        kinds = pa.schema([self.told[number].schema.field(n) for n in shown])
        return pa.concat_tables([t.select(shown).cast(kinds) for t in tables])

    def join(self) -> Spans:
        """The rows that are looked at, joined."""
        parts: list[Spans] = []
        for number, part in enumerate(self.of.joined.parts):
            edge = next((e for e in self.ways.edges if e.to == number and e.of < number), None)
            found = part.kind is not JoinKind.INNER  # by the row, whether there is one
            if found and edge is not None:
                rows = parts[edge.of].rows.select([f"{edge.of} {n}" for n in edge.names])
                self.found[number].append((edge.others, rows.rename_columns(edge.others)))
            elif found and parts and len(parts[0].begins):
                self._whole.add(number)
            parts.append(number_columns(number, self._list_spans(number)))
        return join_all(self.of.joined, parts)

    def _list_spans(self, number: int) -> Spans:
        """The rows, or groups, of a part that are looked at, with when they begin and end."""
        ways = self.found[number] if number not in self._whole else [((), self.told[number])]
        if self.of.parts[number].groups is not None:
            return self._list_groups(number, ways)
        before, told = self._list_rows(number, ways)
        return pair_changes(repeat_held(before), repeat_held(told))

    def _list_groups(self, number: int, ways: Sequence[_Way]) -> Spans:
        """The groups of the rows of a part that are found, with when they begin and end."""
        groups = self.of.parts[number].groups
        assert groups is not None
        before, told = self._list_rows(number, ways)
        sides = standing_spans(before), pair_changes(repeat_held(before), repeat_held(told))
        return pair_groups(groups, sides, (False, None), self.now)

    def _list_rows(self, number: int, ways: Sequence[_Way]) -> tuple[pa.Table, pa.Table]:
        """The rows of a part that are found, as they were before, and their changes."""
        feed, held, told = self.of.parts[number].feed, self.after[number], self.told[number]
        if held is not None:
            places = [np.zeros(0, dtype=np.int64), *(_find(held, *way) for way in ways)]
            held = _close(feed, held, np.unique(np.concatenate(places)))
        mine = np.zeros(told.num_rows, dtype=np.bool_)
        for way in ways:
            mine |= _among(told, *way)
        told = told.filter(pa.array(mine))
        return _go_back(list_standing(feed, held), told), told


def _among(rows: pa.Table, names: tuple[str, ...], wanted: pa.Table) -> Array:
    """Which rows are equal in some columns to one of those wanted (without any: all)."""
    if not names:
        return np.ones(rows.num_rows, dtype=np.bool_)
    return np.isin(hash_columns(rows.select(names)), hash_wanted(rows.schema, wanted, names))


def _find(held: "pa.Table | KeptTable", names: tuple[str, ...], wanted: pa.Table) -> Array:
    """The places of the rows that are equal in some columns to one of those wanted."""
    if isinstance(held, KeptTable):
        return held.find(wanted, names) if names else np.arange(held.num_rows)
    return np.flatnonzero(_among(held, names, wanted))


def _take(held: "pa.Table | KeptTable", places: Array) -> pa.Table:
    return held.take(places if isinstance(held, KeptTable) else pa.array(places))


def _close(feed: ChangeFeed, held: "pa.Table | KeptTable", places: Array) -> "pa.Table | None":
    """Some rows that are held, and those that say with them which hold: of the first n rows of a
    key in a window, all of the key."""
    if not len(places):
        return None
    rows = _take(held, places)
    if feed.first is None or not feed.ends:
        return rows
    return _take(held, _find(held, tuple(feed.first.key), rows))


def _go_back(after: pa.Table, told: pa.Table) -> pa.Table:
    """The rows that held before some changes, with how often."""
    names = [n for n in after.column_names if n != MULTIPLICITY]
    signs = np.where(pc.equal(told.column(OP), "+").to_numpy(), -1, 1)
    if MULTIPLICITY in told.column_names:
        signs = signs * told.column(MULTIPLICITY).to_numpy()
    whole = pa.concat_tables(
        [after.select(names), told.select(names).cast(after.select(names).schema)]
    )
    codes, count = code_rows(whole, names)
    often = np.zeros(count, dtype=np.int64)
    np.add.at(often, codes, np.concatenate([after.column(MULTIPLICITY).to_numpy(), signs]))
    held = np.flatnonzero(often)
    made = whole.take(pa.array(first_of(codes, count)[held]))
    return made.append_column(MULTIPLICITY, pa.array(often[held]))
