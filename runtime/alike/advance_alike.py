"""Advance queries that differ in limits alone by one run of the engine for all of them.

In it one value class more tells the queries apart, which every table has in its key, and groups
have, too: so no row of one query meets one of another, and what comes of each is what would come of
it alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import pyarrow as pa

from ontoweir.errors import OntoweirError
from ontoweir.runtime.alike.query_shape import (
    AlikeQuery,
    QueryShape,
    UnitedPlan,
    UnitedQuery,
    shape_query,
    unite_queries,
)
from ontoweir.runtime.alike.select_rows import UnitedLimits, Unlike, collect_rows
from ontoweir.runtime.alike.unite_states import (
    divide_answers,
    divide_groups,
    divide_kernel,
    unite_groups,
    unite_kernels,
)
from ontoweir.runtime.alike.unite_texts import keep_codes, unite_codes
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.columnar.frame import Frame
from ontoweir.runtime.engine.advance_rows import advance_rows, share_steps
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_members import MemberEncoder
from ontoweir.runtime.kept.kernel_state import CodedTexts, KernelState
from ontoweir.runtime.kernel.kernel import advance_kernel
from ontoweir.runtime.pool.string_pool import StringPool

_MOST_ROWS = 1 << 13
"""What queries keep together in a table has less rows: more are looked up, not looked through."""
_MOST_TEXTS = 1 << 12
"""Of more rows of texts each query looks up those that it wants, not all."""
_MOST_PAIRS = 1 << 20
"""Pairs of a query and a row that are looked at at once."""

Advanced: TypeAlias = Mapping[int, tuple[ExecutionState, pa.Table]]
"""By the place of a query, its state after a chunk, and its answers (advance_rows)."""


@dataclass(frozen=True, slots=True)
class _Alike:
    """Queries of one shape, and their `places`."""

    united: UnitedQuery
    queries: tuple[AlikeQuery, ...]
    places: tuple[int, ...]


class _Known:
    """Queries as a key: the same objects, in the same order."""

    def __init__(self, queries: Sequence[AlikeQuery | None]) -> None:
        self.queries = tuple(queries)
        self._ids = tuple(None if q is None else (id(q.work), id(q.plans)) for q in queries)

    def __hash__(self) -> int:
        return hash(self._ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self._ids == other._ids


def advance_alike(
    queries: Sequence[AlikeQuery | None],
    states: Sequence[ExecutionState | None],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
) -> Advanced:
    """Advance those queries that there are several of with one shape: what has become of them.
    Others are left, also those that cannot be advanced together this time.

    Args:
        queries: which read the same rows; None: one that is advanced by itself.
        states: of the queries, before.
        admitted: the rows of the chunk, by stream.
        chunk: which ends at a finished timestamp.
    """
    made: dict[int, tuple[ExecutionState, pa.Table]] = {}
    for alike in _find_alike(_Known(queries)):
        before = []
        for place in alike.places:
            state = states[place]
            assert state is not None
            before.append(state)
        rows = max((len(admitted[name].steps) for name in alike.united.streams), default=0)
        if rows > _MOST_TEXTS and alike.united.has_texts:
            continue
        for part in _divide(before, rows):
            try:
                done = _advance(alike, part, [before[n] for n in part], admitted, chunk)
            except (OntoweirError, Unlike):  # each by itself says which it is
                continue
            made |= dict(zip((alike.places[n] for n in part), done, strict=True))
    return made


@lru_cache(maxsize=64)
def _find_alike(known: _Known) -> tuple[_Alike, ...]:
    """The queries that others are like."""
    groups: list[tuple[AlikeQuery, QueryShape, list[int], list[QueryShape]]] = []
    for place, query in enumerate(known.queries):
        shape = None if query is None else shape_query(query)
        if query is None or shape is None:
            continue
        for _, first, places, shapes in groups:
            if first.same == shape.same:
                places.append(place)
                shapes.append(shape)
                break
        else:
            groups.append((query, shape, [place], [shape]))
    return tuple(
        _Alike(
            unite_queries(query, shapes),
            tuple(held for n in places if (held := known.queries[n]) is not None),
            tuple(places),
        )
        for query, _, places, shapes in groups
        if len(places) > 1
    )


def _divide(states: Sequence[ExecutionState], rows: int) -> list[list[int]]:
    """Which queries go together, of those that keep little, by their places: two or more."""
    parts: list[list[int]] = []
    kept = _MOST_ROWS
    for number, state in enumerate(states):
        held = [h.rows for kernel in state.kernels for h in kernel.stored.values()]
        mine = max([*held, state.groups.count])
        if 2 * mine >= _MOST_ROWS or 2 * rows > _MOST_PAIRS:
            continue
        if kept + mine >= _MOST_ROWS or (len(parts[-1]) + 1) * rows > _MOST_PAIRS:
            parts.append([])
            kept = 0
        parts[-1].append(number)
        kept += mine
    return [part for part in parts if len(part) > 1]


def _advance(
    alike: _Alike,
    part: Sequence[int],
    before: Sequence[ExecutionState],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
) -> list[tuple[ExecutionState, pa.Table]]:
    """Advance some of the queries together: state and answers of each.

    Raises:
        Unlike: they cannot be.
        OntoweirError: one of them cannot go on.
    """
    united, count = alike.united, len(before)
    groups = unite_groups([state.groups for state in before], united.texts)
    encoder = MemberEncoder(united.catalog, share_steps(admitted, united.catalog))
    pools, kernels, strings, done = [], [], [], {}
    for number, plan in enumerate(united.plans):
        memory = plan.prepared.memory
        memory.begin_chunk(groups.count)
        pool = StringPool(plan.prepared.texts, memory.table)
        kept = [
            unite_codes(plan, pool, alike.queries[n].plans[number].texts, state, number)
            for n, state in zip(part, before, strict=True)
        ]
        kernel, texts = unite_kernels(plan, pool, kept)
        limits = [held.take(part) for held in plan.limits]
        done[number] = _run(united, plan, pool, kernel, encoder, limits, chunk)
        pools.append(pool)
        kernels.append(kernel)
        strings.append(texts)
    plans = tuple(plan.prepared for plan in united.plans)
    whole = ExecutionState(chunk.before, tuple(kernels), tuple(strings), groups)
    after, answers = advance_rows(united.work, plans, admitted, chunk, whole, done)
    divided = []
    for number, plan in enumerate(united.plans):
        parts = divide_kernel(plan, after.kernels[number], count)
        plain = not isinstance(after.strings[number], CodedTexts)
        owns = [alike.queries[n].plans[number].texts for n in part]
        divided.append(
            [
                keep_codes(plan, pools[number], own, tables, plain=plain)
                for own, tables in zip(owns, parts, strict=True)
            ]
        )
    grouped = divide_groups(after.groups, [state.groups for state in before])
    states = [
        replace(
            after,
            kernels=tuple(held[n][0] for held in divided),
            strings=tuple(held[n][1] for held in divided),
            groups=grouped[n],
        )
        for n in range(count)
    ]
    return list(zip(states, divide_answers(answers, count), strict=True))


def _run(
    united: UnitedQuery,
    plan: UnitedPlan,
    pool: StringPool,
    state: KernelState,
    encoder: MemberEncoder,
    limits: Sequence[UnitedLimits],
    chunk: Chunk,
) -> tuple[Frame, KernelState]:
    """Run the kernel over a chunk: results and state of all queries."""
    builder = MemberBuilder(plan.form, united.catalog, {}, pool)
    batches = []
    for member, held in zip(plan.form.members, limits, strict=True):
        arrival = encoder.arrival(member, plan.form, pool, ())
        batches.append(collect_rows(builder, member, arrival, held, plan.tag))
    assert chunk.now_us is not None
    prepared = plan.prepared
    return advance_kernel(prepared.plan, state, batches, chunk.now_us // prepared.step_us)
