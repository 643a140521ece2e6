"""The rows of groups that have one match each: told when it comes, and forgotten."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    PartRows,
    code_rows,
    render_aggregate,
    weight_of,
)
from ontoweir.runtime.results.render_results import AT
from ontoweir.runtime.results.update_groups import Group, GroupColumn, show_aggregate

_STORED = {
    AggregateFunction.SUM: "s",
    AggregateFunction.AVG: "s",
    AggregateFunction.MIN: "min",
    AggregateFunction.MAX: "max",
    AggregateFunction.MEDIAN: "hist",
}


def advance_once(work: AggregateWork, tables: PartRows) -> pa.Table:
    """The rows of the groups of a chunk, in order of `at`.

    `tables`: per part, rows of its schema, with the arguments' values beside them. All parts tell
    a match at the same marker; the first has every match.
    """
    names = list(work.aggregation.group)
    filled = [[e for e in part if e[0].num_rows] for part in tables]
    if not filled[0]:
        return work.schema.empty_table()
    every = [t.select([*names, AT]) for part in filled for t, _ in part]
    keys = pa.concat_tables(every)
    codes, count = code_rows(keys, [*names, AT])
    rows = sum(t.num_rows for t, _ in filled[0])
    place = np.full(count, -1, dtype=np.int64)
    place[codes[:rows]] = np.arange(rows)
    running: dict[Group, GroupColumn] = {}
    weights: dict[str, Group] = {}
    start = 0
    for (part, _), entries in zip(work.parts, filled, strict=True):
        size = sum(t.num_rows for t, _ in entries)
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
                running[("distinct", argument)] = counted
            elif aggregate.function is not AggregateFunction.COUNT:
                assert argument is not None
                dense = work.scales[argument].scale is None
                column = np.zeros(rows, dtype=np.float64 if dense else np.int64)
                if entries:
                    column[there] = np.concatenate([n[("value", argument)] for _, n in entries])
                name = (_STORED[aggregate.function], argument)
                running[name] = GroupColumn(column, valid, column)
    return _render(work, filled[0], running, weights)


def _render(
    work: AggregateWork,
    whole: "list[tuple[pa.Table, Mapping[Group, Array]]]",
    running: dict[Group, GroupColumn],
    weights: dict[str, Group],
) -> pa.Table:
    names = list(work.aggregation.group)
    told = pa.concat_tables([t.select([*names, AT]) for t, _ in whole])
    found = {n: told.column(n) for n in (*names, AT)}
    scales = {name: scale.scale for name, scale in work.scales.items()}
    for part, _ in work.parts:
        for a in part.aggregates:
            shown = show_aggregate(a, scales, running, weights)
            kind, scale = work.schema.field(a.name).type, work.scales.get(a.argument or "")
            found[a.name] = render_aggregate(shown, kind, scale)
    table = pa.table([found[n] for n in work.schema.names], schema=work.schema)
    return table.sort_by([(n, "ascending") for n in (AT, *names)])
