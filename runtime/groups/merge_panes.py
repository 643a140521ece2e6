"""The groups of buckets that overlap, merged from those of their panes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array, add_up, first_of, group_codes
from ontoweir.runtime.groups.bucket_panes import PaneBuckets
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.pool.rank_texts import rank_texts, show_ranks
from ontoweir.runtime.results.group_state import ADDED, GroupColumn, GroupState, Histogram
from ontoweir.runtime.results.measures import MeasureKind


def merge_panes(
    state: GroupState, pane: str, end: str | None, buckets: PaneBuckets, at: Array
) -> GroupState:
    """One group for each bucket and each group of the other columns that some pane of it has.

    Args:
        state: groups of panes.
        pane: the column in which they say where their pane begins; of the groups made, where the
            bucket begins.
        end: the column that says where the bucket ends (None: no column does).
        buckets: those that are asked for, of the panes' groups by place.
        at: when each of them is final, in µs.

    Raises:
        TooGreat: a number of matches, or a sum, does not fit 64 bits.
    """
    assert state.keys is not None
    others = [name for name in state.keys.column_names if name != pane]
    group, _ = code_rows(state.keys, others)
    columns = [buckets.starts, buckets.ends, group[buckets.places]]
    codes, count = group_codes(columns, len(buckets.places))
    first = first_of(codes, count)
    merged = state.keys.take(pa.array(buckets.places[first]))
    keys = _name_buckets(merged, pane, end, buckets, first)
    measures = {}
    for name, held in state.measures.items():
        values, valid = held.values[buckets.places], held.valid[buckets.places]
        if name[0] in ADDED:
            always = np.ones(count, dtype=np.bool_)
            measures[name] = GroupColumn(add_up(values, codes, count), always)
            continue
        (values,), texts = rank_texts([values])
        best = values[first].copy()
        there = np.zeros(count, dtype=np.bool_)
        there[codes[valid]] = True
        known = np.flatnonzero(valid)
        best[codes[known]] = values[known]  # any that is there
        choose = np.minimum if name[0] == MeasureKind.MIN else np.maximum
        choose.at(best, codes[known], values[known])
        measures[name] = GroupColumn(show_ranks(best, texts), there)
    histograms = {}
    for name, counted in state.histograms.items():
        entries, targets = _spread(counted.groups, state.count, buckets.places, codes)
        empty = Histogram(counted.groups[:0], counted.values[:0], counted.counts[:0])
        histograms[name] = empty.add(targets, counted.values[entries], counted.counts[entries])
    made = GroupState(count, keys, measures, histograms, at[first], texts=state.texts)
    return _count_distinct(state, made, buckets.places, codes)


def _name_buckets(
    keys: pa.Table, pane: str, end: str | None, buckets: PaneBuckets, first: Array
) -> pa.Table:
    place = keys.column_names.index(pane)
    kind = keys.schema.field(place).type
    keys = keys.set_column(place, pane, pa.array(buckets.starts[first]).cast(kind))
    return (
        keys if end is None else keys.append_column(end, pa.array(buckets.ends[first]).cast(kind))
    )


def _spread(groups: Array, count: int, places: Array, codes: Array) -> tuple[Array, Array]:
    """What panes' groups have several of, for the buckets' groups: which of it, and whose.

    Args:
        groups: of everything, the place of its pane's group, of which there are `count`.
        places: the panes' groups that are merged.
        codes: the bucket's group of each.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=count)
    start = np.cumsum(sizes) - sizes
    many = sizes[places]
    index = np.repeat(start[places] - (np.cumsum(many) - many), many)
    index += np.arange(len(index))
    return order[index], np.repeat(codes, many)


def _count_distinct(state: GroupState, made: GroupState, places: Array, codes: Array) -> GroupState:
    """The buckets' groups with how many distinct values each has of what is counted so."""
    measures = dict(made.measures)
    for argument, seen in state.seen.items():
        counts = np.zeros(made.count, dtype=np.int64)
        if seen.keys is not None and state.keys is not None:
            names = state.keys.column_names
            both = pa.concat_tables([state.keys, seen.keys.select(names)])
            rows, number = code_rows(both, names)
            place = np.full(number, -1, dtype=np.int64)
            place[rows[: state.count]] = np.arange(state.count)
            values, _ = code_rows(seen.keys, [argument])
            entries, targets = _spread(place[rows[state.count :]], state.count, places, codes)
            pairs, distinct = group_codes([targets, values[entries]], len(targets))
            np.add.at(counts, targets[first_of(pairs, distinct)], 1)
        always = np.ones(made.count, dtype=np.bool_)
        measures[(MeasureKind.DISTINCT, argument)] = GroupColumn(counts, always)
    return replace(made, measures=measures)
