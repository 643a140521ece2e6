"""What runs live, what it carries from micro-batch to micro-batch, and what one does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from ontoweir.checker.model.declarations import Declaration
from ontoweir.runtime.engine.advance_rows import ExecutionContext, ExecutionState, PreparedPlan
from ontoweir.runtime.ingest.admit_rows import ReferenceCheck
from ontoweir.runtime.sources.history import History


@dataclass(frozen=True, slots=True)
class LiveQuery:
    """A bounded query that runs: its plans, with static data encoded, its bound, and the declared
    constraints that the bound rests on."""

    name: str
    work: ExecutionContext
    plans: tuple[PreparedPlan, ...]
    bound: int | None
    declarations: tuple[Declaration, ...] = ()


@dataclass(frozen=True, slots=True)
class LiveJob:
    """The queries that run together.

    `histories`: every stream with the columns that any query uses. `idle_seconds`, by stream: after
    how long without a row a lane of it holds the others back no more (absent: never).
    `most_waiting`: how many rows may wait for a marker before the run stops (None: any number).
    """

    queries: tuple[LiveQuery, ...]
    histories: tuple[History, ...]
    checks: Mapping[str, Sequence[ReferenceCheck]]
    idle_seconds: Mapping[str, float] = field(default_factory=dict)
    most_waiting: int | None = None


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of a stream that share the last modification time delivered.

    `modified`: that time (ms since 1970); `latest`: the last timestamp (µs) in each of them that
    has been delivered, by path; `before_us`: the last timestamp in the files before them.
    """

    modified: int
    latest: Mapping[str, int]
    before_us: int | None


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a run carries from micro-batch to micro-batch.

    A *lane* is what delivers in order of time: a stream read from files, or a partition of a
    Kafka topic. It is called by the stream's name; a partition by that, PARTITION_OF,
    topic/partition.

    `pending`: rows that wait for a marker, by stream; `seen`: the last timestamp of each lane (µs);
    `heard`: when it last delivered (seconds since 1970); `offsets`: the last Kafka offset of a
    lane; `files`, by stream: the files delivered last; `finished_us`: all timestamps up to it are
    finished; `queries`: the synopses; `totals`: tuples, markers, late, rejected, results;
    `arrived`: tuples by stream; `reasons`: rejected tuples by reason.
    """

    batch: int
    pending: Mapping[str, pa.Table]
    seen: Mapping[str, int]
    heard: Mapping[str, float]
    finished_us: int | None
    queries: tuple[ExecutionState, ...]
    totals: Mapping[str, int]
    offsets: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, FileGroup] = field(default_factory=dict)
    arrived: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)


PARTITION_OF = "\t"


def lanes_of(stream: str, lanes: Iterable[str]) -> list[str]:
    """Those lanes that are of a stream."""
    return [lane for lane in lanes if lane.split(PARTITION_OF)[0] == stream]


Reject: TypeAlias = tuple[str, int | None, str, str]
"""A rejected row: its stream, timestamp (µs), reason, and content as text."""


@dataclass(frozen=True, slots=True)
class LiveOutcome:
    """What a micro-batch did: the state after, answers by query, and rejected rows."""

    state: LiveState
    answers: tuple[pa.Table, ...]
    rejects: tuple[Reject, ...]
