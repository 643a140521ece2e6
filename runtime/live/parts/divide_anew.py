"""The state of a query divided into another number of parts.

What a synopsis keeps does not depend on the order in which rows came to it, and rows of several
merge (compact_table): so what several parts keep is put together, and each row goes to the part
that division gives its value. Rows without that value go to the first: any part may have each, as
no other row is joined with them by it.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.add_exact import add_exact, narrow
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.frame import Array, Frame, concat
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.engine.pool_texts import text_classes
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.kept.kernel_state import CodedTexts, KernelState, recode
from ontoweir.runtime.kernel.compact_table import compact_table
from ontoweir.runtime.live.model.live_job import RunningQuery
from ontoweir.runtime.live.parts.divide_groups import divide_groups, find_stream
from ontoweir.runtime.nulls.code_null import code_null
from ontoweir.runtime.pool.string_pool import StringPool, no_texts
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.render_results import decode_units

_Kept: TypeAlias = "tuple[KernelState, pa.LargeStringArray | CodedTexts]"


def divide_anew(
    query: RunningQuery, states: Sequence[ExecutionState], division: Division | None, now_us: int
) -> list[ExecutionState]:
    """The states of the new parts, without cursors.

    Args:
        query: whose state it is: one that can be divided.
        states: of all parts that there are, or the one state of the query.
        division: into which parts (None: one, all of it).
        now_us: all timestamps up to it are finished.

    Raises:
        UsageError: which part a group is in cannot be told.
    """
    plans = [_divide_plan(query, number, states, division, now_us) for number in _plans(query)]
    groups = divide_groups(query, [state.groups for state in states], division)
    count = 1 if division is None else division.parts
    return [
        ExecutionState(
            {},
            tuple(kept[part][0] for kept in plans),
            tuple(kept[part][1] for kept in plans),
            groups[part],
        )
        for part in range(count)
    ]


def _plans(query: RunningQuery) -> range:
    return range(len(query.plans))


def _divide_plan(
    query: RunningQuery,
    number: int,
    states: Sequence[ExecutionState],
    division: Division | None,
    now_us: int,
) -> list[_Kept]:
    """What a plan keeps in each part, and its strings."""
    prepared = query.plans[number]
    start, texts = len(prepared.texts), TextTable()
    classes = text_classes(prepared.plan)
    found: dict[frozenset[int], list[Frame]] = {}
    for state in states:
        codes = texts.add(state.texts[number])
        moved = np.concatenate([np.arange(start), start + codes])
        for members, frame in state.kernels[number].tables.items():
            if frame.rows:
                found.setdefault(members, []).append(recode(frame, classes, moved))
    pool, now = StringPool(prepared.texts, texts), now_us // prepared.step_us
    parts: list[dict[frozenset[int], Frame]] = [
        {} for _ in range(1 if division is None else division.parts)
    ]
    for table in prepared.plan.tables:
        frames = found.pop(table.members, [])
        if not frames:
            continue
        whole = concat([frame.select(list(frames[0].columns)) for frame in frames])
        place = None
        if division is not None:
            place = _find_places(prepared, table, whole, division, query.work, pool)
        if place is None:
            bag = not prepared.plan.form.distinct
            parts[0][table.members] = compact_table(table, whole, now, bag=bag)
            continue
        for part, mine in enumerate(parts):
            chosen = np.flatnonzero(place == part)
            if len(chosen):
                mine[table.members] = whole.take(chosen)
    assert not found, "a plan of a query that can be divided keeps what its tables have alone"
    return [_keep(mine, texts, start, classes) for mine in parts]


def _keep(
    tables: dict[frozenset[int], Frame], texts: TextTable, start: int, classes: frozenset[int]
) -> _Kept:
    """A part's tables with the strings that they use."""
    if not classes:
        return KernelState(tables), no_texts()
    trimmed, used = CodedTexts(tables, texts, start, classes).trim()
    return KernelState(trimmed), used


def _find_places(
    prepared: PreparedPlan,
    table: SynopsisTable,
    rows: Frame,
    division: Division,
    work: ExecutionContext,
    pool: StringPool,
) -> Array | None:
    """The part of each row of a table, by the value that divides one of its streams, or streams
    that one of its views is over (None: it has none)."""
    form = prepared.plan.form
    aliases = {m.alias for m in form.members if m.index in table.members}
    for attribute, index in form.class_of.items():
        if attribute.alias not in aliases or value(index) not in rows.columns:
            continue
        stream = find_stream(prepared, attribute, division, work)
        if stream is None:
            continue
        group, declared = form.classes[index], stream.column(division.columns[stream.name])
        assert declared is not None
        shift = dict(group.attributes)[attribute]
        codes = narrow(add_exact(rows[value(index)], shift), "a value that divides rows")
        there = np.ones(rows.rows, dtype=np.bool_)
        if group.optional:
            there = codes != code_null(group, pool)
        place = np.zeros(rows.rows, dtype=np.int64)  # rows without a value are in the first
        held = decode_units(codes[there], declared.type, form, pool)
        place[there] = division.place(stream, pa.chunked_array([held])).astype(np.int64)
        return place
    return None
