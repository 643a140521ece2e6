"""The state at the beginning of a range, from what the ranges before it found."""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import concat
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.pool_texts import forget_texts, make_pool, text_classes
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.kept.kernel_state import recode
from ontoweir.runtime.kernel.compact_table import compact_table
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.kernel.tables_of_size import ALL_SIZES


def merge_states(
    plans: Sequence[PreparedPlan],
    before: ExecutionState,
    more: ExecutionState,
    now_us: int,
    level: int = ALL_SIZES,
) -> ExecutionState:
    """Add the tables of one state to another, and settle them: counts and sums add, presence
    and the best frontier values merge (theory §8).

    Args:
        plans: the plans, prepared.
        before: the state at the beginning of a range.
        more: what was found since.
        now_us: the last moment of the range.
        level: take in only tables of matches of so many streams (ALL_SIZES: all).
    """
    kernels, texts = [], []
    for i, prepared in enumerate(plans):
        plan, bag = prepared.plan, not prepared.plan.form.distinct
        pool = make_pool(prepared, before.texts[i])
        theirs = pool.others.add(more.texts[i]) + len(prepared.texts)
        moved = np.concatenate([np.arange(len(prepared.texts)), theirs])
        tables = dict(before.kernels[i].tables)
        now = now_us // prepared.step_us
        for table in plan.tables[:-1]:
            if level not in (ALL_SIZES, len(table.members)):
                continue
            parts = [f for f in (tables.get(table.members),) if f is not None]
            if (other := more.kernels[i].tables.get(table.members)) is not None:
                parts.append(recode(other, text_classes(plan), moved))
            if not parts:
                continue
            names = list(parts[-1].columns)
            rows = concat([f.select(names) for f in parts if f.rows] or parts[:1])
            tables[table.members] = compact_table(table, rows, now, bag=bag)
        kernel, kept = forget_texts(prepared, KernelState(tables), pool)
        kernels.append(kernel)
        texts.append(kept)
    return ExecutionState(before.cursors, tuple(kernels), tuple(texts), before.groups)
