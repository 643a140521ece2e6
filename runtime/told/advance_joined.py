"""What is joined of rows that come and go by themselves, as changes; and what holds of it."""

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.runtime.changes.change_feed import (
    TIME,
    ChangeFeed,
    JoinedFeed,
    show_events,
    show_first,
)
from ontoweir.runtime.changes.end_rows import tell_changes
from ontoweir.runtime.changes.few_changes import advance_few_changes
from ontoweir.runtime.changes.group_changes import pair_changes
from ontoweir.runtime.changes.joined_groups import hold_groups_of, pair_groups
from ontoweir.runtime.changes.standing_groups import group_standing
from ontoweir.runtime.columnar.frame import first_of
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.kept.kept_parts import KeptParts, Part, part_tables
from ontoweir.runtime.kept.kept_rows import are_few
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.numbered.number_spans import number_held, number_spans
from ontoweir.runtime.results.render_results import INSTANT, MULTIPLICITY
from ontoweir.runtime.spans.spans import Spans
from ontoweir.runtime.told.find_ways import find_ways
from ontoweir.runtime.told.join_feeds import (
    find_begun,
    join_all,
    leave_numbers,
    number_columns,
    repeat_held,
    split_rows,
    standing_spans,
)
from ontoweir.runtime.told.join_few import join_few
from ontoweir.runtime.told.list_standing import list_standing

_WAIT = 16
"""Where the rows that changes may meet were many, all are looked at in so many further batches."""


def advance_joined(
    feed: ChangeFeed,
    of: JoinedFeed,
    held: "pa.Table | KeptTable | KeptParts | None",
    answers: pa.Table,
    now: int,
) -> "tuple[pa.Table, KeptParts | None]":
    """The changes of joined rows up to a time, in order, and what is held for later ones: nothing
    but what is held of each part.

    Args:
        feed: of the join, and `of` its parts.
        held: what was held.
        answers: new rows of all parts; all up to `now`, and perhaps later ones.
        now: µs since 1970.
    """
    if feed.numbered is None:
        return _advance(feed, of, held, answers, now)
    before = repeat_held(_hold_found(of, held))
    told, left = _advance(feed.numbered.of, of, held, answers, now)
    if not told.num_rows:
        return feed.schema.empty_table(), left
    spans = pair_changes(before, repeat_held(told))
    found = number_spans(feed.numbered.standing, spans.rows, spans.begins, spans.ends, now)
    return show_first(feed, found), left


def _advance(
    feed: ChangeFeed,
    of: JoinedFeed,
    held: "pa.Table | KeptTable | KeptParts | None",
    answers: pa.Table,
    now: int,
) -> "tuple[pa.Table, KeptParts | None]":
    """The same, of all that is found."""
    known = part_tables(held, len(of.parts))
    size = 0 if held is None else held.num_rows
    new = split_rows(of.joined, of.parts, answers)
    told, after = list[pa.Table](), list[Part]()
    ways = None if feed.snapshots else find_ways(of)
    found = [()] * len(of.parts) if ways is None else ways.found
    rest: Part
    for part, mine, rows, by in zip(of.parts, known, new, found, strict=True):
        if part.feed.joined is not None:
            made, rest = advance_joined(part.feed, part.feed.joined, mine, rows, now)
        else:
            assert not isinstance(mine, KeptParts)
            made, rest = advance_few_changes(part.feed, mine, rows, now, by)
        told.append(made)
        after.append(rest)
    left = KeptParts(after, held.wholly if isinstance(held, KeptParts) else 0)
    kept = left if left.num_rows else None
    if not any(t.num_rows for t in told):  # what is made of the same rows is the same
        return feed.schema.empty_table(), kept
    spans, begun = None, None
    if ways is not None and are_few(sum(t.num_rows for t in told), size):
        spans = join_few(of, ways, told, after, now) if not left.wholly else None
        left.wholly = _WAIT if spans is None and not left.wholly else max(left.wholly - 1, 0)
    if spans is None:
        spans, begun = _join_whole(of, known, told, now)
    if of.groups is not None:
        return group_standing(of.groups, spans, begun, now), kept
    standing_of = Standing((), distinct=of.joined.distinct)
    table, at, deltas = tell_changes(standing_of, feed.variables, spans)
    times = pa.array(at).cast(INSTANT)
    return show_events(feed, table.append_column(TIME, times), deltas), kept


def hold_joined(of: JoinedFeed, held: "pa.Table | KeptTable | KeptParts | None") -> pa.Table:
    """The joined rows that hold and are told, of what advance_joined holds, with how often.

    Args:
        of: the parts.
        held: what is held.
    """
    found, numbered = _hold_found(of, held), of.joined.numbered
    if numbered is None:
        return found
    standing = Standing(numbered.key, first=numbered.first)
    shown = number_held(standing, repeat_held(found)).select([*numbered.columns, MULTIPLICITY])
    return _add_up(shown, distinct=of.joined.is_set)


def _hold_found(of: JoinedFeed, held: "pa.Table | KeptTable | KeptParts | None") -> pa.Table:
    """The same, of all that is found."""
    before = [
        number_columns(number, standing_spans(_hold(part.feed, mine)))
        for number, (part, mine) in enumerate(
            zip(of.parts, part_tables(held, len(of.parts)), strict=True)
        )
    ]
    begun = find_begun(of.joined, before) is not None
    for number, part in enumerate(of.parts):
        if part.groups is not None:
            rows = hold_groups_of(part.groups, leave_numbers(before[number]), begun=begun)
            before[number] = number_columns(number, standing_spans(_count(rows)))
    holds = join_all(of.joined, before)
    if of.groups is not None:
        return _count(hold_groups_of(of.groups, holds, begun=begun))
    whole = holds.rows.append_column(MULTIPLICITY, pa.array(holds.weights))
    return _add_up(whole, distinct=of.joined.distinct)


def _hold(feed: ChangeFeed, held: Part) -> pa.Table:
    """What holds of a part, with how often."""
    if feed.joined is not None:
        return hold_joined(feed.joined, held)
    assert not isinstance(held, KeptParts)
    return list_standing(feed, None if held is None else whole_table(held))


def _count(rows: pa.Table) -> pa.Table:
    """Rows, each of which holds once, where it does not say how often."""
    if MULTIPLICITY in rows.column_names:
        return rows
    return rows.append_column(MULTIPLICITY, pa.array(np.ones(rows.num_rows, dtype=np.int64)))


def _join_whole(
    of: JoinedFeed, known: tuple[Part, ...], told: list[pa.Table], now: int
) -> tuple[Spans, int | None]:
    """All rows, joined, with the columns that are shown; and since when what is not grouped has a
    row."""
    before, came = list[Spans](), list[Spans]()
    for number, (part, mine, made) in enumerate(zip(of.parts, known, told, strict=True)):
        standing = _hold(part.feed, mine)
        before.append(number_columns(number, standing_spans(standing)))
        paired = pair_changes(repeat_held(standing), repeat_held(made))
        came.append(number_columns(number, paired))
    begun = find_begun(of.joined, before) is not None, find_begun(of.joined, came)
    for number, part in enumerate(of.parts):
        if part.groups is not None:
            sides = leave_numbers(before[number]), leave_numbers(came[number])
            groups = pair_groups(part.groups, sides, begun, now)
            came[number] = number_columns(number, groups)
    return join_all(of.joined, came), begun[1]


def _add_up(rows: pa.Table, *, distinct: bool) -> pa.Table:
    """Equal rows as one, with how often they hold."""
    names = [n for n in rows.column_names if n != MULTIPLICITY]
    codes, count = code_rows(rows, names)
    often = np.zeros(count, dtype=np.int64)
    np.add.at(often, codes, rows.column(MULTIPLICITY).to_numpy())
    made = rows.select(names).take(pa.array(first_of(codes, count)))
    often = np.minimum(often, 1) if distinct else often
    return made.append_column(MULTIPLICITY, pa.array(often))
