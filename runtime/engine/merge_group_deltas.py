"""What is new for the groups of an aggregate query, in as many rows as its bound allows."""

from typing import Any

import numpy as np
import pyarrow as pa

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.columnar.frame import Array, first_of
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    PartRows,
    code_rows,
    join_numbers,
)
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY


def merge_group_deltas(work: AggregateWork, before: PartRows, more: PartRows) -> PartRows:
    """One row for each group (and each value that a part counts one by one), of all rows of
    both: counts and sums add, the less minimum and the greater maximum stay.

    Sums are not checked for overflow: they wrap, and are right again where the group's sum, which
    update_groups checks, is.
    """
    folded = []
    for i, (part, _) in enumerate(work.parts):
        entries = [e for found in (before, more) if found for e in found[i] if e[0].num_rows]
        folded.append([_fold(part, entries)] if entries else [])
    return folded


def _fold(
    part: AggregatePart, entries: "list[tuple[pa.Table, Any]]"
) -> tuple[pa.Table, dict[tuple[Any, ...], Array]]:
    table = pa.concat_tables([t for t, _ in entries])
    codes, count = code_rows(table, part.union.variables)
    first = first_of(codes, count)
    numbers = {}
    for name, column in join_numbers(part, entries).items():
        match name[0]:
            case "min" | "max":
                found = column[first]
                (np.minimum if name[0] == "min" else np.maximum).at(found, codes, column)
            case "w" | "s":
                found = np.zeros(count, dtype=np.int64)
                np.add.at(found, codes, column)
            case _:  # the value that is counted
                found = column[first]
        numbers[name] = found
    table = table.take(pa.array(first))
    if MULTIPLICITY in table.column_names:
        place = table.column_names.index(MULTIPLICITY)
        weights = next(column for name, column in numbers.items() if name[0] == "w")
        table = table.set_column(place, MULTIPLICITY, pa.array(weights))
    counted = part.aggregates[0].function is AggregateFunction.MEDIAN
    kept = {n: c for n, c in numbers.items() if n[0] != "distinct" and (n[0] != "w" or counted)}
    return table, kept


def drop_known(work: AggregateWork, rows: PartRows, known: PartRows) -> PartRows:
    """The rows without the distinct values that are known; `known`: of merge_group_deltas."""
    found: list[list[tuple[pa.Table, Any]]] = []
    for i, (part, _) in enumerate(work.parts):
        distinct = part.aggregates[0].function is AggregateFunction.COUNT_DISTINCT
        if distinct and known and known[i] and rows[i]:
            found.append([(_new(t, known[i][0][0], part.union.variables), {}) for t, _ in rows[i]])
        else:
            found.append(list(rows[i]))
    return found


def _new(table: pa.Table, known: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """The rows whose values are not among those known."""
    columns = [*names, AT]  # a table without columns has no rows
    both = pa.concat_tables([known.select(columns), table.select(columns)])
    codes, count = code_rows(both, names)
    seen = np.zeros(count, dtype=np.bool_)
    seen[codes[: known.num_rows]] = True
    return table.filter(pa.array(~seen[codes[known.num_rows :]]))
