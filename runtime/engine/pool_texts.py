"""The strings of a plan as codes: kept from chunk to chunk while its state uses them."""

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.runtime.columnar.columns import is_value
from ontoweir.runtime.columnar.frame import Array, Frame, Name
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.pool.string_pool import StringPool


def make_pool(prepared: PreparedPlan, others: "pa.LargeStringArray") -> StringPool:
    """The codes of a plan's strings: those with permanent codes, then others."""
    pool = StringPool(prepared.texts)
    pool.others.add(others)
    return pool


def forget_texts(
    prepared: PreparedPlan, state: KernelState, pool: StringPool
) -> "tuple[KernelState, pa.LargeStringArray]":
    """Forget strings that the state no longer uses; what is kept beside the permanent ones."""
    if not len(pool.others):
        return state, pool.others.texts
    plan = prepared.plan
    used = [f.columns[n] for f in state.tables.values() for n in text_columns(plan, f)]
    kept, moved = pool.keep_only(np.concatenate(used) if used else np.zeros(0, dtype=np.int64))
    return KernelState({z: recode(plan, f, moved) for z, f in state.tables.items()}), kept


def recode(plan: SynopsisPlan, frame: Frame, moved: Array) -> Frame:
    """A table with other codes of strings; `moved`: by code the new one. What is no code of a
    string stays as it is."""
    changed = {}
    for name in text_columns(plan, frame):
        column = frame.columns[name]
        known = (column >= 0) & (column < len(moved))
        changed[name] = np.where(known, moved[np.where(known, column, 0)], column)
    return frame.with_columns(changed)


def text_columns(plan: SynopsisPlan, frame: Frame) -> list[Name]:
    """The columns of a table that hold codes of strings."""
    classes = plan.form.classes
    names = [n for n in frame.columns if is_value(n)]
    return [n for n in names if classes[n[1]].kind is Kind.STRING]
