"""Gives rows those before them that nothing has ended."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import Between, Ending
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY

_LONG_AGO = np.iinfo(np.int64).min
_NEVER = np.iinfo(np.int64).max


def begun_schema(answers: pa.Schema) -> pa.Schema:
    """The columns of rows that have begun: what they show, and how many there are."""
    shown = [field for field in answers if field.name not in (AT, MULTIPLICITY)]
    return pa.schema([*shown, pa.field(MULTIPLICITY, pa.int64())])


def meet_begun(
    between: Between[SpjUnion], held: pa.Table, found: Sequence[pa.Table]
) -> tuple[pa.Table, pa.Table]:
    """The rows of a chunk, each with the different rows before it of its key that have not ended,
    as often as there are such; and those that have not been ended after the chunk, counted.

    A chunk is of whole timestamps. Of each row that begins it follows from when to when later rows
    meet it: so how many do at a time is how many have begun less how many have been ended.

    Args:
        between: which rows meet which.
        held: those that have begun before the chunk (begun_schema).
        found: the answers of the chunk, of the queries of `between`.
    """
    meets, begins, *ends = found
    shown = [name for name in held.column_names if name != MULTIPLICITY]
    new = begins.select(shown).append_column(MULTIPLICITY, pa.array(_counts(begins)))
    rows = pa.concat_tables([held, new.cast(held.schema)])
    times = np.concatenate([np.full(held.num_rows, _LONG_AGO), _micros(begins)])
    counts: Array = rows.column(MULTIPLICITY).to_numpy()
    ended = np.full(rows.num_rows, _NEVER)
    alive = np.ones(rows.num_rows, dtype=np.bool_)
    for ending, hits in zip(between.ends, ends, strict=True):
        at = _first_end(rows, times, ending, hits)
        alive &= at == _NEVER
        ended = np.minimum(ended, np.where(at == _NEVER, at, at - int(ending.at_once)))
    since = np.where(times == _LONG_AGO, times, times + int(not between.own))
    groups, size = code_rows(rows, shown)
    met = _meet(between, rows, meets, (groups, size), (since, ended), counts)
    return met, _count_rows(rows, groups, size, counts * alive)


def _first_end(rows: pa.Table, times: Array, ending: Ending[SpjUnion], hits: pa.Table) -> Array:
    """When the first row comes that ends each (µs, or _NEVER)."""
    ended = np.full(rows.num_rows, _NEVER)
    if not hits.num_rows or not rows.num_rows:
        return ended
    codes, other, valid = _code_both(rows, hits, ending.key)
    comes = _micros(hits)
    moments = np.unique(comes)
    places = len(moments) + 1
    known = np.sort(other * places + np.searchsorted(moments, comes))
    after = np.searchsorted(moments, times, side="left" if ending.own else "right")
    place = np.searchsorted(known, codes * places + after)
    first = known[np.minimum(place, len(known) - 1)]
    there = valid & (place < len(known)) & (first // places == codes)
    ended[there] = moments[first[there] % places]
    return ended


def _code_both(
    rows: pa.Table, others: pa.Table, key: Sequence[tuple[str, str]]
) -> tuple[Array, Array, Array]:
    """Codes of equal values of a key, of the rows and of others; and which rows have values."""
    if not key:
        zeros = np.zeros(rows.num_rows, dtype=np.int64)
        return zeros, np.zeros(others.num_rows, dtype=np.int64), zeros == 0
    names = [name for name, _ in key]
    mine = rows.select(names)
    theirs = others.select([name for _, name in key]).rename_columns(names).cast(mine.schema)
    codes, _ = code_rows(pa.concat_tables([mine, theirs]), names)
    valid = np.ones(rows.num_rows, dtype=np.bool_)
    for name in names:
        valid &= rows.column(name).is_valid().to_numpy()
    return codes[: rows.num_rows], codes[rows.num_rows :], valid


def _meet(
    between: Between[SpjUnion],
    rows: pa.Table,
    meets: pa.Table,
    grouped: tuple[Array, int],
    spans: tuple[Array, Array],
    counts: Array,
) -> pa.Table:
    """Later rows beside each different row before them, with how many of these there are then.

    `grouped`: which rows are equal, and how many differ; `spans`: from when to when (inclusive)
    each is met.
    """
    groups, size = grouped
    first = np.full(size, rows.num_rows)
    np.minimum.at(first, groups, np.arange(rows.num_rows))
    key = [(name, name) for name in between.key]
    some = rows.take(pa.array(first))
    mine, theirs, _ = _code_both(some, meets, key)
    order = np.argsort(mine, kind="stable")
    low = np.searchsorted(mine[order], theirs, side="left")
    many = np.searchsorted(mine[order], theirs, side="right") - low
    later = np.repeat(np.arange(meets.num_rows), many)
    offset = np.arange(len(later)) - np.repeat(np.cumsum(many) - many, many)
    beside = order[np.repeat(low, many) + offset]
    at = _micros(meets)
    begun = _count_until(groups, spans[0], counts, beside, at[later])
    gone = spans[1] < _NEVER
    over = _count_until(groups[gone], spans[1][gone] + 1, counts[gone], beside, at[later])
    number = begun - over
    there = np.flatnonzero(number > 0)
    later, beside, number = later[there], beside[there], number[there]
    if not between.once:
        number = number * _counts(meets)[later]
    else:
        number = np.ones(len(there), dtype=np.int64)
    table = meets.take(pa.array(later))
    if MULTIPLICITY in table.column_names:
        table = table.drop_columns([MULTIPLICITY])
    for name in (n for n in some.column_names if n not in (*table.column_names, MULTIPLICITY)):
        table = table.append_column(name, some.column(name).take(pa.array(beside)))
    return table.append_column(MULTIPLICITY, pa.array(number))


def _count_until(groups: Array, moments: Array, counts: Array, asked: Array, times: Array) -> Array:
    """How many of a group there are at a time or before, for each group and time asked for."""
    order = np.lexsort((moments, groups))
    every = np.unique(np.concatenate([moments, times]))
    places = len(every) + 1
    known = groups[order] * places + np.searchsorted(every, moments[order])
    sums = np.concatenate([[0], np.cumsum(counts[order])])
    until = np.searchsorted(known, asked * places + np.searchsorted(every, times), side="right")
    before = np.searchsorted(known, asked * places, side="left")
    number: Array = sums[until] - sums[before]
    return number


def _count_rows(rows: pa.Table, groups: Array, size: int, counts: Array) -> pa.Table:
    """The different rows of which there are some, with how many."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups, counts)
    first = np.full(size, rows.num_rows)
    np.minimum.at(first, groups, np.arange(rows.num_rows))
    there = sums > 0
    kept = rows.take(pa.array(first[there])).drop_columns([MULTIPLICITY])
    return kept.append_column(MULTIPLICITY, pa.array(sums[there])).combine_chunks()


def _counts(rows: pa.Table) -> Array:
    if MULTIPLICITY not in rows.column_names:
        return np.ones(rows.num_rows, dtype=np.int64)
    counts: Array = rows.column(MULTIPLICITY).to_numpy()
    return counts


def _micros(rows: pa.Table) -> Array:
    column: Array = rows.column(AT).cast(pa.int64()).to_numpy()
    return column
