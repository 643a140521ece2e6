"""One micro-batch of live queries: rows arrive, timestamps finish, answers come out.

Rows wait until their timestamp is finished, that is until every stream has passed it; then they
are admitted in order of time, and the plans of every query advance, as in a replay. Nothing here
knows Spark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import RunError
from ontoweir.runtime.admit_rows import Admitted, ReferenceCheck
from ontoweir.runtime.advance_rows import (
    PreparedPlan,
    ReplayState,
    ReplayWork,
    admit_chunk,
    advance_rows,
    count_markers,
)
from ontoweir.runtime.cut_chunk import Chunk, Slice
from ontoweir.runtime.history import Cursor, History
from ontoweir.runtime.kernel import KernelState
from ontoweir.runtime.update_groups import GroupState

LATE = "late: its timestamp is finished"


@dataclass(frozen=True, slots=True)
class LiveQuery:
    """A bounded query that runs: its plans, with static data encoded, and its bound."""

    name: str
    work: ReplayWork
    plans: tuple[PreparedPlan, ...]
    bound: int | None


@dataclass(frozen=True, slots=True)
class LiveJob:
    """The queries that run together.

    `histories`: every stream with the columns that any query uses. `idle_seconds`, by stream: after
    how long without a row a stream holds the others back no more (absent: never).
    """

    queries: tuple[LiveQuery, ...]
    histories: tuple[History, ...]
    checks: Mapping[str, Sequence[ReferenceCheck]]
    idle_seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a run carries from micro-batch to micro-batch.

    `pending`: rows that wait for a marker, by stream; `seen`: the last timestamp of each (µs);
    `heard`: when it last delivered (seconds since 1970); `finished_us`: all timestamps up to it
    are finished; `queries`: the synopses; `totals`: tuples, markers, late, rejected, results.
    """

    batch: int
    pending: Mapping[str, pa.Table]
    seen: Mapping[str, int]
    heard: Mapping[str, float]
    finished_us: int | None
    queries: tuple[ReplayState, ...]
    totals: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LiveOutcome:
    """What a micro-batch did: the state after, answers by query, and rejected rows (stream,
    timestamp, reason, row as text)."""

    state: LiveState
    answers: tuple[pa.Table, ...]
    rejects: tuple[tuple[str, int | None, str, str], ...]


def begin_live(job: LiveJob) -> LiveState:
    """The state before the first micro-batch."""
    states = tuple(
        ReplayState(
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
    job: LiveJob, state: LiveState, arrived: Mapping[str, pa.Table], now: float
) -> LiveOutcome:
    """Take in a micro-batch.

    Args:
        job: the queries.
        state: after the micro-batch before.
        arrived: rows by stream: the columns in use, the timestamp in µs (NULL: none), and BAD.
        now: the time of day (seconds since 1970), for streams that idle.

    Raises:
        RunError: a query's state exceeds its bound.
    """
    rejects: list[tuple[str, int | None, str, str]] = []
    pending, seen, heard = dict(state.pending), dict(state.seen), dict(state.heard)
    late = tuples = 0
    for history in job.histories:
        name, time = history.stream.name, history.stream.timestamp
        rows = arrived.get(name)
        if rows is None or rows.num_rows == 0:
            heard.setdefault(name, now)
            continue
        heard[name] = now
        tuples += rows.num_rows
        fresh, gone = _split_late(history, rows, state.finished_us)
        late += len([reason for _, _, reason, _ in gone if reason == LATE])
        rejects += gone
        if fresh.num_rows:
            last = pc.max(fresh.column(time)).as_py()
            seen[name] = max(seen.get(name, last), last)
            old = pending.get(name)
            pending[name] = fresh if old is None else pa.concat_tables([old, fresh])
    limit = _finished(job, seen, heard, now)
    if limit is None or (state.finished_us is not None and limit <= state.finished_us):
        totals = _add(state.totals, tuples=tuples, late=late, rejected=len(rejects))
        after = replace(
            state, batch=state.batch + 1, pending=pending, seen=seen, heard=heard, totals=totals
        )
        none = tuple(q.work.schema.empty_table() for q in job.queries)
        return LiveOutcome(after, none, tuple(rejects))
    chunk, pending = _cut(job.histories, pending, limit)
    admitted = admit_chunk(job.histories, job.checks, chunk, (None, None), strict=False)
    for history in job.histories:
        rejects += _rejected(history, chunk.slices[history.stream.name], admitted)
    states, answers = [], []
    for query, before in zip(job.queries, state.queries, strict=True):
        made, table = advance_rows(query.work, query.plans, admitted, chunk, before)
        _check_bound(query, made)
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
    after = LiveState(state.batch + 1, pending, seen, heard, limit, tuple(states), totals)
    return LiveOutcome(after, tuple(answers), tuple(rejects))


def _split_late(
    history: History, rows: pa.Table, finished_us: int | None
) -> tuple[pa.Table, list[tuple[str, int | None, str, str]]]:
    """Rows that can still take part, and those that come too late or without a timestamp."""
    name, time = history.stream.name, history.stream.timestamp
    stamps = rows.column(time)
    untimed = pc.is_null(stamps)
    gone = _describe(history, rows.filter(untimed), f"{name}.{time} is NULL")
    rows = rows.filter(pc.invert(untimed))
    if finished_us is not None:
        late = pc.less_equal(rows.column(time), finished_us)
        gone += _describe(history, rows.filter(late), LATE)
        rows = rows.filter(pc.invert(late))
    return rows, gone


def _describe(
    history: History, rows: pa.Table, reason: str
) -> list[tuple[str, int | None, str, str]]:
    time = history.stream.timestamp
    return [
        (history.stream.name, row[time], reason, str({k: v for k, v in row.items() if k != time}))
        for row in rows.to_pylist()
    ]


def _rejected(
    history: History, rows: Slice, admitted: Mapping[str, Admitted]
) -> list[tuple[str, int | None, str, str]]:
    return [
        entry
        for reason, index in admitted[history.stream.name].rejects
        for entry in _describe(history, rows.table.take(pa.array(index)), reason)
    ]


def _finished(
    job: LiveJob, seen: Mapping[str, int], heard: Mapping[str, float], now: float
) -> int | None:
    """The last finished timestamp: before what every stream has reached that does not idle."""
    active = []
    for history in job.histories:
        name = history.stream.name
        patience = job.idle_seconds.get(name)
        if patience is not None and now - heard.get(name, now) >= patience:
            continue
        if name not in seen:
            return None
        active.append(seen[name])
    return min(active) - 1 if active else None


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


def _check_bound(query: LiveQuery, state: ReplayState) -> None:
    if query.bound is not None and state.rows > query.bound:
        raise RunError(
            f"{query.name}: the state has {state.rows} rows, more than its bound of {query.bound}",
            why="a bounded query never exceeds its bound: a declaration does not hold, or the "
            "plan is wrong",
            fix="check the declarations its verdict rests on; if they hold, report this",
        )


def _add(totals: Mapping[str, int], **more: int) -> dict[str, int]:
    return {name: count + more.get(name, 0) for name, count in totals.items()}
