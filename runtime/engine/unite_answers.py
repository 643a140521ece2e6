"""What the plans of a query found in a chunk, as answers: in order, once where they are a set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.rewriter.algebra.is_injective import term_kind
from ontoweir.runtime.columnar.frame import Frame
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY, UNTIL


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
    if UNTIL not in table.schema.names:
        return table
    seen = pc.less(table.column(AT), table.column(UNTIL))
    return table if pc.all(seen).as_py() is not False else table.filter(seen)


def in_order(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Rows in the order of some columns, ascending; kernels often give them so."""
    tied = np.ones(max(table.num_rows - 1, 0), dtype=np.bool_)
    for name in names:
        column = table.column(name)
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        before, after = column.slice(0, len(tied)), column.slice(1)
        wrong = column.null_count or tied & pc.greater(before, after).to_numpy(zero_copy_only=False)
        if np.any(wrong):  # of rows without a value comparisons say nothing
            return table.sort_by([(n, "ascending") for n in names])
        tied &= pc.equal(before, after).to_numpy(zero_copy_only=False)
        if not tied.any():
            break
    return table
