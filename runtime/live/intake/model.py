"""What an intake carries: lanes of queries, and how far each has come."""

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ontoweir.errors import OntoweirError
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.live.arrivals.open_batch import STEP_BYTES, STEP_ROWS
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState, RunningQuery
from ontoweir.runtime.live.output.sinks.sinks import Sink
from ontoweir.runtime.live.topics.topic_span import Offsets
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.sources.history import History

_Numbers = tuple[tuple[str, int], ...]
ReachKey = tuple[int, _Numbers, tuple[tuple[str, _Numbers], ...]]


@dataclass(frozen=True, slots=True)
class Reach:
    """Up to where arrivals are taken in: a micro-batch of Spark's (-1: none yet), of each stream of
    files the last entry of its source's log, and of each of Kafka's the offsets."""

    batch: int = -1
    entries: Mapping[str, int] = field(default_factory=dict)
    offsets: Offsets = field(default_factory=dict)

    @property
    def key(self) -> ReachKey:
        """It as a key."""
        offsets = sorted((s, tuple(sorted(held.items()))) for s, held in self.offsets.items())
        return self.batch, tuple(sorted(self.entries.items())), tuple(offsets)

    @property
    def streams(self) -> frozenset[str]:
        """The streams that it says something of."""
        return frozenset((*self.entries, *self.offsets))

    def has_begun(self, streams: frozenset[str]) -> bool:
        """Whether files or messages of one of some streams are taken in."""
        return any(self.entries.get(s, -1) >= 0 or s in self.offsets for s in streams)


@dataclass(frozen=True, slots=True)
class Span:
    """Arrivals that are being taken in by steps of time, up to `to`: rows before `cut_us` are in
    (None: none are yet). `files`: what they are, by stream (OpenSpan.files)."""

    to: Reach
    cut_us: int | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A query of an intake. `id`: of its registration; `place`: the folder of its rejected rows;
    `job`: as it would run alone; `results`: how many answers it has given; `most`: the most rows
    that its state had since it joined."""

    id: str
    name: str
    fingerprint: str
    job: LiveJob
    sink: Sink
    place: Path
    results: int = 0
    most: int = 0

    @property
    def query(self) -> RunningQuery:
        """What runs."""
        return self.job.queries[0]


@dataclass(frozen=True, slots=True)
class Lane:
    """Queries that have read the same rows of the same columns. `members` are in the order of the
    states' queries; `key`: what has to be the same (sign_job); `reads`: of each stream what is read
    of it (sign_history)."""

    key: str
    reads: Mapping[str, str]
    members: tuple[Member, ...]
    state: LiveState
    at: Reach = Reach()
    span: Span | None = None

    @property
    def begun(self) -> bool:
        """Whether it has taken anything in."""
        return self.at != Reach() or self.span is not None

    @property
    def job(self) -> LiveJob:
        """All members' queries as one job."""
        queries = tuple(m.query for m in self.members)
        return replace(self.members[0].job, queries=queries)

    @property
    def streams(self) -> frozenset[str]:
        """The streams that it reads."""
        return frozenset(self.reads)

    @property
    def histories(self) -> tuple[History, ...]:
        """Its streams, with the columns that are read."""
        return self.members[0].job.histories

    def has_begun(self, streams: frozenset[str]) -> bool:
        """Whether files or messages of one of the streams are taken in, or are being."""
        to = self.at if self.span is None else self.span.to
        return to.has_begun(self.streams & streams)

    def keep(self, ids: frozenset[str]) -> "Lane":
        """The lane with some of its members only."""
        places = [n for n, m in enumerate(self.members) if m.id in ids]
        queries = tuple(self.state.queries[n] for n in places)
        members = tuple(self.members[n] for n in places)
        return replace(self, members=members, state=replace(self.state, queries=queries))

    def alone(self, member: Member) -> "Lane":
        """A lane of one member, whose totals are its own."""
        lane = self.keep(frozenset((member.id,)))
        totals = {**self.state.totals, "results": member.results}
        return replace(lane, state=replace(lane.state, totals=totals))


@dataclass(frozen=True, slots=True)
class LastOutput:
    """What the last commit that a query took part in published of it: answers and rejected rows by
    their hashes (None: none), and whether it said that it had (`done`)."""

    number: int
    answers: str | None
    rejects: str | None
    done: bool


@dataclass(frozen=True, slots=True)
class Parked:
    """A query that does not run now: `held` is its lane as commits have it; `gap`: why it cannot go
    on from there (None: it can); `contents`: what `held` refers to that no commit has yet; `last`:
    what is published again when it goes on, as the list of parts may lack it (None: nothing)."""

    id: str
    name: str
    held: Mapping[str, Any]
    gap: str | None = None
    contents: Mapping[str, bytes] = field(default_factory=dict)
    last: LastOutput | None = None


def find_lane(lanes: Sequence[Lane], id_: str) -> Lane | None:
    """The lane of one member that a query would be alone (None: it does not take part)."""
    for lane in lanes:
        for member in lane.members:
            if member.id == id_:
                return lane.alone(member)
    return None


def find_floors(lanes: Sequence[Lane]) -> dict[str, int]:
    """By stream of files, the last entry of its log up to which all lanes have read; of streams
    that none has begun, nothing. Whoever has not begun finds files wherever they are."""
    floors: dict[str, int] = {}
    for lane in lanes:
        for stream in lane.streams if lane.begun else ():
            entry = lane.at.entries.get(stream, -1)
            floors[stream] = min(entry, floors.get(stream, entry))
    return floors


def _ignore(name: str, error: OntoweirError) -> None:
    pass


def _say(text: str) -> None:
    print(text, file=sys.stderr)


@dataclass(frozen=True, slots=True)
class IntakeOptions:
    """How an intake goes. `folder`: of its checkpoint; `step`: about how many rows and bytes are
    taken in at once; `text`: about how many bytes of files of text a query that catches
    up opens at once; `parts_may_go`: published files may be moved away by who reads them;
    `keep_ns`: how long these are kept, in ns (None: for ever); `compact`: so many neighbours of a
    folder become one (None: they stay);
    `on_failed`: is called with the id of a query that has failed, and why; `tell`: with what else
    is to be said."""

    folder: Path
    step: tuple[int, int] = (STEP_ROWS, STEP_BYTES)
    text: int = 512 << 20
    parts_may_go: bool = False
    keep_ns: int | None = None
    compact: int | None = None
    on_failed: Callable[[str, OntoweirError], None] = field(default=_ignore)
    tell: Callable[[str], None] = field(default=_say)


def sign_history(history: History) -> str:
    """What makes two streams of jobs read the same: the declared stream, and the columns."""
    parts = repr((history.stream, history.columns, sorted(history.spare)))
    return hashlib.sha256(parts.encode()).hexdigest()


def sign_job(job: LiveJob) -> str:
    """What has to be the same of queries that share a lane: streams, columns, what their rows are
    compared with, when the streams idle."""
    digest = hashlib.sha256()
    for history in job.histories:
        name = history.stream.name
        digest.update(sign_history(history).encode())
        digest.update(repr((name, job.idle_seconds.get(name))).encode())
        for check in job.checks.get(name, ()):
            digest.update(repr((check.column, check.reason)).encode())
            values = check.values.texts if isinstance(check.values, TextTable) else check.values
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, pa.schema([("values", values.type)])) as writer:
                writer.write_batch(pa.record_batch([values], names=["values"]))
            digest.update(sink.getvalue())
    digest.update(repr(job.most_waiting).encode())
    return digest.hexdigest()


def watch_as(query: RunningQuery, watch: str) -> RunningQuery:
    """A query whose keys are watched together with those of others that see the same rows."""
    return replace(query, work=_watch_as(query.work, watch))


def _watch_as(work: ExecutionContext, watch: str) -> ExecutionContext:
    blocks = tuple(
        replace(b, queries=tuple(_watch_as(q, watch) for q in b.queries)) for b in work.blocks
    )
    return replace(work, watch=watch, blocks=blocks)


def merge_lanes(one: Lane, other: Lane) -> Lane | None:
    """Two lanes as one (None: they have not read the same, or not come to the same)."""
    if (one.key, one.at, one.span) != (other.key, other.at, other.span):
        return None
    mine, theirs = one.state, other.state
    for name in ("max_event_time", "finished_us", "offsets", "files", "arrived", "reasons", "late"):
        if getattr(mine, name) != getattr(theirs, name):
            return None
    counts = [{**s.totals, "results": 0} for s in (mine, theirs)]
    if counts[0] != counts[1] or mine.buffered_rows.keys() != theirs.buffered_rows.keys():
        return None
    for name, rows in mine.buffered_rows.items():
        if not rows.equals(theirs.buffered_rows[name]):
            return None
    times = {p: max(t, theirs.last_arrival.get(p, t)) for p, t in mine.last_arrival.items()}
    queries = (*mine.queries, *theirs.queries)
    # more than what either's status has shown
    batch = max(mine.batch, theirs.batch)
    state = replace(mine, batch=batch, queries=queries, last_arrival=times)
    return replace(one, members=(*one.members, *other.members), state=state)


def add_lane(lanes: list[Lane], lane: Lane) -> None:
    """Add a lane to others, or its members to one of them that has come to the same."""
    for place, other in enumerate(lanes):
        merged = merge_lanes(other, lane)
        if merged is not None:
            lanes[place] = merged
            return
    lanes.append(lane)
