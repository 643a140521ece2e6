"""The strings of a plan as codes: kept from chunk to chunk while its state uses them."""

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.runtime.engine.prepare_plan import PreparedPlan, TextMemory
from ontoweir.runtime.kept.kernel_state import (
    CodedTexts,
    KernelState,
    recode,
    text_columns,
)
from ontoweir.runtime.pool.string_pool import StringPool, no_texts
from ontoweir.runtime.pool.text_table import TextTable

_SPARE_TEXTS, _SPARE_BYTES = 1 << 16, 16 << 20
"""Strings, and bytes of them, that are remembered beside twice those that a state uses."""
_SMALL = 1 << 13
"""Of a state with less rows the strings that it uses are counted after every chunk."""


def open_pool(
    prepared: PreparedPlan, others: "pa.LargeStringArray | CodedTexts", state: KernelState
) -> tuple[StringPool, KernelState]:
    """The codes of a plan's strings for the next chunk, and the state with these codes. `others`:
    the strings beside the permanent ones that the state uses. Where their codes are those of the
    chunk before, these are the codes of this one, and what was seen then is not new."""
    memory, start = prepared.memory, len(prepared.texts)
    pool = StringPool(prepared.texts, memory.table)
    if isinstance(others, CodedTexts):
        if others.table is memory.table and others.start == start:
            return pool, KernelState(state.stored)
        tables, others = others.trim()
        state = KernelState(tables)
    if not len(others):
        return pool, state
    codes = memory.table.add(others)
    if bool((codes == np.arange(len(codes))).all()):
        return pool, state
    moved = np.concatenate([np.arange(start), start + codes])
    classes = text_classes(prepared.plan)
    return pool, KernelState({z: recode(f, classes, moved) for z, f in state.tables.items()})


def close_pool(
    prepared: PreparedPlan, state: KernelState, pool: StringPool, grouped: TextTable
) -> "tuple[KernelState, pa.LargeStringArray | CodedTexts]":
    """A state after a chunk with its strings beside the permanent ones, of a pool of open_pool.
    Strings that it does not use are remembered for the next chunk, the more the more groups have
    (`grouped`)."""
    memory, table, number = prepared.memory, pool.others, prepared.number
    classes = text_classes(prepared.plan) if len(table) else frozenset[int]()
    rows = sum(f.rows for f in state.stored.values() if text_columns(f, classes)) if classes else 0
    if not rows:
        memory.used[number] = 0, 0
        _forget(memory, grouped)
        return state, no_texts()
    coded = CodedTexts(state.stored, table, len(pool.permanent), classes)
    if rows < _SMALL or not memory.used.get(number, (0, 0))[0] or _is_full(memory, grouped):
        used = coded.find_used()
        memory.used[number] = len(used), table.take(used).nbytes
        _forget(memory, grouped)
        if not len(used):
            return state, no_texts()
    return KernelState(state.stored, coded), coded


def _is_full(memory: TextMemory, grouped: TextTable) -> bool:
    """Whether many strings are remembered that no state used when it was looked at last."""
    texts = len(grouped) + sum(count for count, _ in memory.used.values())
    size = grouped.nbytes + sum(size for _, size in memory.used.values())
    table = memory.table
    return len(table) > 2 * texts + _SPARE_TEXTS or table.nbytes > 2 * size + _SPARE_BYTES


def _forget(memory: TextMemory, grouped: TextTable) -> None:
    """Remember no strings where these are many; states go on having theirs."""
    if _is_full(memory, grouped):
        memory.table = TextTable()
        memory.used.clear()


def make_pool(prepared: PreparedPlan, others: "pa.LargeStringArray") -> StringPool:
    """The codes of a plan's strings: those with permanent codes, then others."""
    pool = StringPool(prepared.texts)
    pool.others.add(others)
    return pool


def forget_texts(
    prepared: PreparedPlan, state: KernelState, pool: StringPool
) -> "tuple[KernelState, pa.LargeStringArray]":
    """Forget strings that the state no longer uses; what is kept beside the permanent ones."""
    classes = text_classes(prepared.plan)
    tables, kept = CodedTexts(state.stored, pool.others, len(pool.permanent), classes).trim()
    return KernelState(tables), kept


def text_classes(plan: SynopsisPlan) -> frozenset[int]:
    """The value classes of a plan that are strings."""
    classes = plan.form.classes
    return frozenset(n for n, group in enumerate(classes) if group.kind is Kind.STRING)
