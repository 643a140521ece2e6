"""The intake: takes in Spark's micro-batches for all queries that have joined, with one commit.

When it is made, everything is taken back to the last commit: Spark's half, and, as queries join,
their answers. A query that joins goes on where it was, or begins with what is there; it catches up
by steps between the others', and shares their rows from then on.
"""

import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.live.archive.move_files import ArchiveKeeper
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.arrivals.quarantine_files import quarantine_files
from ontoweir.runtime.live.checkpoint.commit_record import SparkLog
from ontoweir.runtime.live.checkpoint.record_spark import SparkRecorder
from ontoweir.runtime.live.checkpoint.restore_spark import forget_spark, restore_spark
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.live.checkpoint.state_tables import tabulate_rejects
from ontoweir.runtime.live.checkpoint.sync_files import Syncing
from ontoweir.runtime.live.intake.choose_lanes import LaneChooser
from ontoweir.runtime.live.intake.keep_commits import mark_gap, open_commits, park_lane
from ontoweir.runtime.live.intake.keep_spans import SpanKeeper, list_topics
from ontoweir.runtime.live.intake.model import (
    IntakeOptions,
    Lane,
    LastOutput,
    Member,
    Reach,
    add_lane,
    find_floors,
    find_lane,
)
from ontoweir.runtime.live.intake.open_span import SpanContext, find_reach
from ontoweir.runtime.live.intake.publish_members import Publisher
from ontoweir.runtime.live.intake.resume_lane import cannot_go_on, resume_lane
from ontoweir.runtime.live.intake.step_lanes import Arrived, Stepped, step_lanes
from ontoweir.runtime.live.intake.watch_files import FileWatch
from ontoweir.runtime.live.model.live_errors import Stopped
from ontoweir.runtime.live.model.live_job import PARTITION_OF, KnownSources
from ontoweir.runtime.live.output.drop_parts import let_go, remove_files
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.write_parts import PartWriter
from ontoweir.runtime.live.stage_clock import StageClock
from ontoweir.runtime.live.topics.read_messages import Came
from ontoweir.runtime.live.topics.topic_span import Handed, collect_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NONE: Mapping[str, str] = {}
_CATCH_UP_ROWS = 100_000
"""About how many rows a query that catches up takes in between two micro-batches."""


class Intake:
    """What foreachBatch calls, in order of the micro-batches, on the driver.

    Raises:
        UsageError: its checkpoint is damaged, or of another version.
        RunError: the disk does not take it.
    """

    def __init__(self, options: IntakeOptions, spark: "SparkSession") -> None:
        self.options, self.spark = options, spark
        shutil.rmtree(options.folder / "staged", ignore_errors=True)  # of a process that was killed
        self.commits = open_commits(options.folder / "commits")
        self.record = self.commits.record
        self.lanes: list[Lane] = []
        self.parked = dict(self.commits.parked)
        self.sources = LiveSources()
        self.chooser = LaneChooser()
        self.failed: OntoweirError | None = None
        """What ended the intake as a whole."""
        self.mutex, self.closed, self.busy = threading.Lock(), False, 0.0
        self.clock, self.watch = StageClock(), FileWatch()
        self.spans, self.keeper = SpanKeeper(options), ArchiveKeeper(options.folder, options.tell)
        self.opens_here = False
        """Whether this process reads the topics, whatever columns are wanted."""
        self.syncing = Syncing()
        """What the next commit waits for."""
        self.recorder = SparkRecorder(self.spark_folder)
        parts = open_parts(options.folder, self.record.parts, options.keep_ns, options.compact)
        writer = PartWriter(self.record.run, parts, {}, waits=False)
        self.publisher = Publisher(writer, spark, options.parts_may_go)

    @property
    def spark_folder(self) -> SparkFolder:
        """Spark's folder."""
        return SparkFolder(self.options.folder / self.record.spark.folder)

    @property
    def reach(self) -> Reach:
        """How far Spark has listed."""
        return self.chooser.reach

    def find(self, id_: str) -> Lane | None:
        """The lane of one member that a query would be alone (None: it does not take part)."""
        return find_lane(self.lanes, id_)

    @property
    def lacking(self) -> frozenset[str]:
        """The streams that queries read and Spark does not list yet."""
        read = {stream for lane in self.lanes for stream in lane.streams}
        return frozenset(read - self.sources.numbers.keys())

    @property
    def hands_all(self) -> bool:
        """Whether all that queries read of topics is handed over."""
        if self.opens_here:
            return True
        given, read = self.sources.topics, list_topics(self.lanes)
        return all(held.keys() <= given.get(s, frozenset()) for s, held in read.items())

    @property
    def is_even(self) -> bool:
        """Whether all queries have taken in all that is listed."""
        # a source that has come since has brought nothing yet
        batch = self.reach.batch
        return all(lane.at.batch == batch and lane.span is None for lane in self.lanes)

    @property
    def begun(self) -> bool:
        """Whether there is a commit."""
        return self.commits.number >= 0

    def restore(self, *, ticks: bool) -> None:
        """Take Spark's half back to the last commit, before Spark's query begins.

        Raises:
            UsageError: it is not of that.
            RunError: the disk does not take it.
        """
        if not self.begun:
            forget_spark(self.options.folder)
        else:
            restore_spark(self.spark_folder, self.record, ticks=ticks)
            forget_spark(self.options.folder, self.record.spark.folder)
        self.recorder = SparkRecorder(self.spark_folder)

    def open(self, sources: LiveSources) -> None:
        """Where the streams come from, from now on: Spark's query is about to begin."""
        self.sources = sources
        self.keeper.begin()
        if self.begun:
            self.chooser.reach = find_reach(self.spark_folder, sources, self.record.spark.batch)
            self._archive()

    def go_on_from(
        self,
        log: SparkLog,
        reach: Reach | None,
        gone: Mapping[str, str] = _NONE,
        **more: Any,
    ) -> None:
        """Commit that Spark goes on from another folder; its query does not run now.

        Args:
            log: Spark's half.
            reach: where the logs of it stand, where their entries have other numbers (None: they
                have not): all lanes are there, and queries that are parked cannot go on.
            gone: streams whose logs are not there any more, or whose messages are not, with what is
                said of them: who has begun them cannot go on.
            more: other fields of the record.

        Raises:
            RunError: the disk does not take it.
        """
        with self.mutex:
            self.record = replace(self.record, spark=log, **more)
            if reach is not None:
                self.chooser.reach = reach
                self.lanes = [replace(lane, at=reach) for lane in self.lanes]
                gap = "it is not known any more which files came since then"
                self.parked = {i: replace(p, gap=gap) for i, p in self.parked.items()}
            for stream, why in gone.items():
                name = frozenset((stream,))
                for lane in [x for x in self.lanes if x.has_begun(name)]:
                    self.lanes.remove(lane)
                    for member in lane.members:
                        self._park(lane.alone(member))
                        self.options.on_failed(member.id, cannot_go_on(member.name, why))
                self.parked = mark_gap(self.parked, name, why)
            self._commit(Stepped(), {})

    def join(self, member: Member) -> None:
        """Let a query take part, from where it was, or from what is there.

        Raises:
            UsageError: its state is of another query; what has come since is not known; its
                output is not as it left it.
            RunError: the disk does not let it.
        """
        with self.mutex:
            held = self.parked.get(member.id)
            lane = resume_lane(member, held, self.commits.packs.read)
            streams = [history.stream for history in lane.histories]
            self.keeper.hold(streams, self.record, self.commits.number)
            rows, read = self.commits.find_rows, self.commits.packs.read
            self.publisher.begin(member, self.commits.number, rows, held, read)
            self.parked.pop(member.id, None)
            self.lanes.append(lane)
            self.chooser.waited[member.id] = 0

    def leave(self, id_: str, *, forget: bool = False) -> None:
        """Let a query take part no more; when this returns, nothing of it is written.

        Args:
            id_: the query's.
            forget: its state is not kept.
        """
        with self.mutex:
            self._leave(id_)
            if forget:
                self.parked.pop(id_, None)

    def _leave(self, id_: str, last: LastOutput | None = None) -> None:
        for place, lane in enumerate(self.lanes):
            for member in lane.members:
                if member.id == id_:
                    self._park(lane.alone(member), last)
                    rest = frozenset(m.id for m in lane.members) - {id_}
                    self.lanes[place : place + 1] = [lane.keep(rest)] if rest else []
                    return

    def _park(self, lane: Lane, last: LastOutput | None = None) -> None:
        (member,) = lane.members
        self.publisher.end(member)
        if lane.begun:
            self.parked[member.id] = replace(park_lane(lane), last=last)

    def take(self, frame: "DataFrame | Came | None", batch: int) -> None:
        """A micro-batch of Spark's, or of a TopicFollower: what it lists is taken in, in one step
        or several; queries that catch up make a step.

        Raises:
            OntoweirError: the intake cannot go on (`failed`).
        """
        with self.mutex:
            if self.closed:
                raise Stopped("it has been asked to stop", why="-", fix="-")
            try:
                self._take(frame, batch)
                self.busy = time.monotonic()
            except OntoweirError as error:
                self.failed = error
                raise
            finally:
                self.spans.handed = None

    def _take(self, frame: "DataFrame | Came | None", batch: int) -> None:
        expected = self.record.spark.batch + 1 if self.begun else 0
        if batch != expected:
            raise RunError(
                f"Spark's micro-batch {batch} comes where {expected} does",
                why="Spark's offsets and the state of the queries do not belong together",
                fix="stop what else runs from this checkpoint, and start again",
            )
        reach = find_reach(self.spark_folder, self.sources, batch)
        since, to, keys = self.reach.offsets, reach.offsets, self.sources.topics
        if isinstance(frame, Came):
            self.spans.handed = Handed(since, to, None, frame.rows)
        elif frame is not None and keys:
            self.spans.handed = Handed(since, to, keys, collect_once(frame.toArrow))
        self.chooser.note(reach, self.sources, self.spark_folder)
        log, fresh = self.recorder.record(batch)
        self.syncing.begin(fresh)
        self.record = replace(self.record, spark=log, sources=self.sources.order)
        self.lanes = [
            replace(x, at=self.reach) if self.chooser.is_quiet(x) else x for x in self.lanes
        ]
        done = False
        while (lanes := self.chooser.choose(self.lanes, behind=False)) and not self.closed:
            self._step(lanes, self.options.step[0])
            done = True
        if lanes := self.chooser.choose(self.lanes, behind=True):
            self._step(lanes, _CATCH_UP_ROWS)
        elif not done:
            self._commit(Stepped(), {})

    def catch_up(self, *, all_listed: bool = False) -> bool:
        """Make a step of queries that are behind: whether there were any.

        Args:
            all_listed: what is there is listed: those that have not begun do.

        Raises:
            OntoweirError: the intake cannot go on (`failed`).
        """
        with self.mutex:
            if self.closed or self.failed is not None or not self.begun:
                return False
            if all_listed:
                self.chooser.waited.clear()
            lanes = self.chooser.choose(self.lanes, behind=False) or self.chooser.choose(
                self.lanes, behind=True
            )
            if not lanes:
                return False
            try:
                self._step(lanes, _CATCH_UP_ROWS)
            except OntoweirError as error:
                self.failed = error
                raise
            return True

    def _step(self, lanes: Sequence[Lane], rows: int) -> None:
        """Advance lanes by a step, commit, publish."""
        part = lanes[0].span
        low = None if part is None else part.cut_us
        passed = {} if part is None else self.record.bad
        context = SpanContext(self.sources, self.spark_folder, self.spark, passed)
        with self.clock.time("read"):
            to = self.spans.aim(lanes, self.reach, context) if part is None else part.to
            everyone = [lane for lane in self.lanes if not self.chooser.waits(lane)]
            span = self.spans.take(lanes, to, rows, context, everyone)
            high = next((c for c in span.cuts if low is None or c > low), None)
            told = span.count_bad() if low is not None else {}
            found = span.read(low, high, self.spans.handed)
        self.watch.begin_step()

        def look(lane: Lane) -> KnownSources:
            span.check_same(lane)
            mine = {n: t for read in lane.reads.values() for n, t in found[read].items()}
            known = self.watch.look_around(lane, span, mine, last=high is None)
            topics = lane.streams & self.reach.offsets.keys()
            named = {s: [f"{s}{PARTITION_OF}{p}" for p in self.reach.offsets[s]] for s in topics}
            return replace(known, partitions=named)

        files = {} if high is None else span.files()
        with self.clock.time("advance"):
            stepped = step_lanes(lanes, Arrived(found, span.list_bad(told), to, high, files), look)
        self._settle(lanes, stepped)
        self.keeper.spared |= span.list_unread()
        goes_on = low is not None or any(lane.span is not None for lane in self.lanes)
        bad = dict(self.record.bad) if goes_on else {}
        for stream, paths in span.name_bad().items():
            bad[stream] = tuple(dict.fromkeys((*bad.get(stream, ()), *paths)))
        self._commit(stepped, bad)
        self.spans.forget_unused(self.lanes)

    def _settle(self, lanes: Sequence[Lane], stepped: Stepped) -> None:
        """The lanes after a step, those that have come to the same together; the failed parked."""
        moved = {id(lane) for lane in lanes}
        kept = [lane for lane in self.lanes if id(lane) not in moved]
        for lane, error in stepped.failed:
            self._park(lane)
            self.options.on_failed(lane.members[0].id, error)
        for lane in stepped.lanes:
            add_lane(kept, lane)
        self.lanes = kept

    def _commit(self, stepped: Stepped, bad: Mapping[str, Sequence[str]]) -> None:
        writer = self.publisher.writer
        places: dict[str, OntoweirError] = {}  # of which files are not merged
        gone = let_go(writer, places)
        record = replace(self.record, parts=writer.parts.mark(), bad=bad)
        self.syncing.begin_with(writer.fresh)
        with self.clock.time("commit"):
            place = self.commits.commit(record, self.lanes, self.parked, stepped, self.syncing)
        self.record = record
        self.parked = {id_: replace(p, contents={}) for id_, p in self.parked.items()}
        rejects = [(members, tabulate_rejects(held)) for members, held in stepped.rejects]
        with self.clock.time("publish"):
            remove_files(gone, writer, places)
            failed = self.publisher.publish(place, stepped.answers, rejects)
        self.syncing.begin_with(writer.fresh)  # until the next commit there is time
        quarantine_files(bad, self.options.folder)
        self._archive()
        unpublished = {id_: self.commits.find_unpublished(id_) for id_ in failed}
        failed = {place.partition(":")[2]: e for place, e in places.items()} | failed
        for id_, error in failed.items():
            self._leave(id_, unpublished.get(id_))
            self.options.on_failed(id_, error)
        if failed:  # what is not published yet is so when they go on
            self._commit(Stepped(), bad)

    def _archive(self) -> None:
        """Move away what all lanes have read."""
        floors = find_floors(self.lanes)
        self.keeper.move(self.spark_folder, self.sources, floors, self.commits.number)

    def await_pause(self, seconds: float) -> None:
        """Wait for a step that is being made, so long at most."""
        if self.mutex.acquire(timeout=max(seconds, 0.0)):
            self.mutex.release()

    def close(self) -> None:
        """Take nothing more; a step that has begun is finished first."""
        self.closed = True
        with self.mutex:
            wait(self.commits.removals)
            self.spans.close()
            self.keeper.release()
