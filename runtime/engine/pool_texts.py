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
from ontoweir.runtime.pool.text_table import TextTable

_SPARE_TEXTS, _SPARE_BYTES = 1 << 16, 16 << 20
"""Strings, and bytes of them, that are remembered beside twice those that a state uses."""


def open_pool(
    prepared: PreparedPlan, others: "pa.LargeStringArray", state: KernelState
) -> tuple[StringPool, KernelState]:
    """The codes of a plan's strings for the next chunk, and the state with these codes. `others`:
    the strings beside the permanent ones that the state uses. Where they are those of the chunk
    before, what was seen then is remembered, and is not looked up again as new."""
    memory, start = prepared.memory, len(prepared.texts)
    held, codes = memory.kept.get(prepared.number, (None, None))
    if held is not others or codes is None:
        codes = memory.table.add(others)
    pool = StringPool(prepared.texts, memory.table)
    if bool((codes == np.arange(len(codes))).all()):
        return pool, state
    moved = np.concatenate([np.arange(start), start + codes])
    tables = {z: recode(prepared.plan, f, moved) for z, f in state.tables.items()}
    return pool, KernelState(tables)


def close_pool(
    prepared: PreparedPlan, state: KernelState, pool: StringPool, grouped: "pa.LargeStringArray"
) -> "tuple[KernelState, pa.LargeStringArray]":
    """As forget_texts, of a pool of open_pool: the strings that the state does not use are not in
    it, but some are remembered for the next chunk, the more the more groups have (`grouped`)."""
    after, kept, codes = _keep_used(prepared, state, pool)
    memory, table = prepared.memory, pool.others
    memory.kept[prepared.number] = kept, codes
    used = [grouped, *(texts for texts, _ in memory.kept.values())]
    if len(table) > 2 * sum(map(len, used)) + _SPARE_TEXTS or (
        table.texts.nbytes > 2 * sum(texts.nbytes for texts in used) + _SPARE_BYTES
    ):
        memory.table = TextTable()
        memory.kept.clear()
    return after, kept


def make_pool(prepared: PreparedPlan, others: "pa.LargeStringArray") -> StringPool:
    """The codes of a plan's strings: those with permanent codes, then others."""
    pool = StringPool(prepared.texts)
    pool.others.add(others)
    return pool


def forget_texts(
    prepared: PreparedPlan, state: KernelState, pool: StringPool
) -> "tuple[KernelState, pa.LargeStringArray]":
    """Forget strings that the state no longer uses; what is kept beside the permanent ones."""
    after, kept, _ = _keep_used(prepared, state, pool)
    return after, kept


def _keep_used(
    prepared: PreparedPlan, state: KernelState, pool: StringPool
) -> "tuple[KernelState, pa.LargeStringArray, Array]":
    """As forget_texts, with the codes that what is kept has among the others."""
    if not len(pool.others):
        return state, pool.others.texts, np.zeros(0, dtype=np.int64)
    plan = prepared.plan
    used = [f.columns[n] for f in state.tables.values() for n in text_columns(plan, f)]
    kept, moved = pool.keep_only(np.concatenate(used) if used else np.zeros(0, dtype=np.int64))
    after = KernelState({z: recode(plan, f, moved) for z, f in state.tables.items()})
    return after, kept, np.flatnonzero(moved[len(pool.permanent) :] >= 0)


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
