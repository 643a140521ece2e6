"""Rows that come and go, joined: an answer holds while all that it is joined of do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.model.expression import fields_of
from ontoweir.rewriter.model.joined import JoinedPart, JoinKind
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.spans.spans import Spans

_COMPARE: Mapping[str, Callable[..., pa.ChunkedArray]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def join_spans(one: Spans, other: Spans, part: JoinedPart[Any]) -> Spans:
    """The pairs of rows of two tables, each while both hold.

    Args:
        one, other: rows; no column is in both.
        part: how the other's are joined. `equal`: columns of one and of the other whose values are
            equal (NULL equals nothing; with `nulls`, NULL); `said`: comparisons of columns of the
            pairs, which hold, as `on` does; `kind`: LEFT: a row is also there alone, with NULL,
            while no pair of it holds; ABSENT: it is there only then; PRESENT: it is there, once,
            while one holds; UNION: all rows of both, each as often as it holds, with the columns
            of `equal`.

    Raises:
        DataError: what the condition computes is beyond its type.
    """
    if part.kind is JoinKind.UNION:
        return _unite(one, other, part.equal)
    index, partner = _pair(one, other, part.equal, nulls=part.nulls)
    begins = np.maximum(one.begins[index], other.begins[partner])
    ends = np.minimum(one.ends[index], other.ends[partner])
    rows = _beside(one.rows.take(pa.array(index)), other.rows.take(pa.array(partner)))
    if part.said or part.on is not None:
        holds = np.ones(len(index), dtype=np.bool_)
        if part.on is not None and len(index):
            fields = {n: rows.column(n).combine_chunks() for n in fields_of(part.on)}
            told = evaluate(part.on, fields, len(index))
            holds &= pc.fill_null(told, False).to_numpy(zero_copy_only=False)
        for first, op, second in part.said:
            told = _COMPARE[op](rows.column(first), rows.column(second))
            holds &= pc.fill_null(told, False).to_numpy(zero_copy_only=False)
        rows, index, partner = rows.filter(pa.array(holds)), index[holds], partner[holds]
        begins, ends = begins[holds], ends[holds]
    weights = one.weights[index] * other.weights[partner]
    if part.kind is JoinKind.INNER:
        return Spans(rows, begins, ends, weights)
    alone, since, until = _list_alone(one, index, begins, ends)
    if part.kind is JoinKind.PRESENT:  # while it is not alone
        alone, since, until = _list_alone(one, alone, since, until)
    if part.kind is not JoinKind.LEFT:
        return Spans(one.rows.take(pa.array(alone)), since, until, one.weights[alone])
    nulls = {f.name: pa.nulls(len(alone), f.type) for f in other.rows.schema}
    rest = _beside(one.rows.take(pa.array(alone)), pa.table(nulls, schema=other.rows.schema))
    return Spans(
        pa.concat_tables([rows, rest]),
        np.concatenate([begins, since]),
        np.concatenate([ends, until]),
        np.concatenate([weights, one.weights[alone]]),
    )


def _unite(one: Spans, other: Spans, equal: Sequence[tuple[str, str]]) -> Spans:
    """The rows of both, with columns of the first."""
    names = [a for a, _ in equal]
    rows = one.rows.select(names)
    more = other.rows.select([b for _, b in equal]).rename_columns(names)
    return Spans(
        _concatenate(rows, more),
        np.concatenate([one.begins, other.begins]),
        np.concatenate([one.ends, other.ends]),
        np.concatenate([one.weights, other.weights]),
    )


def _pair(
    one: Spans, other: Spans, equal: Sequence[tuple[str, str]], *, nulls: bool
) -> tuple[Array, Array]:
    """The places of the rows of both that hold at some time together, whose columns are equal;
    `nulls`: NULL equals NULL. Of two such rows one begins while the other holds: no more pairs are
    looked at than there are."""
    left, right = _code(one.rows, other.rows, equal, nulls=nulls)
    mine = np.flatnonzero((left >= 0) & (one.begins < one.ends))
    theirs = np.flatnonzero((right >= 0) & (other.begins < other.ends))
    times = np.concatenate(
        [one.begins[mine], one.ends[mine], other.begins[theirs], other.ends[theirs]]
    )
    known, ranks = np.unique(times, return_inverse=True)
    edges = np.split(ranks, np.cumsum([len(mine), len(mine), len(theirs)]))
    keys = (left[mine], left[mine], right[theirs], right[theirs])
    first, end, begun, over = (k * len(known) + r for k, r in zip(keys, edges, strict=True))
    index, partner = _find_between(begun, first, end)
    later, earlier = _find_between(first, begun + 1, over)
    index, partner = np.append(index, earlier), np.append(partner, later)
    index, partner = mine[index], theirs[partner]
    order = np.lexsort((partner, index))
    return index[order], partner[order]


def _find_between(values: Array, least: Array, end: Array) -> tuple[Array, Array]:
    """For each range, the places of the values in it: the place of the range, and of the value, of
    each pair."""
    order = np.argsort(values, kind="stable")
    held = values[order]
    start = np.searchsorted(held, least, side="left")
    sizes = np.maximum(np.searchsorted(held, end, side="left") - start, 0)
    ranges = np.repeat(np.arange(len(least)), sizes)
    offset = np.arange(len(ranges)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return ranges, order[np.repeat(start, sizes) + offset]


def _code(
    one: pa.Table, other: pa.Table, equal: Sequence[tuple[str, str]], *, nulls: bool
) -> tuple[Array, Array]:
    """Numbers that are the same for rows of both tables whose columns are equal (-1: they equal
    none, as NULL does not; `nulls`: NULL equals NULL)."""
    if not equal:
        return np.zeros(one.num_rows, np.int64), np.zeros(other.num_rows, np.int64)
    mine, theirs = one.select([a for a, _ in equal]), other.select([b for _, b in equal])
    names = [str(n) for n in range(len(equal))]
    whole = _concatenate(mine.rename_columns(names), theirs.rename_columns(names))
    codes, _ = code_rows(whole, names)
    if not nulls:
        there = np.logical_and.reduce([pc.is_valid(c).to_numpy() for c in whole.columns])
        codes = np.where(there, codes, -1)
    return codes[: one.num_rows], codes[one.num_rows :]


def _concatenate(one: pa.Table, other: pa.Table) -> pa.Table:
    """The rows of both, with the columns of the first; a sum of decimals has more digits than they
    have."""
    kinds = [
        max(a.type, b.type, key=lambda kind: kind.precision)
        if pa.types.is_decimal(a.type) and pa.types.is_decimal(b.type)
        else a.type
        for a, b in zip(one.schema, other.schema, strict=True)
    ]
    schema = pa.schema(list(zip(one.column_names, kinds, strict=True)))
    return pa.concat_tables([one.cast(schema), other.cast(schema)])


def _beside(one: pa.Table, other: pa.Table) -> pa.Table:
    columns = [*one.columns, *other.columns]
    return pa.table(columns, schema=pa.schema([*one.schema, *other.schema]))


def _list_alone(one: Spans, index: Array, begins: Array, ends: Array) -> tuple[Array, Array, Array]:
    """The rows of which no pair holds, each with when that begins and ends: what its pairs leave of
    the time of the row."""
    if not len(index):
        there = np.flatnonzero(one.begins < one.ends)
        return there, one.begins[there], one.ends[there]
    order = np.lexsort((begins, index))
    rows, since, until = index[order], begins[order], ends[order]
    starts = np.append(True, rows[1:] != rows[:-1])
    number = np.cumsum(starts) - 1
    # the latest end of the pairs of a row so far: the greatest place, where each row's are greater
    known, place = np.unique(until, return_inverse=True)
    least = number * len(known)
    over = known[np.maximum.accumulate(least + place) - least]
    before = np.append(0, over[:-1])
    before[starts] = one.begins[rows[starts]]
    last = one.begins.copy()
    last[rows[np.append(starts[1:], True)]] = over[np.append(starts[1:], True)]
    alone = np.concatenate([rows, np.arange(len(one.begins))])
    first, end = np.concatenate([before, last]), np.concatenate([since, one.ends])
    seen = first < end
    return alone[seen], first[seen], end[seen]
