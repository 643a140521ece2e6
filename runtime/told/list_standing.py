"""The answers that hold, of what is held for changes."""

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.runtime.changes.change_feed import DELTA, ChangeFeed
from ontoweir.runtime.changes.end_rows import count_standing
from ontoweir.runtime.changes.group_changes import groups_around
from ontoweir.runtime.changes.sliding_groups import standing_groups
from ontoweir.runtime.changes.standing_groups import group_held, hold_groups
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.numbered.keep_first import tell_first
from ontoweir.runtime.numbered.mark_begun import split_mark
from ontoweir.runtime.numbered.slide_first import list_first
from ontoweir.runtime.results.render_results import MULTIPLICITY


def list_standing(feed: ChangeFeed, held: "pa.Table | None") -> pa.Table:
    """What holds before the changes, with how often."""
    names = [*list_told(feed), MULTIPLICITY]
    if held is None:
        fields = [feed.schema.field(n) for n in list_told(feed)]
        return pa.schema([*fields, pa.field(MULTIPLICITY, pa.int64())]).empty_table()
    if feed.groups is not None and feed.ending is not None:
        found = hold_groups(feed.groups, feed.ending, held)
        return found.append_column(MULTIPLICITY, pa.array(np.ones(found.num_rows, dtype=np.int64)))
    if feed.ending is not None:
        return count_standing(feed.ending, feed.variables, held).select(names)
    if feed.sliding is not None and feed.groups is not None:
        found = groups_around(feed.sliding, feed.groups, held)
        return found.append_column(MULTIPLICITY, pa.array(np.ones(found.num_rows, dtype=np.int64)))
    if feed.sliding is not None:
        held = standing_groups(feed.sliding, held)
    if feed.first is not None and feed.first.first is not None:
        slides = feed.ends
        if slides and feed.groups is not None and not feed.groups.aggregation.group:
            return _list_one_group(feed.groups, feed.first, held)
        held = list_first(feed.first, held) if slides else tell_first(feed.first.first, held)
        if feed.groups is not None:
            found = group_held(feed.groups, held)
            ones = np.ones(found.num_rows, dtype=np.int64)
            return found.append_column(MULTIPLICITY, pa.array(ones))
        if feed.first.distinct:
            return _count_distinct(held.select(feed.variables))
    rows = held.select(feed.variables)
    if MULTIPLICITY in feed.variables:  # groups that say how often their rows are answers
        return rows.select(names)
    if (feed.latest or feed.first is not None) and MULTIPLICITY in held.column_names:
        return held.select(names)
    replaced = feed.latest or feed.first is not None or feed.group is not None
    if replaced or feed.sliding is not None:
        return rows.append_column(MULTIPLICITY, pa.array(np.ones(rows.num_rows, dtype=np.int64)))
    codes, count = code_rows(held, feed.variables)
    often = np.zeros(count, dtype=np.int64)
    np.subtract.at(often, codes, held.column(DELTA).to_numpy())
    if feed.distinct:
        often = np.minimum(often, 1)
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(held.num_rows)[::-1]
    stands = np.flatnonzero(often)
    return (
        rows.take(pa.array(first[stands]))
        .append_column(MULTIPLICITY, pa.array(often[stands]))
        .select(names)
    )


def _list_one_group(groups: AggregateWork, first: Standing, held: pa.Table) -> pa.Table:
    """The row of the one group of the rows with the first numbers in a window, if it has begun."""
    rows, begun = split_mark(held)
    shown = list_first(first, held.slice(0, 0) if rows is None else rows)
    found = group_held(groups, shown)
    found = found if begun else found.slice(0, 0)
    return found.append_column(MULTIPLICITY, pa.array(np.ones(found.num_rows, dtype=np.int64)))


def list_told(feed: ChangeFeed) -> list[str]:
    """What tells rows apart, but for how often they hold."""
    return [name for name in feed.variables if name != MULTIPLICITY]


def _count_distinct(rows: pa.Table) -> pa.Table:
    """Each row once."""
    codes, count = code_rows(rows, rows.column_names)
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    made = rows.take(pa.array(first))
    return made.append_column(MULTIPLICITY, pa.array(np.ones(count, dtype=np.int64)))
