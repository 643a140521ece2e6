"""What the plans of a query found in a chunk, as answers: in order, once where they are a set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.algebra.is_injective import term_kind
from ontoweir.runtime.columnar.encode import flatten
from ontoweir.runtime.columnar.frame import Array, Frame
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork, MatchBatch, PartRows
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.groups.read_numbers import RowTexts, read_numbers
from ontoweir.runtime.pool.text_columns import code_schema
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY, UNTIL, has_end


@dataclass(frozen=True, slots=True)
class PlanResults:
    """A plan's results in a chunk; `old`: those of the chunks before, where they matter;
    `injective`: different results are different answers."""

    plan: SynopsisPlan
    injective: bool
    results: Frame
    table: pa.Table | None
    old: pa.Table | None


def unite_answers(results: Sequence[PlanResults], schema: pa.Schema, distinct: bool) -> pa.Table:
    """All plans' results, in order; merged (bag), or without what was a result before (set).
    Answers of one text whose terms differ in datatype, language or kind are different answers."""
    kinds: dict[tuple[str, ...], list[PlanResults]] = {}
    for result in results:
        outputs = result.plan.form.query.outputs
        kinds.setdefault(tuple(term_kind(o) for _, o in outputs), []).append(result)
    tables = [_unite(alike, schema, distinct) for alike in kinds.values()]
    if len(tables) == 1:
        return tables[0]
    variables = [n for n in schema.names if n not in (AT, MULTIPLICITY)]
    whole = pa.concat_tables([schema.empty_table(), *tables])
    return in_order(whole, (AT, *variables))


def _unite(results: Sequence[PlanResults], schema: pa.Schema, distinct: bool) -> pa.Table:
    several = len(results) > 1 or not all(f.injective for f in results)
    tables = [_leave_out_unseen(f.table) for f in results if f.table is not None]
    old = [f.old for f in results if f.old is not None]
    if not tables:
        return schema.empty_table()
    whole = pa.concat_tables(tables)
    variables = [n for n in schema.names if n not in (AT, MULTIPLICITY)]
    if several and distinct:
        both = pa.concat_tables([*tables, *old])
        first = both.group_by(variables, use_threads=False).aggregate([(AT, "min")])
        first = first.rename_columns([*variables, AT]).select(schema.names)
        since = pc.min(whole.column(AT))
        whole = first.filter(pc.greater_equal(first.column(AT), since)).cast(schema)
    elif several:
        merged = whole.group_by([*variables, AT], use_threads=False)
        summed = merged.aggregate([(MULTIPLICITY, "sum")])
        summed = summed.rename_columns([*variables, AT, MULTIPLICITY])
        whole = summed.select(schema.names).cast(schema)
    return in_order(whole, (AT, *variables))


def _leave_out_unseen(table: pa.Table) -> pa.Table:
    """Answers without those that end before all of their rows are shown: windows with a step move
    at times of their grid alone, which conditions on timestamps do not say exactly."""
    if not has_end(table.schema):
        return table
    seen = pc.less(table.column(AT), table.column(UNTIL))
    return table if pc.all(seen).as_py() is not False else table.filter(seen)


def in_order(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Rows in the order of some columns, ascending; kernels often give them so."""
    tied: Array | None = None
    for name in names:
        wrong, same = _compare_next(flatten(table.column(name)))
        if wrong is None or (wrong if tied is None else wrong & tied).any():
            return table.sort_by([(n, "ascending") for n in names])
        tied = same if tied is None else tied & same
        if not tied.any():
            break
    return table


def _compare_next(column: "pa.Array") -> tuple[Array | None, Array]:
    """Of every row but the last, whether the next has a lesser value, and whether it has the same
    (None: there are rows without a value, of which comparisons say nothing)."""
    if column.null_count:
        return None, np.zeros(0, dtype=np.bool_)
    if pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type):
        plain = column.to_numpy()
        if plain.dtype.kind == "M":
            plain = plain.view(np.int64)  # in which no value means "none"
        return plain[:-1] > plain[1:], plain[:-1] == plain[1:]
    before, after = column.slice(0, max(len(column) - 1, 0)), column.slice(1)
    wrong = pc.greater(before, after).to_numpy(zero_copy_only=False)
    return wrong, pc.equal(before, after).to_numpy(zero_copy_only=False)


def part_of(work: ExecutionContext, index: int) -> tuple[AggregatePart | None, pa.Schema, bool]:
    """Of a plan: its part of an aggregate query, the columns of its results, and whether there
    are others whose results are the same answers."""
    if work.aggregates is None:
        return None, work.schema, len(work.plans) > 1
    for (part, plans), schema in zip(work.aggregates.parts, work.aggregates.schemas, strict=True):
        if index < plans:
            counted = part.counts_values
            return part, schema, counted and plans > 1
        index -= plans
    raise AssertionError("a plan of no part")


def by_part(
    work: AggregateWork, results: Sequence[PlanResults], texts: TextTable | None
) -> PartRows:
    """The results of every part, with their numbers; distinct values of several plans once.
    `texts`: what codes in the place of texts stand for (None: there are texts)."""
    parts: list[list[MatchBatch]] = []
    start = 0
    for (part, plans), schema in zip(work.parts, work.schemas, strict=True):
        mine = results[start : start + plans]
        start += plans
        if part.counts_values:
            columns = schema if texts is None else code_schema(schema)
            parts.append([MatchBatch(unite_answers(mine, columns, distinct=True), {})])
            continue
        parts.append(
            [
                MatchBatch(
                    f.table,
                    read_numbers(part, f.plan, f.results, work.scales, RowTexts(f.table, texts)),
                )
                for f in mine
                if f.table is not None
            ]
        )
    return parts
