"""Take in the micro-batches of a live run: read, advance, commit, publish."""

import threading
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.archive.move_files import FORGOTTEN, ArchiveKeeper
from ontoweir.runtime.live.arrivals.find_horizon import find_horizon
from ontoweir.runtime.live.arrivals.ingest import list_delivered
from ontoweir.runtime.live.arrivals.list_partitions import list_partitions, list_waiting
from ontoweir.runtime.live.arrivals.open_batch import OpenBatch, compare_files, list_bad, open_batch
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.arrivals.quarantine_files import REASON, quarantine_files
from ontoweir.runtime.live.arrivals.read_arrivals import BadFile
from ontoweir.runtime.live.arrivals.read_batch import read_batch
from ontoweir.runtime.live.arrivals.read_stream import is_listed
from ontoweir.runtime.live.check_new_run import check_new_run
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.record_spark import SparkRecorder
from ontoweir.runtime.live.checkpoint.restore_spark import forget_spark, restore_spark
from ontoweir.runtime.live.checkpoint.rotate_spark import count_entries, rotate_spark
from ontoweir.runtime.live.checkpoint.save_state import (
    commit_batch,
    drop_old_batches,
    last_batch,
    load_state,
)
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.live.checkpoint.sync_files import disk_threads
from ontoweir.runtime.live.live_options import LiveOptions
from ontoweir.runtime.live.measure_batch import measure_batch
from ontoweir.runtime.live.model.live_errors import Stopped, bad_file
from ontoweir.runtime.live.model.live_job import (
    KnownSources,
    LiveJob,
    LiveOutcome,
    LiveState,
    Reject,
)
from ontoweir.runtime.live.model.spill_files import (
    list_fresh,
    list_spilled,
    place_spill,
    restore_spill,
)
from ontoweir.runtime.live.output.bind_sink import bind_sink
from ontoweir.runtime.live.output.drop_parts import let_go, remove_files
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.merge_parts import require_exchange
from ontoweir.runtime.live.output.publish_commit import publish_commit
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.take_back import take_back
from ontoweir.runtime.live.output.write_parts import PartWriter
from ontoweir.runtime.live.parts.part_files import drop_files
from ontoweir.runtime.live.parts.place_anew import place_anew
from ontoweir.runtime.live.stage_clock import StageClock, show_stages
from ontoweir.runtime.live.write_metrics import write_metrics
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spark.read_view import VIEW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class BatchProcessor:
    """What foreachBatch calls, in order of the micro-batches, on the driver.

    When it is made, everything is taken back to the last commit: Spark's half of the checkpoint,
    and the output. So a micro-batch that is not committed never was, and comes anew.

    Raises:
        UsageError: the checkpoint is of another run, or damaged; or the output is not as this run
            left it.
    """

    def __init__(
        self,
        job: LiveJob,
        fingerprint: str,
        options: LiveOptions,
        spark: "SparkSession | None" = None,
        former: str | None = None,
    ) -> None:
        self.job = job = place_spill(job, options.checkpoint)
        self.fingerprint, self.options, self.spark = fingerprint, options, spark
        self.sources = LiveSources()
        self.failed: OntoweirError | None = None
        """The error of ours that ended the run: Spark passes on its text only."""
        self.passed: dict[str, set[str]] = {}
        """Files that list_waiting need not look at again, by stream."""
        self.firsts: dict[str, dict[str, int | None]] = {}
        """The first timestamps of files that wait, by stream."""
        self.delivered: dict[str, set[str]] = {}
        """Files that were delivered, as long as nothing later was, by stream."""
        self.counted: frozenset[tuple[str, str]] = frozenset()
        """Files that could not be read, and are rejected already, with their streams."""
        self.mutex, self.closed = threading.Lock(), False
        self.clock = StageClock()
        self.removals: list[Future[None]] = []
        """What removes the folders of old micro-batches."""
        self.answers = FileSink(options.output) if options.sink is None else options.sink
        for query in job.queries:
            bind_sink(self.answers, query)
        self.commits = options.checkpoint / "commits"
        place = last_batch(self.commits)
        if place is None:
            check_new_run(job, options.checkpoint, options.output, self.answers)
            forget_spark(options.checkpoint)
            self.state = begin_live(job)
            self.record = CommitRecord(uuid.uuid4().hex)
        else:
            self.state, self.record = load_state(place, fingerprint, job, former)
            drop_files(self.parts, self.state.files_of_parts)
            self.restore()
            # no stream was idle while the run was down
            now = dict.fromkeys(self.state.last_arrival, time.time())
            self.state = replace(self.state, last_arrival=now)
        restore_spill(job, self.state)
        self.keeper = ArchiveKeeper(options.checkpoint, options.tell)
        self.recorder = SparkRecorder(self.spark_folder)
        places = {"rejects": options.output}
        if isinstance(self.answers, FileSink):
            places["answers"] = self.answers.folder
        parts = open_parts(options.checkpoint, self.record.parts, options.keep_ns, options.compact)
        terms = {q.name: q.terms for q in job.queries}
        self.writer = PartWriter(self.record.run, parts, places, terms=terms)
        require_exchange(self.writer, places)
        if place is not None:
            last, gone = self.state.batch, options.parts_may_go
            take_back(job, self.answers, self.writer, self.commits, last, may_go=gone)
            self.publish(place)
            self.place_anew()
        streams = [history.stream for history in job.histories]
        self.keeper.hold(streams, self.record, self.state.batch)
        self.entries = count_entries(self.spark_folder) if options.forget else 0
        """How many files Spark's logs have, about."""
        self.most_listed = min(options.forget, FORGOTTEN if self.keeper.held else options.forget)
        self.limit = self.most_listed
        options.on_state(self.state, job)

    @property
    def parts(self) -> Path:
        """The folder of the files of parts."""
        return (self.options.checkpoint / "parts").absolute()

    @property
    def spark_folder(self) -> SparkFolder:
        """Spark's folder of the run."""
        return SparkFolder(self.options.checkpoint / self.record.spark.folder)

    def restore(self) -> None:
        """Take Spark's half back to the last commit.

        Raises:
            UsageError: it is not of that.
            RunError: the disk does not take it.
        """
        restore_spark(self.spark_folder, self.record, ticks=bool(self.job.idle_seconds))
        forget_spark(self.options.checkpoint, self.record.spark.folder)

    @property
    def is_worn(self) -> bool:
        """Whether Spark's logs have so many files that a run should go on from new ones."""
        views = any(h.stream.data.format == VIEW for h in self.job.histories)
        begun = self.state.batch >= 0 and self.record.cut_us is None
        return bool(self.limit and self.entries > self.limit and begun and not views)

    def place_anew(self) -> None:
        """Commit the state in as many parts as its queries have now, if these are others.

        Raises:
            UsageError: it cannot be divided anew.
            RunError: the disk does not take it.
        """
        placed = place_anew(self.job, self.state, self.parts)
        if placed is None:
            return
        self._commit_anew(placed)

    def _commit_anew(self, state: LiveState, **more: Any) -> None:
        """Commit a state as that of the next micro-batch, which has brought nothing; `more`: fields
        of the record."""
        none = tuple(q.schema.empty_table() for q in self.job.queries)
        outcome = LiveOutcome(replace(state, batch=self.state.batch + 1), none, ())
        record = replace(self.record, parts=self.writer.parts.mark(), **more)
        durable = list(self.writer.fresh)
        self.writer.fresh.clear()
        place = self._commit(record, outcome, durable)
        self.state, self.record = outcome.state, record
        self.publish(place)

    def rotate(self) -> None:
        """Commit that Spark goes on from new logs; no micro-batch is being taken in.

        Raises:
            RunError: the disk does not take it.
        """
        self.keeper.settle()
        formats = {h.stream.name: is_listed(h.stream) for h in self.job.histories}
        sources = enumerate(self.record.sources)
        files = frozenset(n for n, held in sources if held and formats.get(held[0], False))
        log = rotate_spark(self.options.checkpoint, self.record, files)
        self._commit_anew(self.state, spark=log, read={}, bad={})
        self.recorder = SparkRecorder(self.spark_folder)
        self.restore()
        self.entries = count_entries(self.spark_folder)
        self.limit = max(self.most_listed, 2 * self.entries)

    def take(self, frame: "DataFrame | None", batch: int) -> None:
        """A micro-batch of rows of all streams (None: Spark reads none of them)."""
        with self.mutex:
            if self.closed:
                # so it counts as not finished
                raise Stopped("it has been asked to stop", why="-", fix="-")
            try:
                self.advance(frame, batch)
            except Stopped:
                raise
            except OntoweirError as error:
                self.failed = error
                raise

    def _commit(self, record: CommitRecord, outcome: LiveOutcome, durable: list[Path]) -> Path:
        """Commit a micro-batch; older ones are removed while the run goes on."""
        place = commit_batch(self.commits, self.fingerprint, record, outcome, durable)
        wait(self.removals)
        self.removals = drop_old_batches(self.commits)
        return place

    def close(self) -> None:
        """Take nothing more; a step that has begun is finished first. Then nothing in the
        checkpoint changes any more."""
        self.closed = True
        with self.mutex:
            wait(self.removals)
            self.keeper.release()

    def advance(self, frame: "DataFrame | None", batch: int) -> None:
        """Take in a micro-batch of Spark's, in one step or several: each is committed.

        Raises:
            RunError: it does not follow the last commit.
        """
        low = self.record.cut_us
        expected = 0 if self.state.batch < 0 else self.record.spark.batch + (low is None)
        if batch != expected:
            raise RunError(
                f"Spark's micro-batch {batch} comes where {expected} does",
                why="Spark's offsets and the state of the run do not belong together",
                fix="stop what else runs from this checkpoint, and start again",
            )
        listed = [h for h in self.job.histories if h.stream.name in self.sources.listed]
        others = [h for h in self.job.histories if h.stream.name not in self.sources.listed]
        staged = self.options.checkpoint / "staged"
        passed = self.record.bad if low is not None else {}
        opened = open_batch(
            listed, self.sources, self.spark, self.spark_folder, batch, staged, passed
        )
        try:
            read = opened.describe()
            if low is not None:
                compare_files(self.record.read, read)
            # what Spark hands over is in the first step
            rows = read_batch(others, frame, observed=self.sources.observed) if low is None else {}
            cuts = [c for c in opened.cuts(*self.options.step) if low is None or c > low]
            for high in (*cuts, None):
                self.step(opened, rows, (low, high), read, batch)
                low, rows = high, {}
                if high is not None and self.closed:
                    raise Stopped("it has been asked to stop", why="-", fix="-")
        finally:
            opened.close()

    def step(
        self,
        opened: OpenBatch,
        rows: "Mapping[str, pa.Table]",
        span: tuple[int | None, int | None],
        read: Mapping[str, Sequence[Sequence[Any]]],
        batch: int,
    ) -> None:
        """Commit and publish the rows of a span of time: those of files, and other `rows`."""
        begun, clocked = time.perf_counter(), self.clock.seconds
        with self.clock.time("read"):
            arrived = {**opened.read(*span), **rows}
        bad = {n: tuple(b.file for b in held) for n, held in opened.bad.items() if held}
        for name, files in self.record.bad.items() if span[0] is not None else ():
            bad[name] = (*files, *(f for f in bad.get(name, ()) if f not in files))
        read = {n: [f for f in held if f[0] not in bad.get(n, ())] for n, held in read.items()}
        rejects = [
            Reject(history.stream.name, None, REASON, str(held.error), held.file)
            for history, held in list_bad(opened)
            if not self._passes(history, held)
        ]
        known = self._look_around(opened, arrived, batch, last=span[1] is None)
        with self.clock.time("advance"):
            outcome = advance_live(self.job, self.state, arrived, time.time(), known, rejects)
        log, durable = self.recorder.record(batch)
        gone = let_go(self.writer)
        parts = self.writer.parts.mark()
        record = CommitRecord(self.record.run, log, self.sources.order, read, parts, span[1], bad)
        durable += self.writer.fresh
        durable += list_fresh(self.job, self.state, outcome.state)
        self.writer.fresh.clear()
        with self.clock.time("commit"):
            place = self._commit(record, outcome, durable)
        before, self.state, self.record = self.state, outcome.state, record
        self._forget_parts(before)
        self.entries += sum(map(len, opened.files.values())) if span[1] is None else 0
        with self.clock.time("publish"):
            remove_files(gone, self.writer)
            self.publish(place)
        seconds = time.perf_counter() - begun
        stages = show_stages(clocked, self.clock.seconds)
        shown = measure_batch(self.job, before, self.state, seconds, time.time(), stages)
        shown["spark_batch"] = batch
        write_metrics(self.options.metrics or self.options.output, shown)
        self.options.on_published(shown)
        self.options.on_state(self.state, self.job)

    def _forget_parts(self, before: LiveState) -> None:
        """Remove the files of parts, and of rows on disk, that only the state before has."""
        for old in list_spilled(self.job, before) - list_spilled(self.job, self.state):
            self.removals.append(disk_threads().submit(old.unlink, missing_ok=True))
        gone = before.files_of_parts - self.state.files_of_parts
        for folder in {placement.folder for placement in self.job.placements.values()}:
            for file in gone:
                self.removals.append(disk_threads().submit((folder / file).unlink, missing_ok=True))

    def _passes(self, history: History, bad: BadFile) -> bool:
        """Whether a bad file has been counted before.

        Raises:
            DataError: it ends the run.
        """
        if history.stream.on_bad_file == "stop" or "://" in bad.file:
            raise bad_file(history, bad.file, bad.error)
        key = (history.stream.name, bad.file)
        again, self.counted = key in self.counted, self.counted | {key}
        return again

    def _look_around(
        self, opened: OpenBatch, arrived: "Mapping[str, pa.Table]", batch: int, *, last: bool
    ) -> KnownSources:
        """What is known of the sources: Kafka's partitions; files of the same time as the last of
        these (list_waiting); and the first timestamp in files which come later (find_horizon)."""
        partitions: dict[str, Collection[str]] = {}
        peers: dict[str, Collection[str]] = {}
        horizons: dict[str, int] = {}
        for history in self.job.histories:
            name = history.stream.name
            if history.stream.data.format == "kafka":
                offsets = self.spark_folder.offsets_of(batch)
                partitions[name] = list_partitions(history.stream, offsets)
                continue
            taken = {f.path for f in opened.files.get(name, ())}
            peers[name], first = self._look_ahead(history, arrived.get(name), taken, last=last)
            if first is not None:
                horizons[name] = first
        return KnownSources(partitions, peers, horizons)

    def _look_ahead(
        self, history: History, rows: "pa.Table | None", taken: set[str], *, last: bool
    ) -> tuple[frozenset[str], int | None]:
        """Files there that were modified with the last ones of a stream; and the first timestamp
        that waits in files which come later. `taken`: the files of this micro-batch, all rows of
        which are there with its last step."""
        name = history.stream.name
        modified, delivered = list_delivered(self.state.files.get(name), rows)
        if modified is None:
            return frozenset(), None
        if last:
            delivered |= taken
        passed, done = self.passed.setdefault(name, set()), self.delivered.setdefault(name, set())
        done |= delivered
        same, later = list_waiting(history.stream, modified, delivered, passed)
        done -= passed
        firsts = self.firsts.setdefault(name, {})
        return same, find_horizon(history.stream, (same | later) - done - taken, firsts)

    def publish(self, place: Path) -> None:
        """Publish a committed step, and move away the files that it could not read."""
        publish_commit(place, self.job.queries, self.answers, self.writer, self.spark)
        quarantine_files(self.record.bad, self.options.output)
        self.archive()

    def archive(self) -> None:
        """Move the files away that are read, if a micro-batch is over."""
        if self.record.cut_us is None:
            batch = self.record.spark.batch
            self.keeper.move_batch(self.spark_folder, self.sources, batch, self.state.batch)
