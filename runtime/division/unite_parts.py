"""The answers of all parts of a step, put together in the order of one process."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.engine.unite_answers import in_order
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY


def list_order(work: ExecutionContext) -> list[str]:
    """The columns by which the answers of a chunk are in order."""
    if work.aggregates is not None:
        return [AT, *work.aggregates.aggregation.row]
    return [AT, *(n for n in work.schema.names if n not in (AT, MULTIPLICITY))]


def unite_parts(tables: Sequence[pa.Table], order: Sequence[str]) -> pa.Table:
    """The answers of several parts, in order; equal ones of a bag are one, with their number."""
    whole = in_order(pa.concat_tables(tables), order)
    if MULTIPLICITY not in whole.column_names or not _repeats(whole, order):
        return whole
    summed = whole.group_by(list(order), use_threads=False).aggregate([(MULTIPLICITY, "sum")])
    summed = summed.rename_columns([*order, MULTIPLICITY]).select(whole.schema.names)
    return in_order(summed.cast(whole.schema), order)


def _repeats(table: pa.Table, names: Sequence[str]) -> bool:
    """Whether two rows that follow each other are equal in some columns."""
    tied = np.ones(max(table.num_rows - 1, 0), dtype=np.bool_)
    for name in names:
        column = table.column(name).combine_chunks()
        before, after = column.slice(0, len(tied)), column.slice(1)
        equal = pc.fill_null(pc.equal(before, after), False)
        if column.null_count:
            equal = pc.or_(equal, pc.and_(before.is_null(), after.is_null()))
        tied &= equal.to_numpy(zero_copy_only=False)
        if not tied.any():
            return False
    return bool(tied.any())
