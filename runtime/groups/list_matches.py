"""Matches of the parts of an aggregate query over sliding windows, as one table."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.rank_texts import list_texts
from ontoweir.runtime.results.measures import ALL_MATCHES, Measure, MeasureKind
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL

PART, WEIGHT = "part", "weight"
"""Columns: the number of the part that has a match, and how many matches a row stands for."""
NO_PART = -1
FOREVER = 1 << 60
_GROUP = "group "


class PartMatches(NamedTuple):
    """Matches of a part: the variables of their groups, and perhaps the argument, with `at`,
    `until` and `multiplicity`; and what they say of arguments, a number for each row."""

    number: int
    part: AggregatePart
    rows: pa.Table
    numbers: Mapping[Measure, Array]


def name_group(variables: Sequence[str]) -> list[str]:
    """The columns of a table of matches that have the variables of groups."""
    return [_GROUP + name for name in variables]


def name_measure(measure: Measure) -> str:
    """The column of a table of matches that has a measure."""
    return json.dumps(list(measure))


def numbers_of(matches: pa.Table, column: str) -> Array:
    """A column of numbers, or of texts (objects), of a table of matches; where a row, or the whole
    table, has none, 0, or an empty text."""
    if column not in matches.column_names:
        return np.zeros(matches.num_rows, dtype=np.int64)
    held = matches.column(column)
    if pa.types.is_string(held.type):
        return list_texts(held, None)
    numbers: Array = held.combine_chunks().fill_null(0).to_numpy()
    return numbers


def list_matches(
    group: Sequence[str], batches: Iterable[PartMatches], begins: int | None
) -> pa.Table:
    """One table of all matches; a column that a part does not have is NULL in its rows. Without
    matches it has no columns.

    Args:
        group: the variables of the query's groups.
        batches: of all parts.
        begins: since when there is a group whatever its matches (µs; None: there is none), which
            is a row of no part (NO_PART).
    """
    tables = [_list(group, batch) for batch in batches if batch.rows.num_rows]
    if begins is not None:
        named = {AT: pa.array([begins]).cast(INSTANT), UNTIL: pa.array([FOREVER]).cast(INSTANT)}
        named |= {PART: pa.array([NO_PART], pa.int8()), WEIGHT: pa.array([1])}
        tables.append(pa.table(named))
    if not tables:
        return pa.table({})
    return pa.concat_tables(tables, promote_options="default")


def _list(group: Sequence[str], batch: PartMatches) -> pa.Table:
    rows, first = batch.rows, batch.part.aggregates[0]
    columns = {
        column: rows.column(name) for column, name in zip(name_group(group), group, strict=True)
    }
    columns[AT], columns[UNTIL] = rows.column(AT), rows.column(UNTIL)
    columns[PART] = pa.array(np.full(rows.num_rows, batch.number, dtype=np.int8))
    columns[WEIGHT] = rows.column(MULTIPLICITY)
    if first.function is AggregateFunction.COUNT_DISTINCT and first.argument is not None:
        columns[name_measure((MeasureKind.VALUE, first.argument))] = rows.column(first.argument)
    if first.function.lists and first.argument is not None:
        texts = pa.array(list_texts(rows.column(first.argument), None), pa.string())
        columns[name_measure((MeasureKind.HISTOGRAM, first.argument))] = texts
    for measure, numbers in batch.numbers.items():
        if measure != ALL_MATCHES and not first.function.lists:
            kind = pa.string() if numbers.dtype == object else None
            columns[name_measure(measure)] = pa.array(numbers, kind)
    return pa.table(columns)
