"""Start a registered query, from its checkpoint if it has one, and keep its status."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import OntoweirError, RunError, UsageError
from ontoweir.files.hold_lock import Lock, hold_lock
from ontoweir.files.replace_file import replace_file
from ontoweir.files.sync_file import sync_file
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.registry.entry_status import add_record, begin_status, write_status
from ontoweir.registry.register_query import QueryText, compile_text
from ontoweir.registry.registry_entry import Entry, utc_now
from ontoweir.run.prepare_live_run import PreparedRun, check_live, prepare_run
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import identify_run, open_sink
from ontoweir.run.state_alarm import StateAlarm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.runtime.live.output.sinks.sinks import Sink
    from ontoweir.runtime.live.parts.place_queries import PlacedJob
    from ontoweir.runtime.live.run_live import LiveRun

_OWNER = "checkpoint-of"
"""The file that names the entry whose checkpoint, rejects and answers are there."""


@dataclass(slots=True)
class RunningEntry:
    """A registered query that runs in this process, under the lock of its folder.

    `status`: what `status.json` has; `run`, `prepared`: None until it has started; `placed`: where
    its state is, if it runs by itself, and `held`: what is left when it ends.
    """

    entry: Entry
    folder: Path
    lock: Lock
    sink: "Sink"
    status: dict[str, Any]
    run: "LiveRun | None" = None
    prepared: PreparedRun | None = None
    alarm: StateAlarm | None = None
    error: OntoweirError | None = None
    before: dict[str, int] = field(default_factory=dict)
    """What the entry had counted when this process started it, and rejects by reason."""
    reasons: dict[str, int] = field(default_factory=dict)
    placed: "PlacedJob | None" = None
    held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def ended(self) -> bool:
        """Whether it runs no more."""
        return self.status["state"] in ("stopped", "failed")


def start_entry(
    workspace: Workspace,
    registry: Path,
    entry: Entry,
    spark: "SparkSession",
    options: RunOptions,
    *,
    checkpoint: Path | None = None,
    on_published: Callable[[Mapping[str, Any]], None] | None = None,
) -> RunningEntry:
    """Start an entry. Its errors are in its status, and in `error`.

    State that an entry of the same name has left, which this one replaces, is removed; answers in
    the output folder that are not this entry's are moved away.

    Args:
        workspace: the project.
        registry: the registry's folder.
        entry: what to start.
        spark: the session that it runs on.
        options: where answers go, and how the run goes; its checkpoint and metrics are not used.
        checkpoint: the folder of its state, rejected rows and metrics, instead of the entry's: one
            that nothing is ever removed from.
        on_published: is called with the record of every micro-batch.

    Raises:
        UsageError: another process serves it.
        OntoweirError: the sink's options are wrong.
    """
    running = prepare_entry(workspace, registry, entry, spark, options, checkpoint)
    if not running.ended:
        run_entry(running, spark, options, checkpoint, on_published)
    return running


def run_entry(
    running: RunningEntry,
    spark: "SparkSession",
    options: RunOptions,
    checkpoint: Path | None = None,
    on_published: Callable[[Mapping[str, Any]], None] | None = None,
) -> None:
    """Run a prepared entry by itself: by a streaming query of its own."""
    folder = running.folder
    place = (folder / "checkpoint", folder) if checkpoint is None else (checkpoint, checkpoint)
    with failing(running):
        place_entry(running, place[0], spark, options)
        running.run = _run(running, place, spark, options, on_published)
        running.status["state"] = "running"
        write_status(folder, running.status)


def place_entry(
    running: RunningEntry, checkpoint: Path, spark: "SparkSession", options: RunOptions
) -> "PlacedJob":
    """Where a prepared entry would keep its state, if it ran by itself.

    Args:
        running: the entry.
        checkpoint: the folder of its state.
        spark: whose executors have the parts of a state that is divided.
        options: where states are asked to be.

    Raises:
        UsageError: the checkpoint has a state in parts that cannot be divided any more.
    """
    from ontoweir.runtime.live.parts.place_queries import place_queries

    if running.placed is None:
        prepared, (engine, parts) = running.prepared, (options.engine, options.parts)
        assert prepared is not None
        placing = place_queries(prepared.job, prepared.jobs, spark, checkpoint, engine, parts)
        running.placed = running.held.enter_context(placing)
    return running.placed


@contextlib.contextmanager
def failing(running: RunningEntry) -> Iterator[None]:
    """What happens in it fails the entry, if it fails."""
    from ontoweir.runtime.live.model.live_errors import notice_gone

    try:
        yield
    except OntoweirError as error:
        end_entry(running, error)
    except BaseException as error:
        gone = notice_gone(error)
        if gone is None:
            running.lock.release()
            raise
        end_entry(running, gone)


def prepare_entry(
    workspace: Workspace,
    registry: Path,
    entry: Entry,
    spark: "SparkSession",
    options: RunOptions,
    checkpoint: Path | None = None,
) -> RunningEntry:
    """Compile an entry and hold its lock: what `start_entry` does before anything runs.

    Raises:
        UsageError: another process serves it.
        OntoweirError: the sink's options are wrong.
    """
    from ontoweir.runtime.live.output.sinks.files import FileSink

    folder = registry / entry.name
    sink = open_sink(options)
    lock = hold_lock(folder)
    if lock is None:
        raise UsageError(
            f"{entry.name} is served by another process",
            why="two would write one state",
            fix=f"stop the other, or drop {entry.name} and register it under another name",
        )
    answers = sink.folder / entry.name if isinstance(sink, FileSink) else None
    status = begin_status(entry, sink.describe(entry.name), answers, folder)
    running = RunningEntry(entry, folder, lock, sink, status)
    with failing(running):
        write_status(folder, status)
        if checkpoint is None:
            _take_over(folder, entry, answers)
        compiled = compile_text(
            workspace,
            QueryText(entry.name, entry.language, entry.text, entry.file, entry.reads),
        )
        anyway = entry.allow_unbounded
        verdict = check_live(workspace, compiled, allow_unbounded=anyway)
        own = replace(options, allow_unbounded=anyway)
        running.prepared = prepare_run(workspace, [compiled], [verdict], spark, own)
        running.alarm = StateAlarm(options.alarm, options.alarm_share, workspace.on_warning)
    return running


def _run(
    running: RunningEntry,
    place: tuple[Path, Path],
    spark: "SparkSession",
    options: RunOptions,
    more: Callable[[Mapping[str, Any]], None] | None,
) -> "LiveRun":
    """`place`: of the checkpoint, and of rejected rows and metrics."""
    from ontoweir.runtime.live.live_options import LiveOptions
    from ontoweir.runtime.live.model.describe_live import describe_live
    from ontoweir.runtime.live.run_live import run_live

    def take(state: Any, job: Any) -> None:
        if running.alarm is not None:
            running.alarm(state, job)
        if running.before:
            return  # only at the start: what was committed before
        described = describe_live(state, job)
        held = described["queries"][running.entry.name]
        counts = {n: described[n] for n in ("tuples", "markers", "results", "rejected", "late")}
        counts["waiting_rows"] = state.waiting
        running.before, running.reasons = counts, dict(state.reasons)
        batch = None if described["batch"] < 0 else described["batch"]
        running.status |= {**counts, **held, "batch": batch, "rejects": dict(state.reasons)}
        most = max(running.status["state_rows_max"], held["state_rows"])
        running.status["state_rows_max"] = most

    def publish(record: Mapping[str, Any]) -> None:
        add_record(running.status, record)
        write_status(running.folder, running.status)
        if more is not None:
            more(record)

    live = LiveOptions(
        checkpoint=place[0],
        output=place[1],
        once=options.once,
        seconds=options.seconds,
        on_state=take,
        on_published=publish,
        sink=running.sink,
        listeners=options.listeners,
        parts_may_go=options.parts_may_go,
        keep_ns=options.keep_ns,
        compact=options.compact,
    )
    assert running.prepared is not None
    assert running.placed is not None
    placed, mine = running.placed, running.prepared.fingerprint
    known = placed.former_identity
    former = None if known is None else identify_run(mine, known)
    return run_live(placed.job, identify_run(mine, placed.identity), spark, live, former)


def follow_entry(running: RunningEntry, seconds: float) -> bool:
    """Whether an entry has ended within so many seconds; if it failed, its status says why."""
    from ontoweir.runtime.live.await_live import wait_live
    from ontoweir.runtime.live.output.redact_run import redact_run

    run = running.run
    if run is None or running.ended:
        return True
    try:
        over = wait_live(run, seconds, lambda text: redact_run(text, run.job, running.sink))
    except OntoweirError as error:
        end_entry(running, error)
        return True
    if over:
        end_entry(running)
    return over


def stop_entry(running: RunningEntry) -> None:
    """Stop an entry; when this returns, nothing of it writes any more."""
    from ontoweir.runtime.live.await_live import stop_live

    if running.ended:
        return
    failed = None
    if running.run is not None:
        stop_live(running.run)
        failed = running.run.taker.failed
    end_entry(running, failed)


def end_entry(running: RunningEntry, error: OntoweirError | None = None) -> None:
    """Say in its status that an entry runs no more, and release its lock."""
    if running.ended:
        return
    running.error = error
    if running.run is not None:
        running.run.taker.close()
    running.held.close()
    running.status |= {
        "state": "stopped" if error is None else "failed",
        "error": None if error is None else str(error),
        "updated": utc_now(),
    }
    try:
        write_status(running.folder, running.status)
    except RunError as full:
        running.error = error or full
    finally:
        running.lock.release()


def _take_over(folder: Path, entry: Entry, answers: Path | None) -> None:
    """Make the folder this entry's. If that is interrupted, it is done again at the next start.

    Answers of an entry before it, of the same name, are kept under another name. Those of another
    registry stay in place: the run refuses to start over them.

    Raises:
        RunError: the disk does not let it.
    """
    owner = folder / _OWNER
    ours = owner.exists()  # otherwise what answers there are come from elsewhere, and stay
    try:
        with contextlib.suppress(FileNotFoundError):
            if owner.read_text(encoding="utf-8") == entry.id:
                return
        for name in ("checkpoint", "rejects"):
            if (folder / name).exists():
                shutil.rmtree(folder / name)
        for name in ("metrics.jsonl", "metrics.1.jsonl", "metrics.prom"):
            (folder / name).unlink(missing_ok=True)
        if ours and answers is not None and any(answers.glob("part-*")):
            stamp = utc_now().replace(":", "").replace(".", "")
            os.rename(answers, answers.with_name(f"{answers.name}-until-{stamp}"))
        # on the disk: without it, the next start after a power cut would take what is there for
        # another's, and remove it
        replace_file(owner, entry.id.encode(), durable=True)
        sync_file(folder)
    except OSError as error:
        raise RunError(
            f"the state before {entry.name} cannot be removed: {error.strerror or error}",
            why="a new query does not start with another's state and answers",
            fix="free space or correct the folder's permissions, and start again",
        ) from error
