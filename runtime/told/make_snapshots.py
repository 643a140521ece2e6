"""Changes turned into snapshots: all answers that hold, whenever they change."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.changes.change_feed import (
    ChangeFeed,
    NumberedFeed,
    advance_changes,
    show_first,
)
from ontoweir.runtime.changes.few_changes import advance_few_changes
from ontoweir.runtime.changes.group_changes import pair_changes
from ontoweir.runtime.changes.sliding_groups import OP
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.kept.kept_parts import KeptParts
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.numbered.number_spans import number_held, number_spans
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY
from ontoweir.runtime.told.advance_joined import advance_joined, hold_joined
from ontoweir.runtime.told.list_standing import list_standing, list_told


def advance_feed(
    feed: ChangeFeed,
    held: "pa.Table | KeptTable | KeptParts | None",
    answers: pa.Table,
    now: int,
) -> "tuple[pa.Table, pa.Table | KeptTable | KeptParts | None]":
    """What is written of answers up to a time, in order, and what is held for later (see
    advance_changes): changes, or what holds after each time at which there are some.

    Nothing more is held for snapshots: what holds is what is still to end, or the row of a group.
    """
    rows, after = _advance(feed, held, answers, now)
    if feed.only is not None:
        rows = rows.filter(pc.equal(rows.column(OP), feed.only)).drop_columns([OP])
    return rows, after


def _advance(
    feed: ChangeFeed,
    held: "pa.Table | KeptTable | KeptParts | None",
    answers: pa.Table,
    now: int,
) -> "tuple[pa.Table, pa.Table | KeptTable | KeptParts | None]":
    """As `advance_feed`, with all changes."""
    if feed.joined is not None:
        rows, left = advance_joined(feed, feed.joined, held, answers, now)
        if feed.snapshots:
            rows = _make_snapshots(feed, hold_joined(feed.joined, held), rows)
        return rows, left
    assert not isinstance(held, KeptParts)
    if feed.numbered is None and not feed.snapshots:
        return advance_few_changes(feed, held, answers, now)
    held = None if held is None else whole_table(held)
    if feed.numbered is not None:
        return _number(feed, feed.numbered, held, answers, now)
    rows, after = advance_changes(feed, held, answers, now)
    return _make_snapshots(feed, list_standing(feed, held), rows), after


def _number(
    feed: ChangeFeed, numbered: NumberedFeed, held: "pa.Table | None", answers: pa.Table, now: int
) -> "tuple[pa.Table, pa.Table | None]":
    """What is told of the rows with the first numbers, of what holds by another feed: nothing more
    is held for them."""
    before = list_standing(numbered.of, held)
    told, after = advance_changes(numbered.of, held, answers, now)
    near = _list_near(before, told, numbered.standing.key)
    spans = pair_changes(near.drop_columns([MULTIPLICITY]), told)
    if told.num_rows:  # of updates, rows of a time that is not over are told at once
        now = max(now, pc.max(told.column(AT)).cast(pa.int64()).as_py())
    found = number_spans(numbered.standing, spans.rows, spans.begins, spans.ends, now)
    rows = show_first(feed, found)
    if feed.snapshots:
        rows = _make_snapshots(feed, number_held(numbered.standing, before), rows)
    return rows, after


def _list_near(before: pa.Table, told: pa.Table, key: Sequence[str]) -> pa.Table:
    """Of the rows that hold, those of the keys of which something is told: of the other keys
    nothing changes, whatever their numbers are."""
    if not key or not before.num_rows:
        return before
    names, size = list(key), before.num_rows
    codes, _ = code_rows(pa.concat_tables([before.select(names), told.select(names)]), names)
    return before.filter(pa.array(np.isin(codes[:size], codes[size:])))


def _make_snapshots(feed: ChangeFeed, standing: pa.Table, changes: pa.Table) -> pa.Table:
    """What holds after each time of some changes.

    Between two of its changes a row holds equally often: it is in all snapshots from the one to
    before the other.
    """
    if not changes.num_rows:
        return feed.written.empty_table()
    names = list_told(feed)
    whole = pa.concat_tables([standing.select(names), changes.select(names)])
    codes, _ = code_rows(whole, names)
    moments, place = np.unique(changes.column(AT).cast(pa.int64()).to_numpy(), return_inverse=True)
    deltas = np.concatenate([standing.column(MULTIPLICITY).to_numpy(), _deltas(changes)])
    begins = np.concatenate([np.zeros(standing.num_rows, dtype=np.int64), place])
    order = np.lexsort((begins, codes))
    sorted_codes, sorted_begins = codes[order], begins[order]
    first = np.append(True, sorted_codes[1:] != sorted_codes[:-1])
    sums = np.cumsum(deltas[order])
    before = np.append(0, sums)[np.flatnonzero(first)]
    often = sums - np.repeat(before, np.diff(np.flatnonzero(np.append(first, True))))
    ends = np.where(np.append(first[1:], True), len(moments), np.append(sorted_begins[1:], 0))
    long = np.where(often > 0, ends - sorted_begins, 0)
    rows = np.repeat(np.arange(len(order)), long)
    since = np.arange(len(rows)) - np.repeat(np.cumsum(long) - long, long)
    at = sorted_begins[rows] + since
    table = whole.take(pa.array(order[rows]))
    columns = {name: table.column(name) for name in names}
    columns[AT] = pa.array(moments[at]).cast(INSTANT)
    if MULTIPLICITY in feed.written.names:
        columns[MULTIPLICITY] = pa.array(often[rows])
    made = pa.table([columns[n] for n in feed.written.names], schema=feed.written)
    return made.sort_by([(AT, "ascending"), *((n, "ascending") for n in names)])


def _deltas(changes: pa.Table) -> Array:
    """By how much each change changes how often its row holds."""
    signs = np.where(changes.column(OP).to_numpy(zero_copy_only=False) == "+", 1, -1)
    if MULTIPLICITY not in changes.column_names:
        return signs
    return np.asarray(signs * changes.column(MULTIPLICITY).to_numpy())
