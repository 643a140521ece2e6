"""What is kept of the matches of sliding windows: what is still to leave the groups."""

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.columnar.frame import (
    LONG_AGO,
    Array,
    add_up,
    first_of,
    group_codes,
    starts_of_runs,
)
from ontoweir.runtime.columnar.runs import running_least
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.groups.list_matches import NO_PART, PART, WEIGHT, name_measure, numbers_of
from ontoweir.runtime.pool.rank_texts import rank_texts
from ontoweir.runtime.results.measures import MeasureKind
from ontoweir.runtime.results.render_results import AT, INSTANT


def keep_leaving(
    parts: Sequence[AggregatePart],
    matches: pa.Table,
    groups: Array,
    begins: Array,
    ends: Array,
    now: int,
) -> "pa.Table | None":
    """The matches that end after a time, in as few rows as the bound allows (None: there are none):
    those of a group that end at one time are counted and summed, of minima and maxima only the best
    of those that end then or later, of distinct values the last one of each.

    Args:
        parts: of the query.
        matches: of all parts (list_matches), that begin before they end.
        groups: of every match, the code of its group.
        begins, ends: int64 (µs), when it begins and ends.
        now: what has begun by then is not told apart any more (µs).
    """
    staying = ends > now
    begun = np.where(begins <= now, LONG_AGO, begins)
    numbers = matches.column(PART).to_numpy()
    kept = []
    always = np.flatnonzero(numbers == NO_PART)
    if len(always):
        first = always[[np.argmin(begins[always])]]
        kept.append(_begin(matches.take(pa.array(first)), begun[first]))
    for number, part in enumerate(parts):
        mine = np.flatnonzero(staying & (numbers == number))
        if len(mine) == 0:
            continue
        rows = matches.take(pa.array(mine))
        kept.append(_fold(part, rows, groups[mine], begun[mine], ends[mine]))
    return pa.concat_tables(kept).combine_chunks() if kept else None


def _fold(
    part: AggregatePart, rows: pa.Table, groups: Array, begun: Array, ends: Array
) -> pa.Table:
    size, first = len(groups), part.aggregates[0]
    rows = _begin(rows, begun)
    match first.function:
        case AggregateFunction.COUNT_DISTINCT:
            keys = [groups, begun]
            if first.argument is not None:
                keys.append(code_rows(rows, [name_measure((MeasureKind.VALUE, first.argument))])[0])
            codes, _ = group_codes(keys, size)
            order = np.lexsort((ends, codes))
            last = np.append(starts_of_runs(codes[order])[1:], True)
            return _once(rows.take(pa.array(np.sort(order[last]))))
        case AggregateFunction.MIN | AggregateFunction.MAX:
            kind = MeasureKind(first.function.lower())
            (values,), _ = rank_texts([numbers_of(rows, name_measure((kind, first.argument)))])
            if kind is MeasureKind.MAX:
                values = -values if values.dtype == np.float64 else ~values
            codes, _ = group_codes([groups, begun], size)
            order = np.lexsort((values, -ends, codes))  # what ends last first
            values, fresh = values[order], starts_of_runs(codes[order])
            better = fresh.copy()
            better[1:] |= values[1:] < running_least(values, fresh)[:-1]
            return _once(rows.take(pa.array(np.sort(order[better]))))
        case (
            AggregateFunction.MEDIAN
            | AggregateFunction.QUANTILE
            | AggregateFunction.PERCENTILE
            | AggregateFunction.SUM_DISTINCT
            | AggregateFunction.AVG_DISTINCT
            | AggregateFunction.LIST
            | AggregateFunction.LIST_DISTINCT
        ):
            measure = (MeasureKind.HISTOGRAM, first.argument)
            (values,), _ = rank_texts([numbers_of(rows, name_measure(measure))])
            return _add(rows, *group_codes([groups, begun, ends, values], size))
        case (
            AggregateFunction.COUNT
            | AggregateFunction.SUM
            | AggregateFunction.AVG
            | AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.REGR_SXX
        ):
            added = _add(rows, *group_codes([groups, begun, ends], size))
            return _without_nothing(added) if part.cancels else added


def _without_nothing(rows: pa.Table) -> pa.Table:
    """The rows but those whose sums are 0."""
    sums = [n for n in rows.column_names if _is_sum(n)]
    some = [numbers_of(rows, name) != 0 for name in sums]
    return rows.filter(pa.array(np.logical_or.reduce(some))) if some else rows


def _is_sum(name: str) -> bool:
    return name.startswith("[") and json.loads(name)[0] in (MeasureKind.SUM, MeasureKind.SQUARES)


def _begin(rows: pa.Table, begun: Array) -> pa.Table:
    place = rows.column_names.index(AT)
    return rows.set_column(place, AT, pa.array(begun).cast(INSTANT))


def _once(rows: pa.Table) -> pa.Table:
    """The rows, each counted once."""
    place = rows.column_names.index(WEIGHT)
    return rows.set_column(place, WEIGHT, pa.array(np.ones(rows.num_rows, dtype=np.int64)))


def _add(rows: pa.Table, codes: Array, count: int) -> pa.Table:
    """One row for each code, with how many matches there are, and their sums."""
    if count == rows.num_rows:
        return rows
    folded = rows.take(pa.array(first_of(codes, count)))
    for place, name in enumerate(rows.column_names):
        if (_is_sum(name) or name == WEIGHT) and rows.column(name).null_count < rows.num_rows:
            total = add_up(numbers_of(rows, name), codes, count)
            folded = folded.set_column(place, name, pa.array(total))
    return folded
