"""The states of queries that are alike as that of one query, and back; and the answers."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.runtime.alike.query_shape import TAG, UnitedPlan
from ontoweir.runtime.alike.select_rows import Unlike
from ontoweir.runtime.alike.unite_texts import Frames
from ontoweir.runtime.columnar.frame import Array, Frame, Name, concat
from ontoweir.runtime.engine.pool_texts import text_classes
from ontoweir.runtime.kept.kernel_state import CodedTexts, KernelState, frame_of
from ontoweir.runtime.pool.string_pool import StringPool, no_texts
from ontoweir.runtime.pool.text_columns import code_columns, show_columns
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.group_state import GroupColumn, GroupState


def unite_kernels(
    plan: UnitedPlan, pool: StringPool, kept: Sequence[Frames]
) -> "tuple[KernelState, pa.LargeStringArray | CodedTexts]":
    """What a plan keeps of several queries, with the codes of a pool, as one; and its strings.

    Raises:
        Unlike: their columns are not the same.
    """
    before = {}
    for table in plan.prepared.plan.tables:
        frames = [tables.get(table.members) for tables in kept]
        whole = _put_together(frames, plan.tag, plan.unit)
        if table.stored and whole is not None:
            before[table.members] = whole
    classes = text_classes(plan.prepared.plan)
    if not classes:
        return KernelState(before), no_texts()
    texts = CodedTexts(before, pool.others, len(pool.permanent), classes)
    return KernelState(before, texts), texts


def divide_kernel(plan: UnitedPlan, state: KernelState, count: int) -> list[Frames]:
    """What a plan keeps of each of so many queries."""
    stored = state.stored
    tables = {z: divide_frame(plan, frame_of(stored[z]), count) for z in stored}
    return [{z: parts[n] for z, parts in tables.items()} for n in range(count)]


def divide_frame(plan: UnitedPlan, frame: Frame, count: int) -> list[Frame]:
    """The rows of each of so many queries, in the order that they have."""
    order, ends = _find_parts(frame[plan.tag] // plan.unit, count)
    columns = {name: column for name, column in frame.columns.items() if name != plan.tag}
    if order is not None:
        columns = {name: column[order] for name, column in columns.items()}
    return [
        Frame(last - first, {name: column[first:last] for name, column in columns.items()})
        for first, last in itertools.pairwise(ends)
    ]


def divide_answers(answers: pa.Table, count: int) -> list[pa.Table]:
    """The answers of each of so many queries, in the order that they have."""
    order, ends = _find_parts(answers.column(TAG).to_numpy(), count)
    mine = answers.drop_columns([TAG])
    if order is not None:
        mine = mine.take(pa.array(order))
    mine = mine.combine_chunks()
    return [mine.slice(first, last - first) for first, last in itertools.pairwise(ends)]


def unite_groups(states: Sequence[GroupState], texts: TextTable) -> GroupState:
    """The groups of several queries as those of one, with codes of `texts`.

    Raises:
        Unlike: what is kept of them is not the same, or is more than a row for each.
    """
    there = [state for state in states if state.count]
    if any(s.histograms or s.seen or s.open is not None for s in states):
        raise Unlike("groups with more than their rows")
    if not there:
        return GroupState(texts=texts)
    first = there[0]
    if any(s.measures.keys() != first.measures.keys() for s in there[1:]):
        raise Unlike("groups of different measures")
    tables = []
    for place, state in enumerate(states):
        if state.count:
            assert state.keys is not None
            keys = state.keys
            if state.texts is not texts:
                keys = code_columns(show_columns(keys, state.texts), texts)
            columns = [pa.array(np.full(state.count, place)), *keys.columns]
            tables.append(pa.table(columns, names=[TAG, *keys.column_names]))
    measures = {}
    for name in first.measures:
        held = [state.measures[name] for state in there]
        values = np.concatenate([column.values for column in held])
        measures[name] = GroupColumn(values, np.concatenate([column.valid for column in held]))
    return GroupState(
        sum(state.count for state in there),
        pa.concat_tables(tables).combine_chunks(),
        measures,
        changed=np.concatenate([state.changed for state in there]),
        texts=texts,
    )


def divide_groups(groups: GroupState, before: Sequence[GroupState]) -> list[GroupState]:
    """The groups of each query, in the order in which they came."""
    if groups.keys is None:
        return list(before)
    order, ends = _find_parts(groups.keys.column(TAG).to_numpy(), len(before))
    keys = groups.keys.drop_columns([TAG])
    measures, changed = dict(groups.measures), groups.changed
    if order is not None:
        keys = keys.take(pa.array(order)).combine_chunks()
        measures = {name: held.take(order) for name, held in measures.items()}
        changed = changed[order]
    found = []
    for known, (first, last) in zip(before, itertools.pairwise(ends), strict=True):
        mine = {
            name: GroupColumn(held.values[first:last], held.valid[first:last])
            for name, held in measures.items()
        }
        found.append(
            GroupState(
                last - first,
                keys.slice(first, last - first),
                mine,
                changed=changed[first:last],
                texts=groups.texts,
            )
            if last > first
            else replace(known)
        )
    return found


def _find_parts(tags: Array, count: int) -> tuple[Array | None, list[int]]:
    """The order in which the rows of each of so many queries are together (None: they are), and
    where these begin and end."""
    order: Array | None = None
    if bool((tags[1:] < tags[:-1]).any()):
        order = np.argsort(tags, kind="stable")
        tags = tags[order]
    return order, np.searchsorted(tags, np.arange(count + 1)).tolist()


def _put_together(frames: Sequence[Frame | None], tag: Name, unit: int) -> Frame | None:
    """Tables of several queries as one, with a column that tells them apart (None: there are none).

    Raises:
        Unlike: their columns are not the same.
    """
    there = [frame for frame in frames if frame is not None]
    if not there:
        return None
    kinds = {name: column.dtype for name, column in there[0].columns.items()}
    for frame in there[1:]:
        if {name: column.dtype for name, column in frame.columns.items()} != kinds:
            raise Unlike("tables of different columns")
    lengths = [0 if frame is None else frame.rows for frame in frames]
    tags = np.repeat(np.arange(len(frames)) * unit, lengths)
    return concat(there).with_columns({tag: tags})
