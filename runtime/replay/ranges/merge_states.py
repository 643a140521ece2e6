"""The state at the beginning of a range, from what the ranges before it found."""

from collections.abc import Sequence

import numpy as np

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.runtime.columnar.columns import is_value
from ontoweir.runtime.columnar.encode import StringPool
from ontoweir.runtime.columnar.frame import Array, Frame, concat
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.pool_texts import forget_texts, make_pool
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
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
        pool = make_pool(prepared.texts, before.texts[i])
        theirs = [*prepared.texts, *more.texts[i]]
        tables = dict(before.kernels[i].tables)
        now = now_us // prepared.step_us
        for table in plan.tables[:-1]:
            if level not in (ALL_SIZES, len(table.members)):
                continue
            parts = [f for f in (tables.get(table.members),) if f is not None]
            if (other := more.kernels[i].tables.get(table.members)) is not None:
                parts.append(_recode(plan, other, theirs, pool))
            if not parts:
                continue
            names = list(parts[-1].columns)
            rows = concat([f.select(names) for f in parts if f.rows] or parts[:1])
            tables[table.members] = compact_table(table, rows, now, bag=bag)
        kernel, kept = forget_texts(prepared, KernelState(tables), pool)
        kernels.append(kernel)
        texts.append(kept)
    return ExecutionState(before.cursors, tuple(kernels), tuple(texts), before.groups)


def _recode(plan: SynopsisPlan, frame: Frame, texts: Sequence[str], pool: StringPool) -> Frame:
    """A table whose codes of strings are those of another pool."""
    changed: dict[tuple[object, ...], Array] = {}
    for name, column in frame.columns.items():
        if not is_value(name) or plan.form.classes[name[1]].kind is not Kind.STRING:
            continue
        uniques, inner = np.unique(column, return_inverse=True)
        codes = [pool.code(texts[c]) if 0 <= c < len(texts) else c for c in uniques.tolist()]
        changed[name] = np.array(codes, dtype=np.int64)[inner.reshape(-1)]
    return frame.with_columns(changed)
