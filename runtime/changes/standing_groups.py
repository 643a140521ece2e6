"""Groups of rows that hold until others end them, as changes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.split.split_aggregates import AggregatePart, split_aggregates
from ontoweir.checker.split.split_by_keys import list_singly
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction, Standing
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.standing.take_shown import take_shown
from ontoweir.runtime.changes.end_rows import end_rows
from ontoweir.runtime.changes.sliding_groups import tell_groups
from ontoweir.runtime.columnar.exact_decimals import encode_decimals
from ontoweir.runtime.columnar.frame import LONG_AGO, Array, multiply
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork, plan_aggregates
from ontoweir.runtime.groups.list_matches import (
    FOREVER,
    NO_PART,
    PART,
    WEIGHT,
    name_group,
    name_measure,
)
from ontoweir.runtime.pool.rank_texts import list_texts
from ontoweir.runtime.results.aggregate_columns import ArgumentScale
from ontoweir.runtime.results.exact_sums import add_doubles
from ontoweir.runtime.results.measures import MeasureKind
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL
from ontoweir.runtime.spans.spans import NEVER, Spans


def plan_standing_groups(union: SpjUnion, catalog: Catalog) -> AggregateWork | None:
    """What makes the groups of rows that hold (None: the query asks for the rows).

    Args:
        union: the query.
        catalog: with its views, buckets and derived columns.
    """
    standing = union.standing
    if standing is None or standing.groups is None:
        return None
    rows = take_shown(union)
    parts = split_aggregates(rows, singly=list_singly(rows, catalog))
    work = plan_aggregates(rows, [(part, 1) for part in parts], catalog)
    return replace(work, sliding=True)


def group_standing(work: AggregateWork, spans: Spans, begun: int | None, now: int) -> pa.Table:
    """The changes of the groups' rows up to a time.

    Args:
        work: of plan_standing_groups.
        spans: the rows that hold, or held since the last time: from when, and until when.
        begun: of a query without GROUP BY, since when it has a row (µs; None: not yet).
        now: µs since 1970.
    """
    tables = [
        table
        for number, (part, _) in enumerate(work.parts)
        if (table := _list(work, number, part, spans)).num_rows
    ]
    if begun is not None and not work.aggregation.group:
        named = {AT: pa.array([begun]).cast(INSTANT), UNTIL: pa.array([FOREVER]).cast(INSTANT)}
        named |= {PART: pa.array([NO_PART], pa.int8()), WEIGHT: pa.array([1])}
        tables.append(pa.table(named))
    matches = pa.concat_tables(tables, promote_options="default") if tables else pa.table({})
    return tell_groups(work, matches, now)


def hold_groups(work: AggregateWork, standing: Standing, held: pa.Table) -> pa.Table:
    """The groups' rows of what is held (end_rows)."""
    now = LONG_AGO + 1
    spans, begun, _ = end_rows(standing, None, held, LONG_AGO)
    spans = replace(spans, begins=np.full(len(spans.begins), now, dtype=np.int64))
    rows = group_standing(work, spans, None if begun is None else now, now)
    return rows.select(list(work.aggregation.columns))


def group_held(work: AggregateWork, held: pa.Table) -> pa.Table:
    """The groups' rows of rows with the first numbers that hold."""
    size, now = held.num_rows, LONG_AGO + 1
    counted = MULTIPLICITY in held.column_names
    weights = held.column(MULTIPLICITY).to_numpy() if counted else np.ones(size, dtype=np.int64)
    begins, ends = (np.full(size, at, dtype=np.int64) for at in (now, NEVER))
    rows = group_standing(work, Spans(held, begins, ends, weights), now, now)
    return rows.select(list(work.aggregation.columns))


def _list(work: AggregateWork, number: int, part: AggregatePart, spans: Spans) -> pa.Table:
    """The rows of a part, as list_matches has them."""
    for name in part.over:
        there = pc.is_valid(spans.rows.column(name)).to_numpy()
        spans = spans.take(np.flatnonzero(there))
    rows, group, size = spans.rows, work.aggregation.group, spans.rows.num_rows
    columns = {
        column: rows.column(name) for column, name in zip(name_group(group), group, strict=True)
    }
    columns[AT] = pa.array(spans.begins).cast(INSTANT)
    columns[UNTIL] = pa.array(np.minimum(spans.ends, FOREVER)).cast(INSTANT)
    columns[PART] = pa.array(np.full(size, number, dtype=np.int8))
    columns[WEIGHT] = pa.array(spans.weights)
    if part.added and part.chosen is None:
        floats = [_numbers(rows.column(name), work.scales[name]) for name in part.added]
        functions = {a.function for a in part.aggregates}
        added = add_doubles(part.added, floats, spans.weights, functions)
        return pa.table(columns | {name_measure(m): pa.array(d) for m, d in added.items()})
    for aggregate in part.aggregates:
        argument = aggregate.argument
        if argument is None:
            continue
        if aggregate.function is AggregateFunction.COUNT_DISTINCT:
            columns[name_measure((MeasureKind.VALUE, argument))] = rows.column(argument)
            continue
        kind = _MEASURES.get(aggregate.function)
        if kind is None:
            continue
        scale = work.scales[argument]
        values = _numbers(rows.column(argument), scale)
        if kind is not MeasureKind.SUM:
            columns[name_measure((kind, argument))] = (
                pa.array(values, pa.string()) if values.dtype == object else pa.array(values)
            )
        else:
            columns[name_measure((kind, argument))] = pa.array(multiply(values, spans.weights))
    return pa.table(columns)


_MEASURES = {
    AggregateFunction.SUM: MeasureKind.SUM,
    AggregateFunction.AVG: MeasureKind.SUM,
    AggregateFunction.MIN: MeasureKind.MIN,
    AggregateFunction.MAX: MeasureKind.MAX,
    AggregateFunction.MEDIAN: MeasureKind.HISTOGRAM,
    AggregateFunction.QUANTILE: MeasureKind.HISTOGRAM,
    AggregateFunction.PERCENTILE: MeasureKind.HISTOGRAM,
    AggregateFunction.SUM_DISTINCT: MeasureKind.HISTOGRAM,
    AggregateFunction.AVG_DISTINCT: MeasureKind.HISTOGRAM,
    AggregateFunction.LIST: MeasureKind.HISTOGRAM,
    AggregateFunction.LIST_DISTINCT: MeasureKind.HISTOGRAM,
}


def _numbers(column: "pa.ChunkedArray", scale: ArgumentScale) -> Array:
    """The values of an argument, in units of its scale; none is NULL."""
    flat = column.combine_chunks()
    if scale.kind == "text":
        return list_texts(column, None)
    if scale.scale is None:
        floats: Array = flat.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return floats
    if pa.types.is_decimal(flat.type):
        units, own = encode_decimals(flat), flat.type.scale
    else:
        whole = (
            flat.cast(pa.int32()) if pa.types.is_date(flat.type) else flat
        )  # or of true and false
        units, own = whole.cast(pa.int64()).to_numpy(zero_copy_only=False), 0
    ten = np.full(len(units), 10 ** (scale.scale - own), dtype=np.int64)
    return units if scale.scale == own else multiply(units, ten)
