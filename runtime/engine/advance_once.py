"""The rows of groups that have one match each: emitted when it comes, and forgotten."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    MatchBatch,
    PartRows,
    weight_of,
)
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.groups.render_aggregate import render_aggregate
from ontoweir.runtime.groups.shape_rows import shape_rows
from ontoweir.runtime.pool.rank_texts import no_values
from ontoweir.runtime.results.exact_sums import add_doubles
from ontoweir.runtime.results.group_state import GroupColumn
from ontoweir.runtime.results.measures import Measure, MeasureKind, rank_of
from ontoweir.runtime.results.render_results import AT
from ontoweir.runtime.results.update_groups import show_aggregate

_STORED = {
    AggregateFunction.SUM: MeasureKind.SUM,
    AggregateFunction.AVG: MeasureKind.SUM,
    AggregateFunction.VAR_POP: MeasureKind.SUM,
    AggregateFunction.VAR_SAMP: MeasureKind.SUM,
    AggregateFunction.COVAR_POP: MeasureKind.SUM,
    AggregateFunction.REGR_SXX: MeasureKind.SUM,
    AggregateFunction.MIN: MeasureKind.MIN,
    AggregateFunction.MAX: MeasureKind.MAX,
}


def advance_once(work: AggregateWork, tables: PartRows) -> pa.Table:
    """The rows of the groups of a chunk, in order of `at`.

    `tables`: the new matches of every part, with their arguments' values. All parts emit
    a match at the same marker; the first has every match.
    """
    names = list(work.aggregation.group)
    filled = [[b for b in part if b.rows.num_rows] for part in tables]
    if not filled[0]:
        return work.answers.empty_table()
    keys = pa.concat_tables([b.rows.select([*names, AT]) for part in filled for b in part])
    codes, count = code_rows(keys, [*names, AT])
    rows = sum(b.rows.num_rows for b in filled[0])
    place = np.full(count, -1, dtype=np.int64)
    place[codes[:rows]] = np.arange(rows)
    running: dict[Measure, GroupColumn] = {}
    weights: dict[str, Measure] = {}
    start = 0
    for (part, _), batches in zip(work.parts, filled, strict=True):
        size = sum(b.rows.num_rows for b in batches)
        there = place[codes[start : start + size]]
        start += size
        valid = np.zeros(rows, dtype=np.bool_)
        valid[there] = True
        running[weight_of(part)] = GroupColumn(valid.astype(np.int64), np.ones(rows, np.bool_))
        weights |= {a.name: weight_of(part) for a in part.aggregates}
        for aggregate in part.aggregates:
            argument = aggregate.argument
            if aggregate.function is AggregateFunction.COUNT_DISTINCT:
                counted = running[weight_of(part)]
                running[(MeasureKind.DISTINCT, argument)] = counted
            elif aggregate.function is not AggregateFunction.COUNT:
                assert argument is not None
                dense = work.scales[argument].scale is None
                columns = [no_values(rows, work.scales[one].dtype) for one in aggregate.arguments]
                for one, column in zip(aggregate.arguments, columns, strict=True):
                    values = [b.numbers[(MeasureKind.VALUE, one)] for b in batches]
                    if values:
                        column[there] = np.concatenate(values)
                column = columns[0]
                name: Measure
                if aggregate.function.ranks:
                    name = rank_of(aggregate)
                else:
                    name = (_STORED[aggregate.function], argument)
                if dense and name[0] is MeasureKind.SUM:
                    always = np.ones(rows, dtype=np.bool_)
                    once = valid.astype(np.int64)
                    added = add_doubles(aggregate.arguments, columns, once, [aggregate.function])
                    for digit, digits in added.items():
                        running[digit] = GroupColumn(digits, always)
                    continue
                share = valid if aggregate.function.adds_distinct else np.zeros(rows, np.int64)
                running[name] = GroupColumn(column, valid, column, share.astype(np.int64))
    return _render(work, filled[0], running, weights)


def _render(
    work: AggregateWork,
    whole: Sequence[MatchBatch],
    running: dict[Measure, GroupColumn],
    weights: dict[str, Measure],
) -> pa.Table:
    names = list(work.aggregation.group)
    keys = pa.concat_tables([batch.rows.select([*names, AT]) for batch in whole])
    columns = {n: keys.column(n) for n in (*names, AT)}
    scales = {name: scale.scale for name, scale in work.scales.items()}
    for part, _ in work.parts:
        for a in part.aggregates:
            shown = show_aggregate(a, scales, running, weights)
            kind, scale = work.schema.field(a.name).type, work.scales.get(a.argument or "")
            columns[a.name] = render_aggregate(shown, kind, scale)
    table = pa.table([columns[n] for n in work.schema.names], schema=work.schema)
    ordered = table.sort_by([(n, "ascending") for n in (AT, *names)])
    return shape_rows(work.aggregation, ordered)
