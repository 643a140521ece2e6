"""Advance the plans of a query over a chunk of rows: what replay and live runs share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import base_tables
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import (
    LONG_AGO,
    Frame,
    TooGreat,
    starts_of_runs,
    too_great,
)
from ontoweir.runtime.engine.advance_once import advance_once
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    PartRows,
    advance_groups,
)
from ontoweir.runtime.engine.close_groups import advance_closing
from ontoweir.runtime.engine.close_values import advance_values
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.engine.pool_texts import close_pool, open_pool
from ontoweir.runtime.engine.prepare_plan import PreparedPlan, list_wanted
from ontoweir.runtime.engine.unite_answers import PlanResults, by_part, part_of, unite_answers
from ontoweir.runtime.groups.bucket_closing import BucketClosing
from ontoweir.runtime.groups.list_matches import PartMatches, list_matches
from ontoweir.runtime.groups.value_closing import ValueClosing
from ontoweir.runtime.ingest.admit_rows import Admitted, ReferenceCheck, admit_rows
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_members import MemberEncoder
from ontoweir.runtime.ingest.watch_keys import watch_keys
from ontoweir.runtime.kernel.kernel import KernelState, advance_kernel, advance_tables
from ontoweir.runtime.kernel.project_matches import LastResult
from ontoweir.runtime.kernel.tables_of_size import members_of, tables_of_size
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.group_state import ADDED, GroupState
from ontoweir.runtime.results.render_results import render_results
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spill.cold_rows import ColdRows, open_cold
from ontoweir.runtime.spill.spill_rows import spill_rows
from ontoweir.runtime.turns.number_turns import ChunkTime, end_turns, number_turns
from ontoweir.runtime.turns.watch_stream import read_watched
from ontoweir.runtime.views.feed_views import feed_views

_FAR = float(1 << 61)
"""Where a sum may be greater, all sums on the way to it are made."""

Done: TypeAlias = Mapping[int, tuple[Frame, KernelState]]
"""By the place of a plan in its query, results and state after a chunk (advance_kernel)."""
_NONE_DONE: Done = {}


def admit_chunk(
    histories: Sequence[History],
    checks: Mapping[str, Sequence[ReferenceCheck]],
    chunk: Chunk,
    span: tuple[int | None, int | None],
    *,
    strict: bool = True,
) -> Mapping[str, Admitted]:
    """What is admitted of every stream (admit_rows).

    Raises:
        DataError: (strict) the data breaks what is declared of timestamps.
    """
    return {
        h.stream.name: admit_rows(
            h,
            chunk.slices[h.stream.name],
            chunk.before[h.stream.name],
            checks.get(h.stream.name, ()),
            span,
            strict=strict,
        )
        for h in histories
    }


def advance_rows(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
    done: Done = _NONE_DONE,
) -> tuple[ExecutionState, pa.Table]:
    """Advance every plan over what was admitted of a chunk: the state after, and the answers.
    `done`: those that the kernel has advanced already."""
    state, results = _advance_plans(work, plans, admitted, chunk, state, answers=True, done=done)
    if work.aggregates is None:
        return state, unite_answers(results, work.schema, work.distinct)
    texts = state.groups.texts if work.aggregates.keeps_groups else None
    parts = by_part(work.aggregates, results, texts)
    if work.aggregates.once:
        return state, advance_once(work.aggregates, parts)
    begins = first_time(work, admitted)
    if work.aggregates.sliding:
        return state, _list_matches(work.aggregates, parts, begins)
    now, closing = chunk.now_us, work.aggregates.closing
    match closing:
        case None:
            answers, groups = advance_groups(work.aggregates, parts, state.groups, begins)
        case BucketClosing():
            answers, groups = advance_closing(work.aggregates, closing, parts, state.groups, now)
        case ValueClosing():
            answers, groups = advance_values(work.aggregates, closing, parts, state.groups, now)
        case _:
            assert_never(closing)
    return replace(state, groups=groups), answers


def first_time(work: ExecutionContext, admitted: Mapping[str, Admitted]) -> int | None:
    """Of a query whose row begins with the first timestamp of its streams, the first one that was
    admitted (µs; None: none was, or it is another query)."""
    if work.aggregates is None or not work.aggregates.begins:
        return None
    read = _list_read(work)
    mine = [a for name, a in admitted.items() if name in read or not work.plans]
    times = (a.times if a.marks is None else a.marks for a in mine)
    return min((int(t.min()) for t in times if len(t)), default=None)


def _list_read(work: ExecutionContext) -> set[str]:
    """The streams that a query reads, itself or as those whose answers it reads."""
    read = base_tables({m.stream for p in work.plans for m in p.form.members}, work.views)
    for block in work.blocks:
        read |= {name for query in block.queries for name in _list_read(query)}
        if block.meeting is not None:
            read.add(block.meeting.base)
    return read


def _list_matches(work: AggregateWork, parts: PartRows, begins: int | None) -> pa.Table:
    """The matches of all parts, whose changes are made where the answers of all ranges come
    together."""
    return list_matches(
        work.aggregation.group,
        (
            PartMatches(number, part, batch.rows, batch.numbers)
            for number, ((part, _), batches) in enumerate(zip(work.parts, parts, strict=True))
            for batch in batches
        ),
        begins,
    )


def advance_parts(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
) -> tuple[ExecutionState, PartRows]:
    """As advance_rows, of an aggregate query; but what is new for its groups, which are left as
    they are, instead of answers."""
    assert work.aggregates is not None
    state, results = _advance_plans(work, plans, admitted, chunk, state)
    return state, by_part(work.aggregates, results, None)


def _advance_plans(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
    *,
    answers: bool = False,
    done: Done = _NONE_DONE,
) -> tuple[ExecutionState, "list[PlanResults]"]:
    admitted = share_steps(admitted, work.catalog)
    for key in work.watched:
        if key.stream in admitted:
            stream, rows = work.catalog.streams[key.stream], admitted[key.stream]
            steps = rows.steps.all()
            watch_keys(work.watch or work.key, stream, [key.columns], steps, rows.table)
    kernels, texts, spilled = [], [], []
    answered: list[PlanResults] = []
    grouped = answers and work.aggregates is not None and work.aggregates.keeps_groups
    texts_of_groups = state.groups.texts if grouped else None
    all_done = len(done) == len(plans)
    encoded = None if all_done else _encoder(work, plans, admitted, state.groups)
    for index, prepared in enumerate(plans):
        pool, before = open_pool(prepared, state.strings[index], state.kernels[index])
        part, schema, several = part_of(work, index)
        last = None
        closes = work.aggregates is not None and work.aggregates.closing is not None
        if (answers or closes) and part is not None and work.aggregates is not None:
            last = _find_last(work.aggregates, part, prepared.plan, state.groups)
        cold = open_cold(work.spill, index, prepared.plan, pool, state.spilled)
        if encoded is None or index in done:
            results, after = done[index]
        elif chunk.now_us is None or _adds_nothing(prepared.plan, encoded, before):
            results, after = Frame(0, {}), before
        else:
            batches = _batches(work, prepared, encoded, pool, None)
            if prepared.watches:
                turned = prepared, encoded, pool
                results, after = _advance_turns(work, turned, batches, before, chunk.now_us)
            else:
                results, after = _advance(prepared, batches, before, chunk.now_us, last, cold)
        distinct = work.distinct if part is None else part.union.distinct
        table = old = None
        if results.rows:
            table = _render(work, prepared, results, pool, schema, texts_of_groups)
        if distinct and (several or not prepared.injective):
            said = before.tables.get(prepared.plan.tables[-1].members)
            if said is not None and said.rows:
                old = _render(work, prepared, said, pool, schema, texts_of_groups)
        answered.append(PlanResults(prepared.plan, prepared.injective, results, table, old))
        after, on_disk = spill_rows(after, cold)
        after, kept = close_pool(prepared, after, pool, state.groups.texts)
        kernels.append(after)
        texts.append(kept)
        spilled.append(on_disk)
    made = ExecutionState(chunk.after, tuple(kernels), tuple(texts), state.groups)
    return (made if work.spill is None else replace(made, spilled=tuple(spilled))), answered


def _find_last(
    work: AggregateWork, part: AggregatePart, plan: SynopsisPlan, groups: GroupState
) -> LastResult | None:
    """What the matches of a group at several markers may add up to that a plan of a part gives as
    one (advance_kernel), where only the last row of a group is asked for, or the row when a bucket
    of time is over. None: every marker by itself, as the last change of a sum is not that of its
    last match, or a sum may not fit, or a value that is closed may come again."""
    if isinstance(work.closing, ValueClosing):
        return None
    if work.closing is None:
        final = work.final and work.aggregation.shows_rows
        if not final or part.counts_values or part.added:
            return None
        # a count changes with every match, whatever is shown beside it
        counted = any(
            a.function is AggregateFunction.COUNT and (other is part or not other.over)
            for other, _ in work.parts
            for a in other.aggregates
        )
        if part.aggregates[0].function in (AggregateFunction.MIN, AggregateFunction.MAX):
            # a value that is told again changes nothing: the groups have the best
            return LastResult(0.0, timed=not counted, told_once=not work.alone)
        if not counted:
            return None
    if max((c.greatest for n, c in groups.measures.items() if n[0] in ADDED), default=0) > _FAR:
        return None
    units = [int(10 ** (work.scales[f.name].scale or 0)) for f in plan.form.folds or ()]
    plans = next(count for other, count in work.parts if other is part)
    return LastResult(_FAR / (max([1, *(unit // plan.form.unit for unit in units)]) * plans))


def advance_level(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
    level: int,
) -> ExecutionState:
    """Advance only the partial matches of `level` streams (ALL_SIZES: of any number), and what they
    are made of."""
    kernels, texts = list(state.kernels), list(state.strings)
    admitted = share_steps(admitted, work.catalog)
    encoded = _encoder(work, plans, admitted, state.groups)
    for index, prepared in enumerate(plans):
        tables = tables_of_size(prepared.plan, level)
        if not tables or chunk.now_us is None:
            continue
        pool, before = open_pool(prepared, state.strings[index], state.kernels[index])
        members = members_of(tables)
        batches = _batches(work, prepared, encoded, pool, members)
        now = chunk.now_us // prepared.step_us
        try:
            after = advance_tables(prepared.plan, tables, before, batches, now)
        except TooGreat as error:
            raise _dated(error, prepared.step_us, chunk.now_us) from None
        kernels[index], texts[index] = close_pool(prepared, after, pool, state.groups.texts)
    return ExecutionState(chunk.after, tuple(kernels), tuple(texts), state.groups)


def share_steps(admitted: Mapping[str, Admitted], catalog: Catalog) -> dict[str, Admitted]:
    """What was admitted, in the steps of time of a query over streams of different units."""
    steps = {n: a.steps.counted_in(catalog.streams[n].step_us) for n, a in admitted.items()}
    return {
        n: a if a.steps is steps[n] else replace(a, steps=steps[n]) for n, a in admitted.items()
    }


def _encoder(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    groups: GroupState,
) -> MemberEncoder:
    """Encodes what was admitted, and the rows that it makes in views."""
    for prepared in plans:
        prepared.memory.begin_chunk(len(groups.texts))
    views = {v.view.name: v for prepared in plans for v in prepared.views}
    fed = feed_views(tuple(views.values()), work.catalog, admitted, work.statics)
    return MemberEncoder(work.catalog, fed, list_wanted(plans))


def count_markers(admitted: Mapping[str, Admitted]) -> int:
    """How many distinct timestamps were admitted."""
    found = (
        a.times[starts_of_runs(a.times)] if a.marks is None else a.marks for a in admitted.values()
    )
    times = [marks for marks in found if len(marks)]
    if len(times) < 2:
        return len(times[0]) if times else 0
    return int(starts_of_runs(np.sort(np.concatenate(times), kind="stable")).sum())


def _adds_nothing(plan: SynopsisPlan, encoded: MemberEncoder, state: KernelState) -> bool:
    """Whether a chunk has no tuples for a plan that keeps no rows: nothing changes then. So it is
    with what is asked for NULLs alone, where there are none."""
    return not any(rows.rows for rows in state.stored.values()) and all(
        encoded.are_none(member, plan.form) for member in plan.form.members
    )


def _advance(
    prepared: PreparedPlan,
    batches: Sequence[Frame],
    state: KernelState,
    now_us: int,
    last: LastResult | None,
    cold: ColdRows | None,
) -> tuple[Frame, KernelState]:
    now = now_us // prepared.step_us
    try:
        return advance_kernel(prepared.plan, state, batches, now, last, cold)
    except TooGreat as error:
        raise _dated(error, prepared.step_us, now_us) from None


def _advance_turns(
    work: ExecutionContext,
    plan: tuple[PreparedPlan, MemberEncoder, StringPool],
    batches: list[Frame],
    before: KernelState,
    now_us: int,
) -> tuple[Frame, KernelState]:
    """As _advance, of a plan that joins rows while their values are open."""
    prepared, encoded, pool = plan
    step_us, form = prepared.step_us, prepared.plan.form
    time, turns = ChunkTime(now_us // step_us, step_us), []
    for number, watched in enumerate(prepared.watches):
        rows, place = read_watched(watched, encoded, work.catalog, pool), (number, watched.open)
        one, before, batches = number_turns(place, form, rows, (before, batches), time)
        turns.append(one)
    return end_turns(turns, *_advance(prepared, batches, before, now_us, None, None))


def _dated(error: TooGreat, step_us: int, now_us: int) -> TooGreat:
    """The error with its marker, or with what it comes before."""
    known = error.step is not None and error.step > LONG_AGO
    when = f" at {show_time(error.step * step_us)}" if known and error.step is not None else ""
    return too_great(error.step, when or f" by {show_time(now_us)}")


def _batches(
    work: ExecutionContext,
    prepared: PreparedPlan,
    encoded: MemberEncoder,
    pool: StringPool,
    members: frozenset[int] | None,
) -> list[Frame]:
    """The tuples of a plan's members (None: of all); of others, none."""
    form = prepared.plan.form
    intake = MemberBuilder(form, work.catalog, prepared.statics, pool)
    return [
        intake.batch(member, encoded.arrival(member, form, pool, selection))
        if members is None or member.index in members
        else Frame(0, {})
        for member, selection in zip(form.members, prepared.selections, strict=True)
    ]


def _render(
    work: ExecutionContext,
    prepared: PreparedPlan,
    results: Frame,
    pool: StringPool,
    schema: pa.Schema,
    texts: TextTable | None,
) -> pa.Table:
    form = prepared.plan.form
    return render_results(results, form, work.catalog, schema, pool, prepared.step_us, texts)
