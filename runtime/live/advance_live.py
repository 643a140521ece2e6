"""One micro-batch of live queries: rows arrive, timestamps finish, answers come out.

Rows wait until their timestamp is finished, that is until every stream has passed it; then they
are admitted in order of time, and the plans of every query advance, as in a replay. Nothing here
knows Spark.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import RunError
from ontoweir.runtime.engine.advance_rows import (
    ExecutionState,
    admit_chunk,
    advance_rows,
    count_markers,
)
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.live.arrivals.ingest import LATE, describe_rows, ingest
from ontoweir.runtime.live.check_bounds import check_bounds
from ontoweir.runtime.live.model.live_job import (
    PARTITION_OF,
    LiveJob,
    LiveOutcome,
    LiveState,
    Reject,
    lanes_of,
)
from ontoweir.runtime.results.update_groups import GroupState
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_chunk import Chunk, Slice

_NONE: Mapping[str, Collection[str]] = {}
_NO_HORIZONS: Mapping[str, int] = {}


def begin_live(job: LiveJob) -> LiveState:
    """The state before the first micro-batch."""
    states = tuple(
        ExecutionState(
            {h.stream.name: Cursor() for h in job.histories},
            tuple(KernelState() for _ in query.plans),
            tuple(() for _ in query.plans),
            GroupState(),
        )
        for query in job.queries
    )
    totals = dict.fromkeys(("tuples", "markers", "late", "rejected", "results"), 0)
    return LiveState(-1, {}, {}, {}, None, states, totals)


def advance_live(
    job: LiveJob,
    state: LiveState,
    arrived: Mapping[str, pa.Table],
    now: float,
    *,
    lanes: Mapping[str, Collection[str]] = _NONE,
    peers: Mapping[str, Collection[str]] = _NONE,
    horizons: Mapping[str, int] = _NO_HORIZONS,
    more: Collection[Reject] = (),
) -> LiveOutcome:
    """Take in a micro-batch.

    Args:
        job: the queries.
        state: after the micro-batch before.
        arrived: rows by stream, as ingest wants them.
        now: the time of day (seconds since 1970), for lanes that idle.
        lanes: by stream, all its lanes that are known of now.
        peers: by stream, all files there modified when the latest of these rows' files was.
        horizons: by stream, the first timestamp (µs) that waits in files which are there: nothing
            from it on is finished.
        more: what else is rejected.

    Raises:
        RunError: a synopsis exceeds its bound, or too many rows wait for a marker.
    """
    rejects: list[Reject] = list(more)
    pending, seen, heard = dict(state.pending), dict(state.seen), dict(state.heard)
    offsets, files, counts = dict(state.offsets), dict(state.files), dict(state.arrived)
    for history in job.histories:
        name = history.stream.name
        mine = lanes.get(
            name, () if any(lane.startswith(f"{name} ") for lane in heard) else (name,)
        )
        for lane in mine:
            heard.setdefault(lane, now)
        rows = arrived.get(name)
        if rows is None or rows.num_rows == 0:
            continue
        counts[name] = counts.get(name, 0) + rows.num_rows
        taken = ingest(history, rows, state, peers.get(name, ()))
        rejects += taken.rejects
        for lane in taken.offsets or (name,):
            heard[lane] = now
        for lane, last in taken.seen.items():
            seen[lane] = max(seen.get(lane, last), last)
        offsets.update(taken.offsets)
        if taken.files is not None:
            files[name] = taken.files
        if taken.rows.num_rows:
            old = pending.get(name)
            both = [taken.rows] if old is None else [old, taken.rows]
            pending[name] = pa.concat_tables(both, promote_options="permissive")
    late = sum(reason == LATE for _, _, reason, _ in rejects)
    tuples = sum(counts.values()) - sum(state.arrived.values())
    after = replace(
        state,
        batch=state.batch + 1,
        pending=pending,
        seen=seen,
        heard=heard,
        offsets=offsets,
        files=files,
        arrived=counts,
    )
    limit = _finished(job, seen, heard, now)
    if limit is not None:
        limit = min([limit, *(first - 1 for first in horizons.values())])
    if limit is None or (state.finished_us is not None and limit <= state.finished_us):
        check_waiting(job, after)
        totals = _add(state.totals, tuples=tuples, late=late, rejected=len(rejects))
        after = replace(after, totals=totals, reasons=_count(state.reasons, rejects))
        none = tuple(q.work.schema.empty_table() for q in job.queries)
        return LiveOutcome(after, none, tuple(rejects))
    chunk, pending = _cut(job.histories, pending, limit)
    admitted = admit_chunk(job.histories, job.checks, chunk, (None, None), strict=False)
    for history in job.histories:
        rejects += _rejected(history, chunk.slices[history.stream.name], admitted)
    states, answers = [], []
    for query, before in zip(job.queries, state.queries, strict=True):
        made, table = advance_rows(query.work, query.plans, admitted, chunk, before)
        check_bounds(query, made)
        states.append(made)
        answers.append(table)
    totals = _add(
        state.totals,
        tuples=tuples,
        markers=count_markers(admitted),
        late=late,
        rejected=len(rejects),
        results=sum(t.num_rows for t in answers),
    )
    after = replace(
        after,
        pending=pending,
        finished_us=limit,
        queries=tuple(states),
        totals=totals,
        reasons=_count(state.reasons, rejects),
    )
    check_waiting(job, after)
    return LiveOutcome(after, tuple(answers), tuple(rejects))


def check_waiting(job: LiveJob, state: LiveState) -> None:
    """Rows wait in memory until every lane has passed them: not for ever, and not any number.

    Raises:
        RunError: too many rows wait.
    """
    waiting = sum(t.num_rows for t in state.pending.values())
    if job.most_waiting is None or waiting <= job.most_waiting:
        return
    behind = min(state.heard, key=lambda lane: state.seen.get(lane, -(1 << 62)))
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


def _finished(
    job: LiveJob, seen: Mapping[str, int], heard: Mapping[str, float], now: float
) -> int | None:
    """The last finished timestamp: before what every lane has reached that does not idle (before
    the last of all, where all idle)."""
    active, last = [], []
    for history in job.histories:
        name = history.stream.name
        patience = job.idle_seconds.get(name)
        mine = lanes_of(name, heard)
        if not mine:
            return None
        for lane in mine:
            if patience is not None and now - heard[lane] >= patience:
                last += [seen[lane]] if lane in seen else []
                continue
            if lane not in seen:
                return None
            active.append(seen[lane])
    if active:
        return min(active) - 1
    return max(last) - 1 if last else None


def _cut(
    histories: Sequence[History], pending: Mapping[str, pa.Table], limit: int
) -> tuple[Chunk, dict[str, pa.Table]]:
    """The rows of finished timestamps, in order of time, and what is left."""
    slices: dict[str, Slice] = {}
    left: dict[str, pa.Table] = {}
    for history in histories:
        name, time = history.stream.name, history.stream.timestamp
        rows = pending.get(name)
        if rows is None:
            table = pa.table({n: pa.array([], pa.null()) for n in history.columns})
            slices[name] = Slice(np.zeros(0, np.int64), np.zeros(0, np.bool_), table)
            continue
        ready = pc.less_equal(rows.column(time), limit)
        rest = rows.filter(pc.invert(ready))
        if rest.num_rows:
            left[name] = rest
        table = rows.filter(ready).sort_by(time)
        times = table.column(time).to_numpy()
        slices[name] = Slice(times, np.ones(len(times), dtype=np.bool_), table)
    cursors = {h.stream.name: Cursor() for h in histories}
    return Chunk(slices, cursors, cursors, limit, False), left


def _add(totals: Mapping[str, int], **more: int) -> dict[str, int]:
    return {name: count + more.get(name, 0) for name, count in totals.items()}


def _count(reasons: Mapping[str, int], rejects: Sequence[Reject]) -> dict[str, int]:
    found = Counter(reasons)
    found.update(reason for _, _, reason, _ in rejects)
    return dict(found)
