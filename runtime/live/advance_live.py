"""One micro-batch of live queries: rows arrive, timestamps finish, answers come out.

Rows wait until their timestamp is finished, that is until every stream has passed it; then they
are admitted in order of time, and the plans of every query advance, as in a replay. Nothing here
knows Spark.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from ontoweir.checker.sizes.bound_open_steps import count_open_rows
from ontoweir.errors import RunError
from ontoweir.runtime.alike.advance_alike import Advanced, advance_alike
from ontoweir.runtime.alike.query_shape import AlikeQuery
from ontoweir.runtime.blocks.advance_blocks import advance_blocks
from ontoweir.runtime.chunks.read_chunk import Chunk, Slice
from ontoweir.runtime.engine.advance_rows import admit_chunk, advance_rows, count_markers
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.groups.value_closing import ValueClosing
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.live.arrivals.ingest import LATE, describe_rows, ingest_once
from ontoweir.runtime.live.check_bounds import check_bounds
from ontoweir.runtime.live.model.adapt_closing import adapt_closing
from ontoweir.runtime.live.model.cut_chunk import cut_chunk
from ontoweir.runtime.live.model.divided_state import DividedState, PartState
from ontoweir.runtime.live.model.live_job import (
    PARTITION_OF,
    KnownSources,
    LiveJob,
    LiveOutcome,
    LiveState,
    QueryState,
    Reject,
    RunningQuery,
    partitions_of,
)
from ontoweir.runtime.live.model.step_memory import StepMemory
from ontoweir.runtime.live.parts.advance_parts import advance_parts
from ontoweir.runtime.pool.string_pool import no_texts
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.rules.enforce_rules import enforce_rules
from ontoweir.runtime.rules.meter_rules import RuleMeter, meter_rules
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.times.late_rows import NOT_LATE
from ontoweir.runtime.times.watch_lateness import NOT_WATCHED, watch_lateness
from ontoweir.runtime.told.make_snapshots import advance_feed

_NOTHING = KnownSources()


def begin_live(job: LiveJob) -> LiveState:
    """The state before the first micro-batch."""
    states = tuple(_begin(job, query) for query in job.queries)
    totals = dict.fromkeys(("tuples", "markers", "late", "rejected", "results"), 0)
    return LiveState(
        batch=-1,
        buffered_rows={},
        max_event_time={},
        last_arrival={},
        finished_us=None,
        queries=states,
        totals=totals,
    )


def _begin(job: LiveJob, query: RunningQuery) -> QueryState:
    placement = job.placements.get(query.name)
    if placement is not None:
        return DividedState((PartState(),) * placement.division.parts)
    return ExecutionState(
        {h.stream.name: Cursor() for h in job.histories},
        tuple(KernelState() for _ in query.plans),
        tuple(no_texts() for _ in query.plans),
        GroupState(),
    )


def advance_live(
    job: LiveJob,
    state: LiveState,
    arrived: Mapping[str, pa.Table],
    now: float,
    known: KnownSources = _NOTHING,
    more: Collection[Reject] = (),
    memory: StepMemory | None = None,
) -> LiveOutcome:
    """Take in a micro-batch.

    Args:
        job: the queries.
        state: after the micro-batch before.
        arrived: rows by stream, as ingest wants them.
        now: the time of day (seconds since 1970), for partitions that idle.
        known: what is known of the sources now.
        more: what else is rejected.
        memory: of other lanes that take in the same rows in this step.

    Raises:
        RunError: a synopsis exceeds its bound, or too many rows wait for a marker.
    """
    memory = StepMemory() if memory is None else memory
    buffered, rejects = _take_in(job, state, arrived, (now, known), memory)
    rejects += more
    tuples = sum(buffered.arrived.values()) - sum(state.arrived.values())
    late = sum(reject.reason == LATE for reject in rejects)
    limit = _watermark(job, buffered, now)
    if limit is not None:
        limit = min([limit, *(first - 1 for first in known.horizons.values())])
    if limit is None or (state.finished_us is not None and limit <= state.finished_us):
        after = replace(
            buffered,
            totals=_add(state.totals, tuples=tuples, late=late, rejected=len(rejects)),
            reasons=_count(state.reasons, rejects),
        )
        check_waiting(job, after)
        none = tuple(q.schema.empty_table() for q in job.queries)
        return LiveOutcome(after, none, tuple(rejects))
    chunk, left = cut_chunk(job.histories, buffered.buffered_rows, limit, memory)
    admitted = _admit(job, chunk, memory)
    for history in job.histories:
        rejects += _rejected(history, chunk.slices[history.stream.name], admitted)
    states, answers, broken = _advance_queries(job, state, admitted, chunk)
    for history in job.histories:
        rejects += _describe_broken(history, admitted[history.stream.name], broken)
    totals = _add(
        state.totals,
        tuples=tuples,
        markers=count_markers(admitted),
        late=late,
        rejected=len(rejects),
        results=sum(t.num_rows for t in answers),
    )
    after = replace(
        buffered,
        buffered_rows=left,
        finished_us=limit,
        queries=tuple(states),
        totals=totals,
        reasons=_count(state.reasons, rejects),
        meters=_measure_rules(job, state, admitted, limit),
    )
    check_waiting(job, after)
    return LiveOutcome(after, tuple(answers), tuple(rejects))


def _measure_rules(
    job: LiveJob, state: LiveState, admitted: Mapping[str, Admitted], limit: int
) -> tuple[RuleMeter, ...]:
    """What is remembered of the rules of the streams, of which what was admitted shows how far rows
    go towards their limits."""
    rules = job.metered
    known = state.meters if len(state.meters) == len(rules) else ()
    return meter_rules(rules, known, admitted, limit)


def _advance_queries(
    job: LiveJob, state: LiveState, admitted: Mapping[str, Admitted], chunk: Chunk
) -> "tuple[list[QueryState], list[pa.Table], dict[tuple[str, int], str]]":
    """The state and the answers of each query; and the rows that rules reject, by stream and place
    among those that were admitted, with the reason of the first query that rejects each."""
    limit = chunk.now_us
    assert limit is not None
    job = _adapt_rules(job, state)
    states: list[QueryState] = []
    answers = []
    divided = advance_parts(job, state, admitted, limit)
    done = _advance_together(job, state, admitted, chunk)
    broken: dict[tuple[str, int], str] = {}
    for place, (query, before) in enumerate(zip(job.queries, state.queries, strict=True)):
        if isinstance(before, DividedState):
            after_parts, table = divided[query.name]
            check_bounds(query, after_parts)
            states.append(after_parts)
            answers.append(table)
            continue
        if place in done:
            made, table = done[place]
        else:
            kept = enforce_rules(query.work.rules, admitted, before.rules, limit)
            for name, reason, places in kept.rejected:
                for row in places.tolist():
                    broken.setdefault((name, row), reason)
            fed, below = advance_blocks(query.blocks, kept.admitted, chunk, before.blocks)
            made, table = advance_rows(query.work, query.plans, fed, chunk, before)
            made = replace(made, blocks=below, rules=kept.states)
        if query.feed is not None:
            table, held = advance_feed(query.feed, before.to_come, table, limit)
            made = replace(made, to_come=held)
        check_bounds(query, made)
        states.append(made)
        answers.append(table)
    return states, answers, broken


def _adapt_rules(job: LiveJob, state: LiveState) -> LiveJob:
    """The queries by the k that is in use of rules which adapt."""
    rules = job.metered
    if all(m.floor is None for m in rules) or len(state.meters) != len(rules):
        return job
    queries = []
    for query in job.queries:
        aggregates = query.work.aggregates
        if aggregates is not None and isinstance(aggregates.closing, ValueClosing):
            closing = adapt_closing(aggregates.closing, rules, state.meters)
            work = replace(query.work, aggregates=replace(aggregates, closing=closing))
            query = replace(query, work=work)
        queries.append(query)
    return replace(job, queries=tuple(queries))


def _advance_together(
    job: LiveJob, state: LiveState, admitted: Mapping[str, Admitted], chunk: Chunk
) -> Advanced:
    """What becomes of queries that are alike, by their places."""
    states = [held if isinstance(held, ExecutionState) else None for held in state.queries]
    alike = [
        None if held is None or query.blocks else AlikeQuery(query.work, query.plans)
        for query, held in zip(job.queries, states, strict=True)
    ]
    return advance_alike(alike, states, admitted, chunk)


def _take_in(
    job: LiveJob,
    state: LiveState,
    arrived: Mapping[str, pa.Table],
    seen: tuple[float, KnownSources],
    memory: StepMemory,
) -> tuple[LiveState, list[Reject]]:
    """The state with the rows buffered that can take part; and those that cannot. `seen`: what is
    known of the sources, at a time."""
    now, known = seen
    rejects: list[Reject] = []
    buffered, counts = dict(state.buffered_rows), dict(state.arrived)
    times, last_arrival = dict(state.max_event_time), dict(state.last_arrival)
    offsets, files, late = dict(state.offsets), dict(state.files), dict(state.late)
    watches = dict(state.watches)
    for history in job.histories:
        name = history.stream.name
        whole = () if any(p.startswith(f"{name}{PARTITION_OF}") for p in last_arrival) else (name,)
        for partition in known.partitions.get(name, whole):
            last_arrival.setdefault(partition, now)
        rows = arrived.get(name)
        if rows is None or rows.num_rows == 0:
            continue
        counts[name] = counts.get(name, 0) + rows.num_rows
        taken = ingest_once(history, rows, state, known.peers.get(name, ()), memory)
        rejects += taken.rejects
        for partition in taken.offsets or (name,):
            last_arrival[partition] = now
        for partition, last in taken.max_event_time.items():
            times[partition] = max(times.get(partition, last), last)
        reached = [times[p] for p in partitions_of(name, times) if p in times]
        if reached:
            watch = watches.get(name, NOT_WATCHED)
            watches[name] = watch_lateness(history.stream, watch, taken.behind_us, max(reached))
        offsets.update(taken.offsets)
        if len(taken.late):
            late[name] = late.get(name, NOT_LATE).add(taken.late)
        if taken.files is not None:
            files[name] = taken.files
        if taken.rows.num_rows:
            held = (memory.same(name, buffered.get(name)), taken.rows)
            buffered[name] = memory.once("join", held, None, partial(_join, *held))
    after = replace(
        state,
        batch=state.batch + 1,
        buffered_rows=buffered,
        max_event_time=times,
        last_arrival=last_arrival,
        offsets=offsets,
        files=files,
        arrived=counts,
        late=late,
        watches=watches,
    )
    return after, rejects


def _join(old: "pa.Table | None", rows: pa.Table) -> pa.Table:
    """Rows that wait, and those that have come."""
    both = [rows] if old is None else [old, rows]
    return pa.concat_tables(both, promote_options="permissive").unify_dictionaries()


def _admit(job: LiveJob, chunk: Chunk, memory: StepMemory) -> Mapping[str, Admitted]:
    """What is admitted of each stream, and made of its columns, once for all lanes."""
    admitted: dict[str, Admitted] = {}
    for history in job.histories:
        name = history.stream.name
        checks = tuple(map(id, job.checks.get(name, ())))
        make = partial(admit_chunk, [history], job.checks, chunk, (None, None), strict=False)
        admitted |= memory.once("admit", (chunk.slices[name],), checks, make)
    return admitted


def check_waiting(job: LiveJob, state: LiveState) -> None:
    """Rows wait in memory until every partition has passed them: not for ever, and not any number,
    beside those that may wait because of a declared lateness.

    Raises:
        RunError: too many rows wait.
    """
    late = [h.stream for h in job.histories if h.stream.lateness_us]
    waiting = state.waiting - sum(map(count_open_rows, late))
    if job.most_waiting is None or waiting <= job.most_waiting:
        return
    behind = min(state.last_arrival, key=lambda p: state.max_event_time.get(p, -(1 << 62)))
    raise RunError(
        f"{waiting:,} rows wait for {behind.replace(PARTITION_OF, ' ')}, "
        f"more than {job.most_waiting:,}",
        why="a timestamp is finished when every stream has passed it, and until then its rows are "
        "kept in memory",
        fix="let that stream send heartbeats, declare idle for it, make its files as long in time "
        "as the others', or allow more with --most-waiting",
    )


def _rejected(history: History, rows: Slice, admitted: Mapping[str, Admitted]) -> list[Reject]:
    return [
        entry
        for reason, index in admitted[history.stream.name].rejects
        for entry in describe_rows(history, rows.table.take(pa.array(index)), reason)
    ]


def _describe_broken(
    history: History, admitted: Admitted, broken: Mapping[tuple[str, int], str]
) -> list[Reject]:
    """The rows of a stream that rules reject."""
    mine = sorted(
        (place, why) for (name, place), why in broken.items() if name == history.stream.name
    )
    return [
        entry
        for reason in dict.fromkeys(why for _, why in mine)
        for entry in describe_rows(
            history,
            admitted.table.take(pa.array([p for p, why in mine if why == reason], pa.int64())),
            reason,
        )
    ]


def _watermark(job: LiveJob, state: LiveState, now: float) -> int | None:
    """The last finished timestamp (µs): before what every partition has reached that does not idle
    (before the last of all, where all idle), by as much as its rows may come late."""
    times, last_arrival = state.max_event_time, state.last_arrival
    active, last = [], []
    for history in job.histories:
        name = history.stream.name
        idle_timeout, lateness = job.idle_seconds.get(name), state.lateness_of(history.stream)
        mine = partitions_of(name, last_arrival)
        if not mine:
            return None
        for partition in mine:
            if idle_timeout is not None and now - last_arrival[partition] >= idle_timeout:
                last += [times[partition] - lateness] if partition in times else []
                continue
            if partition not in times:
                return None
            active.append(times[partition] - lateness)
    if active:
        return min(active) - 1
    return max(last) - 1 if last else None


def _add(totals: Mapping[str, int], **more: int) -> dict[str, int]:
    return {name: count + more.get(name, 0) for name, count in totals.items()}


def _count(reasons: Mapping[str, int], rejects: Sequence[Reject]) -> dict[str, int]:
    counts = Counter(reasons)
    counts.update(reject.reason for reject in rejects)
    return dict(counts)
