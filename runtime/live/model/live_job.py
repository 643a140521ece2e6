"""What runs live, what it carries from micro-batch to micro-batch, and what one does."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from ontoweir.checker.model.declarations import Declaration
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.blocks.advance_blocks import PreparedBlock
from ontoweir.runtime.changes.change_feed import ChangeFeed
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.ingest.admit_rows import ReferenceCheck
from ontoweir.runtime.live.model.divided_state import DividedState, Placement, RunParts
from ontoweir.runtime.rdf.find_terms import AnswerTerms
from ontoweir.runtime.rules.meter_rules import Metered, RuleMeter, list_metered
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.late_rows import LateRows
from ontoweir.runtime.times.watch_lateness import NOT_WATCHED, LatenessWatch, lateness_in_use


@dataclass(frozen=True, slots=True)
class RunningQuery:
    """A bounded query that runs: its plans, with static data encoded, its bound, and the declared
    constraints that the bound rests on; and how its answers become changes (None: they do not)."""

    name: str
    work: ExecutionContext
    plans: tuple[PreparedPlan, ...]
    bound: int | None
    declarations: tuple[Declaration, ...] = ()
    feed: ChangeFeed | None = None
    blocks: tuple[PreparedBlock, ...] = ()
    """The queries whose answers it reads."""
    factors: tuple[int, ...] = ()
    """Where its rows are divided: by how many times each synopsis of its plans, in order, may hold
    more than its bound, as so many parts may have it each (empty: they are not divided)."""
    terms: AnswerTerms = field(default_factory=AnswerTerms)
    """Which terms of RDF its answers are."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of what is written."""
        return self.work.schema if self.feed is None else self.feed.written


@dataclass(frozen=True, slots=True)
class LiveJob:
    """The queries that run together.

    `histories`: every stream with the columns that any query uses. `idle_seconds`, by stream: after
    how long without a row a partition of it holds the others back no more (absent: never).
    `most_waiting`: how many rows may wait for a marker before the run stops (None: any number).
    `placements`: of the queries whose rows are divided by key, by name; `run_parts` runs the tasks
    that advance their parts.
    """

    queries: tuple[RunningQuery, ...]
    histories: tuple[History, ...]
    checks: Mapping[str, Sequence[ReferenceCheck]]
    idle_seconds: Mapping[str, float] = field(default_factory=dict)
    most_waiting: int | None = None
    placements: Mapping[str, Placement] = field(default_factory=dict)
    run_parts: RunParts | None = None

    @property
    def metered(self) -> tuple[Metered, ...]:
        """The rules of the streams that are measured."""
        return list_metered({h.stream.name: (h.stream, h.columns) for h in self.histories})


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of a stream that share the last modification time delivered.

    `modified`: that time (ms since 1970); `latest`: the last timestamp (µs) in each of them that
    has been delivered, by path; `before_us`: the last timestamp in the files before them.
    """

    modified: int
    latest: Mapping[str, int]
    before_us: int | None


QueryState: TypeAlias = ExecutionState | DividedState
"""A closed union: what is kept of a query, in the driver or in parts."""


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a run carries from micro-batch to micro-batch.

    A *partition* is what delivers in order of time: a stream read from files, called by the
    stream's name; or a partition of a Kafka topic, called by that, PARTITION_OF, topic/partition.

    `buffered_rows`: rows that wait for a marker, by stream; `max_event_time`: the last timestamp of
    each partition (µs); `last_arrival`: when it last delivered (seconds since 1970); `offsets`: the
    last Kafka offset of a partition; `files`, by stream: the files delivered last; `finished_us`:
    the watermark, all timestamps up to it are finished; `queries`: the synopses; `totals`: tuples,
    markers, late, rejected, results;
    `arrived`: tuples by stream; `reasons`: rejected tuples by reason; `late`: by stream, how late
    those came that were too late.
    """

    batch: int
    buffered_rows: Mapping[str, pa.Table]
    max_event_time: Mapping[str, int]
    last_arrival: Mapping[str, float]
    finished_us: int | None
    queries: tuple[QueryState, ...]
    totals: Mapping[str, int]
    offsets: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, FileGroup] = field(default_factory=dict)
    arrived: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    late: Mapping[str, LateRows] = field(default_factory=dict)
    watches: Mapping[str, LatenessWatch] = field(default_factory=dict)
    """By stream, how late its rows come."""
    meters: tuple[RuleMeter, ...] = ()
    """Of the rules of the streams, in order, how far rows go towards their limits (none: as
    nothing rests on them, they begin anew where a run does)."""

    def lateness_of(self, stream: Stream) -> int:
        """After how long a row of a stream is not waited for, in µs."""
        return lateness_in_use(stream, self.watches.get(stream.name, NOT_WATCHED))

    @property
    def files_of_parts(self) -> frozenset[str]:
        """The files that have the states of queries whose rows are divided."""
        divided = [query.files for query in self.queries if isinstance(query, DividedState)]
        return frozenset().union(*divided)

    @property
    def waiting(self) -> int:
        """How many rows wait for a marker."""
        return sum(rows.num_rows for rows in self.buffered_rows.values())


PARTITION_OF = "\t"


def partitions_of(stream: str, partitions: Iterable[str]) -> list[str]:
    """Those partitions that are of a stream."""
    return [partition for partition in partitions if partition.split(PARTITION_OF)[0] == stream]


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that was not admitted. `at_us`: its timestamp (µs; None: it has none); `row`: its
    content as text; `file`, `number`: the file that it is from and its number there, as a replay
    has them, or topic/partition and offset (None: not known)."""

    stream: str
    at_us: int | None
    reason: str
    row: str
    file: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class KnownSources:
    """What is known of the sources around a micro-batch, by stream.

    `partitions`: all of a Kafka stream; `peers`: all files there that were modified when the latest
    of the micro-batch's files was; `horizons`: the first timestamp (µs) that waits in files which
    are there: nothing from it on is finished.
    """

    partitions: Mapping[str, Collection[str]] = field(default_factory=dict)
    peers: Mapping[str, Collection[str]] = field(default_factory=dict)
    horizons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveOutcome:
    """What a micro-batch did: the state after, answers by query, and rejected rows."""

    state: LiveState
    answers: tuple[pa.Table, ...]
    rejects: tuple[Reject, ...]
