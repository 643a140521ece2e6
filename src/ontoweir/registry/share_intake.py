"""The registered queries that share one intake: they join, leave and fail; their status is kept."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import OntoweirError
from ontoweir.registry.entry_status import add_record, write_status
from ontoweir.registry.registry_entry import DROPPED, ENTRY, read_entry
from ontoweir.registry.start_entry import RunningEntry, end_entry, failing
from ontoweir.run.run_options import RunOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.mappings.model.catalog import Stream
    from ontoweir.runtime.live.model.live_job import LiveState
    from ontoweir.runtime.live.run_intake import IntakeRun

INTAKE, TOPICS = ".intake", ".intake-of-topics"
"""The folders of a registry that have the state of all queries that share an intake: of those that
read files alone, which no broker keeps waiting, and of those that read Kafka."""
_QUIET = 0.5
"""Seconds without a micro-batch after which everything that is there is taken to be listed."""
_AT_ONCE = 10
"""Entries whose status is brought up to date in one turn, of about a second: each has three files,
and to replace them delays the steps, which wait for the same disk."""


GOES_ON = (
    "it goes on by itself, from the checkpoint that it has; to have it share what is read with the "
    "others, from an empty state, register it again with --replace"
)
STAYS = (
    "its state is with those of the other queries, in the driver; to have it divided, from an "
    "empty state, register it again with --replace"
)
ARCHIVED = (
    "its state is with those of the other queries, in the driver, and not divided: files are moved "
    "to the archive of what it reads when all that share what is read are done with them"
)


@dataclass(slots=True)
class SharedEntries:
    """`entries`: those that take part, by their ids; `shown`: of each the state that its status
    shows, and how long the intake's stages had taken then; `streams`: the catalog's;
    `failed`: entries that have just failed, by their ids; `dead`: all have, and another intake
    takes the place of this one."""

    registry: Path
    run: "IntakeRun"
    options: RunOptions
    entries: dict[str, RunningEntry] = field(default_factory=dict)
    shown: dict[str, tuple["LiveState", Mapping[str, float]]] = field(default_factory=dict)
    streams: dict[str, "Stream"] = field(default_factory=dict)
    failed: dict[str, OntoweirError] = field(default_factory=dict)
    dead: bool = False
    waiting: dict[str, None] = field(default_factory=dict)
    """Entries whose status has to be looked at, the one that has waited longest first."""

    def join(self, running: RunningEntry, streams: "Mapping[str, Stream]") -> None:
        """Let an entry take part; it has been prepared."""
        from ontoweir.runtime.live.intake.model import Member, watch_as

        entry, prepared = running.entry, running.prepared
        assert prepared is not None
        self.streams = dict(streams)
        with failing(running):
            self.run.probe(prepared.job.histories, entry.id)  # what fails in Spark fails for all
            query = watch_as(prepared.job.queries[0], self.run.intake.record.run)
            job = replace(prepared.job, queries=(query,))
            fingerprint = prepared.fingerprint
            member = Member(entry.id, entry.name, fingerprint, job, running.sink, running.folder)
            self.run.intake.join(member)
            self.entries[entry.id] = running
            self._show_before(running)
            running.status["state"] = "running"
            write_status(running.folder, running.status)

    def holds(self, running: RunningEntry) -> bool:
        """Whether the intake has a state of an entry."""
        return running.entry.id in self.run.intake.parked

    def leave(self, running: RunningEntry, *, forget: bool) -> None:
        """Let an entry take part no more. `forget`: its state is not kept."""
        self.show(running)
        self.run.intake.leave(running.entry.id, forget=forget)
        self.entries.pop(running.entry.id, None)
        end_entry(running)

    def forget_others(self) -> None:
        """Forget the state of queries that are neither registered nor dropped any more."""
        for id_, parked in list(self.run.intake.parked.items()):
            folder = self.registry / parked.name
            held = [read_entry(folder / name) for name in (ENTRY, DROPPED)]
            if not any(entry is not None and entry.id == id_ for entry in held):
                self.run.intake.leave(id_, forget=True)

    def go_on(self, seconds: float, *, all_here: bool = True) -> None:
        """See to it that Spark lists what the entries read, and let those that are behind catch up,
        for about so many seconds. An error that ends all is in their status; `dead` then.

        Args:
            seconds: about how long.
            all_here: whether all take part that are to: what others read is not forgotten else.
        """
        from ontoweir.runtime.live.model.live_errors import notice_gone

        if not self.entries:
            return
        try:
            over = self._advance(seconds, rotates=all_here)
        except OntoweirError as error:
            self._end_all(error)
        except Exception as error:
            gone = notice_gone(error)
            if gone is None:
                raise
            self._end_all(gone)
        else:
            self._end_failed()
            self._show_some(time.monotonic() + seconds)
            if over and self.options.once and self.run.intake.is_even:
                self._end_all(None)

    def _show_some(self, until: float) -> None:
        """Bring the status of those that have waited longest up to date, of as many as one turn
        allows; between steps until then (monotonic), as what both do takes turns."""
        self.waiting |= dict.fromkeys(self.entries)  # those that wait keep their places
        shown = 0
        for id_ in list(self.waiting):
            running = self.entries.get(id_)
            if running is not None:
                if shown == _AT_ONCE:
                    return
                self.run.intake.await_pause(until - time.monotonic())
                shown += self.show(running)
            self.waiting.pop(id_, None)

    def _advance(self, seconds: float, *, rotates: bool) -> bool:
        """Whether Spark has listed all that it is to list."""
        run = self.run
        if run.query is None or run.intake.lacking or not run.intake.hands_all:
            run.begin(self.streams)
        if rotates:
            run.rotate(self.streams)
        over = run.is_over()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            quiet = time.monotonic() - run.intake.busy > _QUIET
            if not (over or quiet) or not run.intake.catch_up(all_listed=True):
                break
        return over

    def stop(self) -> None:
        """Stop all; when this returns, nothing of them writes any more."""
        self.run.intake.closed = True
        self.run.stop()
        self.run.intake.close()
        self._end_all(self.run.intake.failed)

    def _end_failed(self) -> None:
        for id_, failure in list(self.failed.items()):
            running = self.entries.pop(id_, None)
            self.failed.pop(id_)
            if running is not None:
                end_entry(running, failure)

    def _end_all(self, error: OntoweirError | None) -> None:
        self.dead = error is not None
        self._end_failed()
        for running in self.entries.values():
            self.show(running)
            end_entry(running, error)
        self.entries.clear()

    def _show_before(self, running: RunningEntry) -> None:
        """What had been counted before the entry joined."""
        found = self.run.intake.find(running.entry.id)
        assert found is not None
        state = found.state
        counts = {n: state.totals[n] for n in ("tuples", "markers", "results", "rejected", "late")}
        counts["waiting_rows"] = state.waiting
        running.before, running.reasons = counts, dict(state.reasons)
        running.status |= {**counts, "rejects": dict(state.reasons)}
        self.shown[running.entry.id] = state, self.run.intake.clock.seconds

    def show(self, running: RunningEntry) -> bool:
        """Bring an entry's status and metrics up to date, if something has come: whether it has."""
        from ontoweir.runtime.live.intake.step_lanes import count_shared_rows
        from ontoweir.runtime.live.measure_batch import measure_batch
        from ontoweir.runtime.live.stage_clock import LIST, show_stages
        from ontoweir.runtime.live.write_metrics import write_metrics

        found = self.run.intake.find(running.entry.id)
        before, clocked = self.shown[running.entry.id]
        if found is None or found.state.batch == before.batch:
            return False
        now = self.run.intake.clock.seconds
        job, state, stages = found.job, found.state, show_stages(clocked, now)
        taken = sum(stages.values()) - stages[LIST]
        record = measure_batch(job, before, state, taken, time.time(), stages)
        self.shown[running.entry.id] = state, now
        if running.alarm is not None:
            running.alarm(state, job)
        add_record(running.status, record)
        most = max(running.status["state_rows_max"], found.members[0].most)
        running.status["state_rows_max"] = most
        shared = count_shared_rows(self.run.intake.lanes)
        running.status["shared_rows"] = shared.get(running.entry.id, 0)
        try:
            write_status(running.folder, running.status)
            write_metrics(running.folder, record)
        except OntoweirError as error:
            self.run.intake.leave(running.entry.id)
            self.failed[running.entry.id] = error
        return True


def open_shared(
    registry: Path, spark: "SparkSession", options: RunOptions, folder: str = INTAKE
) -> SharedEntries:
    """A shared intake of a registry, in a folder of it: nothing runs yet.

    Raises:
        UsageError: its checkpoint is damaged, or of another version.
        RunError: the disk does not take it.
    """
    from ontoweir.runtime.live.intake.intake import Intake
    from ontoweir.runtime.live.intake.model import IntakeOptions
    from ontoweir.runtime.live.run_intake import open_intake_run

    failed: dict[str, OntoweirError] = {}
    intake = Intake(
        IntakeOptions(
            registry / folder,
            parts_may_go=options.parts_may_go,
            keep_ns=options.keep_ns,
            compact=options.compact,
            on_failed=failed.__setitem__,
        ),
        spark,
    )
    run = open_intake_run(intake, spark, once=options.once, seconds=options.seconds)
    return SharedEntries(registry, run, options, failed=failed)


def find_intake(running: RunningEntry, options: RunOptions) -> str | None:
    """The folder of the intake in which an entry can take part (None: it runs by itself): its
    streams come in files, or from Kafka from the beginning, no listener wants Spark to count their
    rows, it keeps nothing on disk, and adapts no lateness and no rule."""
    from ontoweir.runtime.live.run_intake import is_listable, reads_topics

    if running.prepared is None or options.listeners:
        return None
    if any(query.work.spill is not None for query in running.prepared.job.queries):
        return None
    streams = [h.stream for h in running.prepared.job.histories]
    if any(s.floor_us is not None or any(r.floor is not None for r in s.closing) for s in streams):
        return None
    if is_listable(running.prepared.job):
        return INTAKE
    return TOPICS if reads_topics(running.prepared.job) else None


def has_files_moved(running: RunningEntry, options: RunOptions) -> bool:
    """Whether a prepared entry is not divided unless that is asked for: files that it reads are
    moved to archives, when those that share what is read are done with them."""
    held = running.prepared
    archived = held is not None and any(h.stream.data.archive for h in held.job.histories)
    return archived and options.engine == "auto" and options.parts is None


def has_own_checkpoint(running: RunningEntry) -> bool:
    """Whether an entry has run by itself, as in earlier versions all that read Kafka did: it goes
    on from there."""
    return any((running.folder / "checkpoint" / "commits").glob("[0-9]*"))
