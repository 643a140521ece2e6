"""What is new for the groups of an aggregate query, in as many rows as its bound allows."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.columnar.frame import first_of
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    MatchBatch,
    PartRows,
    join_numbers,
)
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.pool.rank_texts import rank_texts, show_ranks
from ontoweir.runtime.results.measures import MeasureKind
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY


def merge_group_deltas(work: AggregateWork, before: PartRows, more: PartRows) -> PartRows:
    """One row for each group (and each value that a part counts one by one), of all rows of
    both: counts and sums add, the less minimum and the greater maximum stay.

    Sums are not checked for overflow: they wrap, and are right again where the group's sum, which
    update_groups checks, is.
    """
    folded = []
    for i, (part, _) in enumerate(work.parts):
        batches = [b for m in (before, more) if m for b in m[i] if b.rows.num_rows]
        folded.append([_fold(part, batches)] if batches else [])
    return folded


def _fold(part: AggregatePart, batches: Sequence[MatchBatch]) -> MatchBatch:
    table = pa.concat_tables([batch.rows for batch in batches])
    codes, count = code_rows(table, part.keys)
    first = first_of(codes, count)
    numbers = {}
    for name, column in join_numbers(part, batches).items():
        match name[0]:
            case MeasureKind.MIN | MeasureKind.MAX:
                (ranks,), texts = rank_texts([column])
                best = ranks[first]
                (np.minimum if name[0] == MeasureKind.MIN else np.maximum).at(best, codes, ranks)
                merged = show_ranks(best, texts)
            case MeasureKind.WEIGHT | MeasureKind.SUM | MeasureKind.SQUARES:
                merged = np.zeros(count, dtype=np.int64)
                np.add.at(merged, codes, column)
            case _:  # the value that is counted
                merged = column[first]
        numbers[name] = merged
    if MULTIPLICITY in table.column_names:
        place = table.column_names.index(MULTIPLICITY)
        weights = np.zeros(count, dtype=np.int64)
        np.add.at(weights, codes, table.column(place).to_numpy())
        table = table.take(pa.array(first)).set_column(place, MULTIPLICITY, pa.array(weights))
    else:
        table = table.take(pa.array(first))
    counted = part.aggregates[0].function.ranks
    kept = {
        n: c
        for n, c in numbers.items()
        if n[0] != MeasureKind.DISTINCT and (n[0] != MeasureKind.WEIGHT or counted)
    }
    return MatchBatch(table, kept)


def drop_known(work: AggregateWork, rows: PartRows, known: PartRows) -> PartRows:
    """The rows without the distinct values that are known; `known`: of merge_group_deltas."""
    fresh: list[list[MatchBatch]] = []
    for i, (part, _) in enumerate(work.parts):
        distinct = part.aggregates[0].function is AggregateFunction.COUNT_DISTINCT
        if distinct and known and known[i] and rows[i]:
            (before,), names = known[i], part.union.variables
            fresh.append([MatchBatch(_new(b.rows, before.rows, names), {}) for b in rows[i]])
        else:
            fresh.append(list(rows[i]))
    return fresh


def _new(table: pa.Table, known: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """The rows whose values are not among those known."""
    columns = [*names, AT]  # a table without columns has no rows
    both = pa.concat_tables([known.select(columns), table.select(columns)])
    codes, count = code_rows(both, names)
    is_known = np.zeros(count, dtype=np.bool_)
    is_known[codes[: known.num_rows]] = True
    return table.filter(pa.array(~is_known[codes[known.num_rows :]]))
