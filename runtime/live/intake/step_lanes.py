"""Advance lanes that are equally far by one step; a query that fails does not stop the others."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.alike.share_tables import count_shared, share_tables
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.advance_live import advance_live
from ontoweir.runtime.live.arrivals.quarantine_files import REASON
from ontoweir.runtime.live.arrivals.read_arrivals import BadFile
from ontoweir.runtime.live.intake.model import Lane, Member, Reach, Span
from ontoweir.runtime.live.model.live_errors import bad_file
from ontoweir.runtime.live.model.live_job import KnownSources, LiveOutcome, Reject
from ontoweir.runtime.live.model.step_memory import StepMemory


@dataclass(frozen=True, slots=True)
class Arrived:
    """What a step takes in. `rows`: by what is read of a stream, and by stream; `bad`: files that
    were found not to be readable, by what is read; `to`: up to where the span goes; `cut_us`: the
    time before which the rows are (None: the span is over with this step);
    `files`: what the span's files are, by stream, if it is not over."""

    rows: Mapping[str, Mapping[str, pa.Table]]
    bad: Mapping[str, Sequence[BadFile]]
    to: Reach
    cut_us: int | None
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class Stepped:
    """What a step did: lanes after it, answers and rejected rows of members; lanes of one member,
    as they were before, that have failed, with why."""

    lanes: list[Lane] = field(default_factory=list)
    answers: list[tuple[Member, pa.Table]] = field(default_factory=list)
    rejects: list[tuple[tuple[Member, ...], tuple[Reject, ...]]] = field(default_factory=list)
    failed: list[tuple[Lane, OntoweirError]] = field(default_factory=list)


def step_lanes(
    lanes: Sequence[Lane], arrived: Arrived, look: Callable[[Lane], KnownSources]
) -> Stepped:
    """Advance lanes by what has arrived; `look`: what is known of a lane's sources. Tables of their
    states that are equal then are one in memory. What several lanes read is admitted once."""
    stepped, memory = Stepped(), StepMemory()
    for lane in lanes:
        _step(lane, arrived, lambda lane: _advance(lane, arrived, look, memory), stepped)
    stepped.lanes = _share(stepped.lanes)
    return stepped


def _share(lanes: Sequence[Lane]) -> list[Lane]:
    found = _list_states(lanes)
    if len(found) < 2:
        return list(lanes)
    plans = [member.query.plans for member, _ in found]
    again = iter(share_tables([state for _, state in found], plans))

    def put(lane: Lane) -> Lane:
        queries = (next(again) if isinstance(q, ExecutionState) else q for q in lane.state.queries)
        return replace(lane, state=replace(lane.state, queries=tuple(queries)))

    return [put(lane) for lane in lanes]


def count_shared_rows(lanes: Sequence[Lane]) -> dict[str, int]:
    """By the ids of queries, how many of the rows that each keeps are those of another that is
    told before it: all rows less these are in memory."""
    found = _list_states(lanes)
    counts = count_shared([state for _, state in found])
    return {member.id: count for (member, _), count in zip(found, counts, strict=True)}


def _list_states(lanes: Sequence[Lane]) -> list[tuple[Member, ExecutionState]]:
    """The states that are in this process."""
    return [
        (member, query)
        for lane in lanes
        for member, query in zip(lane.members, lane.state.queries, strict=True)
        if isinstance(query, ExecutionState)
    ]


def _step(
    lane: Lane, arrived: Arrived, advance: Callable[[Lane], LiveOutcome], stepped: Stepped
) -> None:
    try:
        outcome = advance(lane)
    except Exception as error:
        if len(lane.members) > 1:  # who was it?
            for member in lane.members:
                _step(lane.alone(member), arrived, advance, stepped)
            return
        stepped.failed.append((lane, explain_failure(error)))
        return
    members = tuple(
        replace(m, results=m.results + a.num_rows, most=max(m.most, s.rows))
        for m, a, s in zip(lane.members, outcome.answers, outcome.state.queries, strict=True)
    )
    files = {name: held for name, held in arrived.files.items() if name in lane.reads}
    span = None if arrived.cut_us is None else Span(arrived.to, arrived.cut_us, files)
    at = lane.at if span is not None else arrived.to
    stepped.lanes.append(replace(lane, members=members, state=outcome.state, at=at, span=span))
    both = zip(members, outcome.answers, strict=True)
    stepped.answers += [(m, a) for m, a in both if a.num_rows]
    if outcome.rejects:
        stepped.rejects.append((members, outcome.rejects))


def _advance(
    lane: Lane, arrived: Arrived, look: Callable[[Lane], KnownSources], memory: StepMemory
) -> LiveOutcome:
    rows: dict[str, pa.Table] = {}
    rejects: list[Reject] = []
    for history in lane.histories:
        name = history.stream.name
        key = lane.reads[name]
        rows |= arrived.rows[key]
        for bad in arrived.bad.get(key, ()):
            if history.stream.on_bad_file == "stop" or "://" in bad.file:
                raise bad_file(history, bad.file, bad.error, committed=True)
            rejects.append(Reject(name, None, REASON, str(bad.error), bad.file))
    given = (rows, time.time(), look(lane), rejects)
    return advance_live(lane.job, lane.state, *given, memory=memory)


def explain_failure(error: Exception) -> OntoweirError:
    """The error of a query that cannot go on, where the others do."""
    if isinstance(error, OntoweirError):
        return error
    failed = RunError(
        f"the query cannot go on: {error}",
        why="this is a fault of ontoweir; what was committed is intact, and the others go on",
        fix="report it, with the query and the file that came last",
    )
    failed.__cause__ = error
    return failed
