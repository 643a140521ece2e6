"""What is joined of rows that come and go, where little came: of what is held, only that is looked
at which changes may meet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.rewriter.model.joined import Joined, JoinKind
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.changes.change_feed import ChangeFeed, JoinedFeed
from ontoweir.runtime.changes.group_changes import pair_changes
from ontoweir.runtime.changes.sliding_groups import OP
from ontoweir.runtime.columnar.frame import LONG_AGO, Array, first_of
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.kept.hash_columns import hash_columns
from ontoweir.runtime.kept.kept_parts import Part
from ontoweir.runtime.kept.kept_table import KeptTable, hash_wanted
from ontoweir.runtime.results.render_results import MULTIPLICITY
from ontoweir.runtime.spans.spans import NEVER, Spans
from ontoweir.runtime.told.join_feeds import join_all, number_columns, repeat_held
from ontoweir.runtime.told.list_standing import list_standing


@dataclass(frozen=True, slots=True)
class _Edge:
    """Rows of a part are joined with those of another where `names` of theirs equal `others`."""

    of: int
    names: tuple[str, ...]
    to: int
    others: tuple[str, ...]


def list_found(of: JoinedFeed) -> list[list[tuple[str, ...]]]:
    """By which columns the rows of each part are found."""
    edges = [*_list_edges(of.joined)]
    made = []
    for number, one in enumerate(of.parts):
        ways = [e.others for e in edges if e.to == number]
        ways.append(_own_names(of, edges, number))
        place, names, _ = _shown_by(of.joined)
        ways += [names] if of.joined.distinct and place == number else []
        known = ((), _key_of(one.feed))
        made.append([names for names in dict.fromkeys(ways) if names not in known])
    return made


def join_few(of: JoinedFeed, told: Sequence[pa.Table], after: Sequence[Part]) -> Spans | None:
    """The rows that are joined, or were, of those that changes may meet, with the columns that are
    shown: each that began or ended, and where rows are shown once, all that show the same (None:
    these are not found).

    A row of the join changes only where one of its parts does. From the changes of each part the
    rows of the others are found by the columns that are equal, from one to the next; and for LEFT
    JOIN all that are beside a row which is found, so that it is known when there is none.

    Args:
        of: how rows are joined.
        told: the changes of each part.
        after: what is held of each part after them.
    """
    search = _Search(of, told, after, [*_list_edges(of.joined)], [[] for _ in told])
    for number, changes in enumerate(told):
        if changes.num_rows:
            search.spread(number, _own_names(of, search.edges, number), changes)
    made = search.join()
    if not of.joined.distinct or not len(made.begins):
        return made
    place, names, shown = _shown_by(of.joined)
    if not names:
        return None
    changed = np.flatnonzero((made.begins > LONG_AGO) | (made.ends < NEVER))
    wanted = made.rows.select(shown).take(pa.array(changed)).rename_columns(names)
    search.spread(place, names, wanted)
    return search.join()


def _list_edges(joined: Joined[SpjUnion]) -> Iterator[_Edge]:
    """The parts that are joined by equal columns, in both directions."""
    for number, part in enumerate(joined.parts):
        by: dict[int, list[tuple[str, str]]] = {}
        for other, own in part.equal:
            before, _, name = other.partition(" ")
            pairs = by.setdefault(int(before), [])
            pair = name, own.partition(" ")[2]
            if not any(a == pair[0] or b == pair[1] for a, b in pairs):  # more are found without it
                pairs.append(pair)
        for of, pairs in by.items():
            theirs, mine = (tuple(side) for side in zip(*pairs, strict=True))
            yield _Edge(of, theirs, number, mine)
            yield _Edge(number, mine, of, theirs)


def _own_names(of: JoinedFeed, edges: Sequence[_Edge], number: int) -> tuple[str, ...]:
    """The columns by which the rows of a part that are looked at are found, where one changes: for
    LEFT JOIN with them those that are beside the same row."""
    if of.joined.parts[number].kind is not JoinKind.INNER:
        return next((e.names for e in edges if e.of == number and e.to < number), ())
    return of.parts[number].feed.variables


def _shown_by(joined: Joined[SpjUnion]) -> tuple[int, tuple[str, ...], list[str]]:
    """A part that is in every row, which shows the most columns: its number, these columns, and
    what they are called in the answer."""
    made: tuple[int, tuple[str, ...], list[str]] = (0, (), [])
    for number, part in enumerate(joined.parts):
        split = [(name, *v.split(" ", 1)) for name, v in joined.shown]
        mine = {column: name for name, n, column in split if int(n) == number}
        if part.kind is JoinKind.INNER and len(mine) > len(made[1]):
            made = number, tuple(mine), [*mine.values()]
    return made


def _key_of(feed: ChangeFeed) -> tuple[str, ...]:
    """By which columns what a feed holds is found anyway."""
    if feed.first is not None:
        return tuple(feed.first.key)
    return feed.latest or feed.variables


@dataclass(slots=True)
class _Search:
    """The rows that are looked at. `found`: of each part those that are equal in some columns to
    one of a table."""

    of: JoinedFeed
    told: Sequence[pa.Table]
    after: Sequence[Part]
    edges: list[_Edge]
    found: list[list[tuple[tuple[str, ...], pa.Table]]]
    _whole: set[int] = field(default_factory=set)

    def spread(self, number: int, names: tuple[str, ...], wanted: pa.Table) -> None:
        """Look at the rows of a part that are equal in some columns to one of those wanted (without
        any: at all), and at what they may be joined with. Of LEFT JOIN, where a row is found by
        those before it, others before it are not found by this one: there may be none."""
        rows = [self._look_at(number, names, wanted)]
        order, seen, ahead = [number], {number}, set[int]()
        for one, mine in zip(order, rows, strict=False):
            for edge in self.edges:
                back = one in ahead and edge.to < one
                if edge.of != one or edge.to in seen or back:
                    continue
                asked = mine.select(edge.names).rename_columns(edge.others)
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
            tables.append(_take(held, _find(held, names, wanted)))
        kinds = pa.schema([self.told[number].schema.field(n) for n in shown])
        return pa.concat_tables([t.select(shown).cast(kinds) for t in tables])

    def join(self) -> Spans:
        """The rows that are looked at, joined."""
        parts: list[Spans] = []
        for number, part in enumerate(self.of.joined.parts):
            edge = next((e for e in self.edges if e.to == number and e.of < number), None)
            found = part.kind is not JoinKind.INNER  # by the row, whether there is one
            if found and edge is not None:
                rows = parts[edge.of].rows.select([f"{edge.of} {n}" for n in edge.names])
                self.found[number].append((edge.others, rows.rename_columns(edge.others)))
            elif found and parts and len(parts[0].begins):
                self._whole.add(number)
            parts.append(number_columns(number, self._list_spans(number)))
        return join_all(self.of.joined, parts)

    def _list_spans(self, number: int) -> Spans:
        """The rows of a part that are looked at, with when they begin and end."""
        feed, held, told = self.of.parts[number].feed, self.after[number], self.told[number]
        ways = self.found[number] if number not in self._whole else [((), told)]
        if held is not None:
            places = [np.zeros(0, dtype=np.int64), *(_find(held, *way) for way in ways)]
            held = _close(feed, held, np.unique(np.concatenate(places)))
        mine = np.zeros(told.num_rows, dtype=np.bool_)
        for way in ways:
            mine |= _among(told, *way)
        told = told.filter(pa.array(mine))
        before = _go_back(list_standing(feed, held), told)
        return pair_changes(repeat_held(before), repeat_held(told))


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
