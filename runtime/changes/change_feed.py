"""Answers, as they come, turned into changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.joined import Joined, JoinedPart
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.changes.end_rows import end_rows, tell_changes
from ontoweir.runtime.changes.group_changes import group_changes
from ontoweir.runtime.changes.sliding_groups import OP, slide_groups
from ontoweir.runtime.changes.standing_groups import group_standing
from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.numbered.keep_first import FirstChanges, keep_first
from ontoweir.runtime.numbered.mark_begun import add_mark, split_mark
from ontoweir.runtime.numbered.slide_first import slide_first
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL
from ontoweir.runtime.spans.keep_latest import keep_latest
from ontoweir.runtime.spans.spans import Spans, no_spans

DELTA = "_delta"
"""The column of held changes that says how many begin, or (below 0) end."""
TIME = "_time"
"""The column of held changes that says when they come."""


@dataclass(frozen=True, slots=True)
class ChangeFeed:
    """How the answers of a query become changes.

    `variables`: the columns of an answer; `distinct`: it holds once, however often it is found;
    `ends`: answers end;
    `group`: of updates, the columns that tell groups apart: a row takes the place of the one before
    (None: there are no updates); `schema`: of the changes; `snapshots`: whenever something changes,
    all that holds is written instead; `sliding`: answers are the matches of which groups of sliding
    windows are made, and changes those of the groups' rows; `delay_us`: how much later than it is
    found an answer may begin; `latest`: the key of which the latest answers hold (none: all do);
    `ending`: which rows end others, which are no answers, and `rows`: the columns of all of these;
    `groups`: what makes the groups of them that are told (None: they are told themselves);
    `first`: which answers with the first numbers of their key hold (None: it is another query);
    `numbered`: which of what holds by all of this is told (None: all); `joined`: of which feeds
    what holds is joined (None: it is not); `only`: which changes are written (None: all).
    """

    variables: tuple[str, ...]
    distinct: bool
    ends: bool
    group: tuple[str, ...] | None
    schema: pa.Schema
    snapshots: bool = False
    sliding: AggregateWork | None = None
    delay_us: int = 0
    latest: tuple[str, ...] = ()
    ending: Standing | None = None
    rows: "pa.Schema | None" = None
    groups: AggregateWork | None = None
    first: Standing | None = None
    numbered: "NumberedFeed | None" = None
    joined: "JoinedFeed | None" = None
    only: str | None = None

    @property
    def written(self) -> pa.Schema:
        """The columns that are written."""
        return pa.schema(
            [f for f in self.schema if f.name != OP or not (self.snapshots or self.only)]
        )


@dataclass(frozen=True, slots=True)
class NumberedFeed:
    """The rows that hold by the feed `of` groups, of which those with the first numbers are told:
    `standing` says which."""

    of: ChangeFeed
    standing: Standing


@dataclass(frozen=True, slots=True)
class PartFeed:
    """A part of a join, with the feed of its `rows`, and what makes its groups of them (None: they
    are joined)."""

    part: JoinedPart[SpjUnion]
    feed: ChangeFeed
    rows: pa.Schema
    groups: AggregateWork | None = None


@dataclass(frozen=True, slots=True)
class JoinedFeed:
    """How rows are `joined`, their feeds, and what makes the groups of joined rows that are told
    (None: the rows are)."""

    joined: Joined[SpjUnion]
    parts: tuple[PartFeed, ...]
    groups: AggregateWork | None = None


def no_answers(feed: ChangeFeed) -> pa.Table:
    """Answers, none of them."""
    if feed.sliding is not None:
        return pa.table({})
    if feed.joined is not None and feed.rows is not None:
        return feed.rows.empty_table()
    if (feed.ending is not None or feed.first is not None) and feed.rows is not None:
        return feed.rows.empty_table()
    fields = [feed.schema.field(n) for n in (*feed.variables, AT)]
    fields += [pa.field(UNTIL, INSTANT)] if feed.ends else []
    fields += [] if feed.distinct else [feed.schema.field(MULTIPLICITY)]
    return pa.schema(fields).empty_table()


def advance_changes(
    feed: ChangeFeed, held: "pa.Table | None", answers: pa.Table, now: int
) -> "tuple[pa.Table, pa.Table | None]":
    """The changes up to a time, in order, and what is held for later ones.

    Args:
        feed: how answers become changes.
        held: changes that are still to come: of windows, the ends of what holds; of updates, the
            rows that hold.
        answers: new ones, in order of `at`; all up to `now`, and perhaps later ones.
        now: µs since 1970; nothing is still to come up to it.
    """
    if feed.sliding is not None and feed.groups is not None:
        return group_changes(feed.sliding, feed.groups, held, answers, now)
    if feed.sliding is not None:
        return slide_groups(feed.sliding, held, answers, now)
    if feed.group is not None:
        return _replace_rows(feed, held, answers)
    if feed.ending is not None:
        spans, begun, left = end_rows(feed.ending, held, answers, now)
        if feed.groups is not None:
            return group_standing(feed.groups, spans, begun, now), left
        told, at, deltas = tell_changes(feed.ending, feed.variables, spans)
        times = pa.array(at).cast(INSTANT)
        return show_events(feed, told.append_column(TIME, times), deltas), left
    if feed.latest:
        return _replace_latest(feed, held, answers)
    if feed.first is not None:
        return _number_again(feed, feed.first, held, answers, now)
    events = _make_events(feed, answers)
    if held is not None and held.num_rows:
        events = pa.concat_tables([held, events])
    if not events.num_rows:
        return feed.schema.empty_table(), None
    names = [*feed.variables, TIME]
    codes, count = code_rows(events, names)
    deltas = np.zeros(count, dtype=np.int64)
    np.add.at(deltas, codes, events.column(DELTA).to_numpy())
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(events.num_rows)[::-1]
    merged = events.take(pa.array(first)).drop_columns([DELTA])
    times = merged.column(TIME).cast(pa.int64()).to_numpy()
    rows, _ = code_rows(merged, feed.variables)
    if feed.distinct and feed.ends:
        changes, kept = _change_set(deltas, times, rows, now)
    else:
        changes = np.where(times <= now, deltas, 0)
        kept = np.where(times > now, deltas, 0)
    still = np.flatnonzero(kept)
    rest = merged.take(pa.array(still)).append_column(DELTA, pa.array(kept[still]))
    return show_events(feed, merged, changes), rest if rest.num_rows else None


def _change_set(deltas: Array, times: Array, rows: Array, now: int) -> tuple[Array, Array]:
    """Of rows that hold once: when they begin (1) and end (-1) up to a time, and what is kept of
    what comes later.

    What was found so far of a row, and ends later, is minus the sum of all that is to come.
    """
    count = int(rows.max()) + 1
    before = np.zeros(count, dtype=np.int64)
    np.add.at(before, rows, -deltas)
    order = np.lexsort((times, rows))
    sorted_rows, sorted_deltas = rows[order], deltas[order]
    sums = np.cumsum(sorted_deltas)
    starts = np.flatnonzero(np.append(True, sorted_rows[1:] != sorted_rows[:-1]))
    base = np.append(0, sums)[starts]
    sizes = np.diff(np.append(starts, len(order)))
    after = sums - np.repeat(base, sizes) + before[sorted_rows]
    earlier = after - sorted_deltas
    changed = np.empty(len(order), dtype=np.int64)
    changed[order] = (after > 0).astype(np.int64) - (earlier > 0).astype(np.int64)
    later = times > now
    kept = np.where(later, deltas, 0)
    # where nothing more begins, only the last end matters
    begins = np.zeros(count, dtype=np.bool_)
    begins[rows[later & (deltas > 0)]] = True
    last = np.full(count, np.iinfo(np.int64).min)
    np.maximum.at(last, rows, times)
    simple = later & ~begins[rows]
    kept = np.where(simple, np.where(times == last[rows], -1, 0), kept)
    return np.where(later, 0, changed), kept


def _make_events(feed: ChangeFeed, answers: pa.Table) -> pa.Table:
    """What begins, and what ends, with how many."""
    names = list(feed.variables)
    weights = (
        pa.array(np.ones(answers.num_rows, dtype=np.int64))
        if feed.distinct
        else answers.column(MULTIPLICITY)
    )
    begins = answers.select([*names, AT]).rename_columns([*names, TIME])
    begins = begins.append_column(DELTA, weights)
    if not feed.ends:
        return begins
    ends = answers.select([*names, UNTIL]).rename_columns([*names, TIME])
    ends = ends.append_column(DELTA, pc.negate(weights))
    return pa.concat_tables([begins, ends])


def show_events(feed: ChangeFeed, events: pa.Table, changes: Array) -> pa.Table:
    """Events as rows of the output, in order: at one time, what ends comes first."""
    shown = np.flatnonzero(changes)
    table, changes = events.take(pa.array(shown)), changes[shown]
    columns = {name: table.column(name) for name in feed.variables}
    columns[OP] = pa.array(["-", "+"]).take(pa.array((changes > 0).astype(np.int64)))
    columns[AT] = table.column(TIME)
    if MULTIPLICITY in feed.schema.names:
        columns[MULTIPLICITY] = pa.array(np.abs(changes))
    made = pa.table([columns[n] for n in feed.schema.names], schema=feed.schema)
    keys = [(AT, "ascending"), (OP, "descending"), *((n, "ascending") for n in feed.variables)]
    return made.sort_by(keys)


def _replace_rows(
    feed: ChangeFeed, held: "pa.Table | None", answers: pa.Table
) -> "tuple[pa.Table, pa.Table | None]":
    """Updates of groups: what a row takes the place of ends when it begins."""
    assert feed.group is not None
    if not answers.num_rows:
        return feed.schema.empty_table(), held
    names = [*feed.variables, AT]
    new = answers.select(names)
    whole = new if held is None else pa.concat_tables([held, new])
    known = whole.num_rows - new.num_rows
    codes, _ = code_rows(whole, feed.group)
    order = np.lexsort((np.arange(whole.num_rows), codes))
    follows = np.append(False, codes[order][1:] == codes[order][:-1])
    place = np.flatnonzero(follows)
    old, newer = order[place - 1], order[place]
    last = np.append(~follows[1:], True)
    begins = np.arange(known, whole.num_rows)
    times = whole.column(AT).cast(pa.int64()).to_numpy()
    gone, came = whole.take(pa.array(old)), whole.take(pa.array(begins))
    parts = [
        _with_op(feed, gone, "-", times[newer]),
        _with_op(feed, came, "+", times[begins]),
    ]
    made = pa.concat_tables(parts)
    group: Sequence[str] = feed.group
    keys = [(AT, "ascending"), *((n, "ascending") for n in group), (OP, "descending")]
    return made.sort_by(keys), whole.take(pa.array(np.sort(order[last])))


def _replace_latest(
    feed: ChangeFeed, held: "pa.Table | None", answers: pa.Table
) -> "tuple[pa.Table, pa.Table | None]":
    """Rows that later ones of their key take the place of."""
    if not answers.num_rows:
        return feed.schema.empty_table(), held
    names = [n for n in answers.column_names if n in (*feed.variables, AT, MULTIPLICITY)]
    before = answers.select(names).slice(0, 0) if held is None else held
    gone, ends, came, after = keep_latest(before, answers.select(names), feed.latest)
    begins = came.column(AT).cast(pa.int64()).to_numpy()
    made = pa.concat_tables([_with_op(feed, gone, "-", ends), _with_op(feed, came, "+", begins)])
    keys = [(AT, "ascending"), (OP, "descending"), *((n, "ascending") for n in feed.variables)]
    return _cancel(feed, made).sort_by(keys), after


def _number_again(
    feed: ChangeFeed, standing: Standing, held: "pa.Table | None", answers: pa.Table, now: int
) -> "tuple[pa.Table, pa.Table | None]":
    """Rows with the first numbers of their key, of which others come before."""
    if not answers.num_rows and (held is None or not feed.ends):
        return feed.schema.empty_table(), held
    if feed.ends and feed.groups is not None and not feed.groups.aggregation.group:
        return _group_windows(feed.groups, standing, held, answers, now)
    if feed.ends:
        found = slide_first(standing, held, answers, now)
    else:
        found = keep_first(standing, held, answers)
    if feed.groups is not None or standing.distinct:
        spans = Spans(found.told, found.begins, found.ends, found.weights)
        if feed.groups is not None:
            begun = LONG_AGO if held is not None else _find_first(answers)
            return group_standing(feed.groups, spans, begun, now), found.held
        told, at, deltas = tell_changes(standing, feed.variables, spans)
        return show_events(
            feed, told.append_column(TIME, pa.array(at).cast(INSTANT)), deltas
        ), found.held
    return show_first(feed, found), found.held


def _group_windows(
    groups: AggregateWork,
    standing: Standing,
    held: "pa.Table | None",
    answers: pa.Table,
    now: int,
) -> "tuple[pa.Table, pa.Table | None]":
    """The one group of the rows with the first numbers in a window: from the first row on there is
    one, whether the window shows a row or not."""
    rows, marked = split_mark(held)
    if rows is None and not answers.num_rows:
        return group_standing(groups, no_spans(answers), LONG_AGO if marked else None, now), held
    whole = answers if rows is None else pa.concat_tables([rows, answers.select(rows.column_names)])
    begun = LONG_AGO if marked else _find_first(whole)
    found = slide_first(standing, rows, answers, now)
    spans = Spans(found.told, found.begins, found.ends, found.weights)
    told = group_standing(groups, spans, begun if begun <= now else None, now)
    return told, found.held if begun > now else add_mark(found.held, whole.slice(0, 1))


def _find_first(rows: pa.Table) -> int:
    """The time of the first of some rows (µs)."""
    return int(pc.min(rows.column(AT).cast(pa.int64())).as_py())


def show_first(feed: ChangeFeed, found: FirstChanges) -> pa.Table:
    """What changes of the rows with the first numbers, as it is told, in order."""
    came = np.flatnonzero(found.deltas > 0)
    gone = np.flatnonzero(found.deltas < 0)
    parts = [
        _with_op(feed, found.changed.take(pa.array(index)), op, found.at[index])
        for op, index in (("-", gone), ("+", came))
    ]
    made = pa.concat_tables(parts)
    keys = [(AT, "ascending"), (OP, "descending"), *((n, "ascending") for n in feed.variables)]
    return _cancel(feed, made).sort_by(keys)


def _cancel(feed: ChangeFeed, changes: pa.Table) -> pa.Table:
    """What is left where a row ends and an equal one begins at one time: the difference."""
    if not changes.num_rows:
        return changes
    codes, count = code_rows(changes, [*feed.variables, AT])
    signs = np.where(pc.equal(changes.column(OP), "+").to_numpy(), 1, -1)
    if MULTIPLICITY in changes.column_names:
        signs = signs * changes.column(MULTIPLICITY).to_numpy()
    left = np.zeros(count, dtype=np.int64)
    np.add.at(left, codes, signs)
    # of the rows of the sign that is left, so many from the first on
    kept = np.flatnonzero(np.sign(signs) == np.sign(left[codes]))
    if MULTIPLICITY not in changes.column_names:
        order = kept[np.argsort(codes[kept], kind="stable")]
        first = np.searchsorted(codes[order], codes[order], side="left")
        there = np.arange(len(order)) - first < np.abs(left[codes[order]])
        return changes.take(pa.array(np.sort(order[there])))
    _, ones = np.unique(codes[kept], return_index=True)
    kept = np.sort(kept[ones])
    place = changes.column_names.index(MULTIPLICITY)
    field = changes.schema.field(MULTIPLICITY)
    amount = pa.array(np.abs(left[codes[kept]])).cast(field.type)
    return changes.take(pa.array(kept)).set_column(place, field, amount)


def _with_op(feed: ChangeFeed, rows: pa.Table, op: str, times: Array) -> pa.Table:
    names = [n for n in rows.column_names if n in (*feed.variables, MULTIPLICITY)]
    columns = {name: rows.column(name) for name in names}
    columns[OP] = pa.array([op] * rows.num_rows, pa.string())
    columns[AT] = pa.array(times).cast(INSTANT)
    return pa.table([columns[n] for n in feed.schema.names], schema=feed.schema)
