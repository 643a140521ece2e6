"""The strings of queries that are alike as codes of one table, and back.

A query's own codes are those of the strings that it names, then of others that its state uses.
Queries that are advanced together have the codes of one table for all of them, and keep these from
chunk to chunk; their own are found where they are asked for, as for a commit.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ontoweir.runtime.alike.query_shape import UnitedPlan
from ontoweir.runtime.columnar.frame import Frame
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.pool_texts import text_classes
from ontoweir.runtime.kept.kernel_state import (
    CodedTexts,
    KernelState,
    Members,
    Stored,
    frame_of,
    recode,
    text_columns,
)
from ontoweir.runtime.pool.hash_slots import EMPTY
from ontoweir.runtime.pool.string_pool import StringPool, no_texts
from ontoweir.runtime.pool.text_table import TextTable

Frames = Mapping[Members, Frame]


class UnitedTexts(CodedTexts):
    """The strings of a state whose codes are those of a pool for several queries.

    Args:
        stored: the state's tables.
        pool: of the queries.
        own: the strings with permanent codes of the query itself.
        classes: the value classes that are strings.
        plain: whether the state uses permanent strings of the pool alone.
    """

    __slots__ = ("own", "permanent", "plain")

    def __init__(
        self,
        stored: Stored,
        pool: StringPool,
        own: TextTable,
        classes: frozenset[int],
        *,
        plain: bool,
    ) -> None:
        super().__init__(stored, pool.others, len(pool.permanent), classes)
        self.permanent, self.own, self.plain = pool.permanent, own, plain

    def has_codes_of(self, pool: StringPool) -> bool:
        """Whether the codes of a pool are those that the state has."""
        return self.permanent is pool.permanent and (self.plain or self.table is pool.others)

    def trim(self) -> "tuple[Stored, pa.LargeStringArray]":
        """The tables with the query's own codes, and the strings beside its permanent ones."""
        if self._trimmed is None:
            pool = StringPool(self.permanent, self.table)
            frames = {z: frame_of(held) for z, held in self.stored.items()}
            used = np.zeros(len(pool), dtype=np.bool_)
            for frame in frames.values():
                for name in text_columns(frame, self.classes):
                    column = frame.columns[name]
                    used[column[(column >= 0) & (column < len(pool))]] = True
            codes = np.flatnonzero(used)
            texts = pool.take(codes)
            mine = self.own.find(texts)
            others = mine == EMPTY
            moved = np.full(len(pool), -1, dtype=np.int64)
            moved[codes] = np.where(others, len(self.own) + np.cumsum(others) - 1, mine)
            tables = {z: recode(frame, self.classes, moved) for z, frame in frames.items()}
            self._trimmed = tables, texts.filter(pa.array(others))
        return self._trimmed


def unite_codes(
    plan: UnitedPlan, pool: StringPool, own: TextTable, state: ExecutionState, number: int
) -> Frames:
    """What a plan keeps of a query, with the codes of a pool for several.

    Args:
        plan: of all of them.
        pool: its strings.
        own: those with permanent codes of the query.
        state: of the query.
        number: the place of the plan.
    """
    kernel, texts = state.kernels[number], state.strings[number]
    classes = text_classes(plan.prepared.plan)
    if not classes:
        return {z: frame_of(held) for z, held in kernel.stored.items()}
    if isinstance(texts, UnitedTexts) and texts.has_codes_of(pool):
        return {z: frame_of(held) for z, held in kernel.stored.items()}
    if isinstance(texts, CodedTexts):
        stored, texts = texts.trim()
    else:
        stored = kernel.tables
    frames = {z: frame_of(held) for z, held in stored.items()}
    if not any(frame.rows for frame in frames.values()):
        return frames
    moved = np.concatenate([pool.encode(own.texts), pool.encode(texts)])
    return {z: recode(frame, classes, moved) for z, frame in frames.items()}


def keep_codes(
    plan: UnitedPlan, pool: StringPool, own: TextTable, tables: Frames, *, plain: bool
) -> "tuple[KernelState, pa.LargeStringArray | CodedTexts]":
    """The state of a query and its strings, of what a plan for several keeps of it.

    Args:
        plan: of all of them.
        pool: its strings.
        own: those with permanent codes of the query.
        tables: with the codes of the pool.
        plain: whether the plan keeps no strings beside the permanent ones of the pool.
    """
    classes = text_classes(plan.prepared.plan)
    if not any(text_columns(f, classes) for f in tables.values() if f.rows):
        return KernelState(tables), no_texts()
    texts = UnitedTexts(tables, pool, own, classes, plain=plain)
    return KernelState(tables, texts), texts
