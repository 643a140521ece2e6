"""Serve a registry: one intake for all entries that read files, one for those that read Kafka, a
streaming query of its own for each other one, in one Spark; picking up what changes."""

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.end_on_term import begin
from ontoweir.errors import OntoweirError, RunError, UsageError
from ontoweir.files.hold_lock import hold_lock
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.registry.list_entries import list_entries
from ontoweir.registry.registry_entry import Entry
from ontoweir.registry.share_intake import (
    ARCHIVED,
    GOES_ON,
    STAYS,
    SharedEntries,
    find_intake,
    has_files_moved,
    has_own_checkpoint,
    open_shared,
)
from ontoweir.registry.start_entry import (
    RunningEntry,
    failing,
    follow_entry,
    place_entry,
    prepare_entry,
    run_entry,
    stop_entry,
)
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import open_session, open_sink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PAUSE = 1.0
"""Seconds between two looks at the registry."""
_STARTING = 3.0
"""Seconds for which queries are started before those that run go on."""
_TOGETHER = 30.0
"""Seconds for which an intake without a commit waits for all of its queries: they read together."""


@dataclass(slots=True)
class _Server:
    """The entries served now, by name, and what was last reported of each."""

    running: dict[str, RunningEntry] = field(default_factory=dict)
    ended: list[RunningEntry] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    shared: dict[str, SharedEntries] = field(default_factory=dict)
    """Intakes by their folders."""
    starting: float | None = None
    """Since when entries wait to be started (monotonic; None: none does)."""

    def stop(self, running: RunningEntry, *, forget: bool = False) -> None:
        """Stop an entry. `forget`: its state is not kept."""
        for shared in self.shared.values():
            if running.entry.id in shared.entries:
                shared.leave(running, forget=forget)
                return
        stop_entry(running)

    def go_on(self) -> None:
        """Let the entries that share an intake go on, for about as long as the pause is; where
        others wait to be started, those of intakes that have begun."""
        since = self.starting
        together = since is not None and time.monotonic() - since < _TOGETHER
        for folder, shared in list(self.shared.items()):
            if together and not shared.run.intake.begun:
                continue
            shared.forget_others()
            shared.go_on(_PAUSE / len(self.shared), all_here=since is None)
            if shared.dead:  # another begins with the next entry
                shared.stop()
                self.shared.pop(folder, None)

    def pause(self, options: RunOptions) -> float:
        """Seconds until the next look at the registry."""
        return 0.1 if options.once else _PAUSE if self.starting is None else 0.0

    def close(self) -> None:
        """Stop all entries."""
        for shared in self.shared.values():
            shared.stop()
        for running in self.running.values():
            stop_entry(running)


def serve_registry(
    open_workspace: Callable[[], Workspace],
    registry: Path,
    options: RunOptions,
    spark: "SparkSession | None" = None,
    stop: threading.Event | None = None,
    on_event: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
) -> dict[str, Any]:
    """Run what is registered, until stopped (by Ctrl-C, or `stop`), or (once) until everything
    that is there has been read by all entries.

    Every second it reads the registry: new entries are started, dropped ones stopped, replaced ones
    started from an empty state, and the others continue. An entry that fails does not stop the
    others: its status says why. It is tried again by the next server, or when it is replaced.

    Args:
        open_workspace: opens the project; again, where its files have changed since.
        registry: the registry's folder.
        options: where answers go, and how each run goes; checkpoints and metrics are in the
            entries' folders.
        spark: the session; default: one is started when there is something to run.
        stop: ends it.
        on_event: is called with what starts, stops and fails.

    Returns:
        the contract's summary, of all entries of this session; under `queries`, their status.

    Raises:
        UsageError: another process serves this registry; or the session is one of Spark Connect.
        RunError: an entry failed.
    """
    from ontoweir.runtime.live.model.live_errors import JavaGone
    from ontoweir.runtime.spark.refuse_connect import refuse_connect

    begun = time.perf_counter()
    open_sink(options)  # wrong options are found before anything starts
    refuse_connect(spark, options.spark)
    lock = hold_lock(registry)
    if lock is None:
        raise UsageError(
            f"another process serves the registry {registry}",
            why="two would write the same state",
            fix="stop the other, or name another registry with --registry",
        )
    server = _Server()
    workspaces = _Workspaces(open_workspace)
    session = spark
    settled: frozenset[str] = frozenset()
    try:
        while not _is_set(stop):
            if settled != server.running.keys() and server.starting is None:  # a while after
                _leave_to_themselves()
                settled = frozenset(server.running)
            wanted = _look(registry, server, on_event)
            for name, running in list(server.running.items()):
                entry = wanted.get(name)
                if entry is None or entry.id != running.entry.id:
                    server.stop(running, forget=entry is not None)
                    on_event(f"{name}: stopped, it is {'dropped' if entry is None else 'replaced'}")
                    server.ended.append(server.running.pop(name))
            for entry in _list_new(wanted, server, options, stop):
                session = session or open_session(options, None)
                begin(stop)
                _start(server, workspaces, registry, entry, session, options, on_event)
            if _is_set(stop):
                break
            server.go_on()
            over = [_follow(r, server, on_event) for r in list(server.running.values())]
            if options.once and all(over):
                break
            if any(isinstance(r.error, JavaGone) for r in server.running.values()):
                break  # none goes on without it
            _wait(stop, server.pause(options))
    except KeyboardInterrupt:
        pass
    finally:
        gc.unfreeze()
        server.close()
        lock.release()
    return _summarise(server, options, time.perf_counter() - begun)


def _leave_to_themselves() -> None:
    """Have the collector of garbage pass over what is there now, plans above all: to look through
    those of a hundred queries takes a tenth of a second, in which no answer is given."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _look(registry: Path, server: _Server, on_event: Callable[[str], None]) -> dict[str, Entry]:
    """The entries now; what is served, while they cannot be read."""
    try:
        entries = {entry.name: entry for entry in list_entries(registry)}
    except UsageError as error:
        if server.said.get("") != str(error):
            server.said[""] = str(error)
            on_event(str(error))
        return {name: running.entry for name, running in server.running.items()}
    server.said.pop("", None)
    return entries


def _start(
    server: _Server,
    workspaces: "_Workspaces",
    registry: Path,
    entry: Entry,
    session: "SparkSession",
    options: RunOptions,
    on_event: Callable[[str], None],
) -> None:
    """Start an entry, unless it cannot be: then say so, once."""
    try:
        workspace = workspaces.current()
        running = prepare_entry(workspace, registry, entry, session, options)
        told = _begin(server, workspace, registry, running, session, options)
    except OntoweirError as error:  # another serves it; or the project does not open: try again
        if server.said.get(entry.name) != str(error):
            server.said[entry.name] = str(error)
            on_event(f"{entry.name}: {error}")
        return
    server.said.pop(entry.name, None)
    server.running[entry.name] = running
    if running.error is not None:
        server.said[entry.name] = str(running.error)
        on_event(f"{entry.name}: failed: {running.error}")
    else:
        on_event(f"{entry.name}: running, answers go to {running.status['answers']}")
        if told:
            on_event(f"{entry.name}: {told}")


def _begin(
    server: _Server,
    workspace: Workspace,
    registry: Path,
    running: RunningEntry,
    session: "SparkSession",
    options: RunOptions,
) -> str:
    """Let a prepared entry run: with others, or by itself, as it has, or as its state is divided.
    What is to be said of that."""
    folder = None if running.ended else find_intake(running, options)
    if running.ended:
        return ""
    checkpoint = running.folder / "checkpoint"
    if folder is None or has_own_checkpoint(running):
        run_entry(running, session, options)
        return _tell_place(running) or ("" if folder is None else GOES_ON)
    if folder in server.shared or (registry / folder / "commits").exists():
        if folder not in server.shared:
            server.shared[folder] = open_shared(registry, session, options, folder)
        stays = server.shared[folder].holds(running)
    else:
        stays = False
    divided = False
    with failing(running):
        divided = bool(place_entry(running, checkpoint, session, options).job.placements)
    if running.ended:
        return ""
    if divided and not stays and not has_files_moved(running, options):
        run_entry(running, session, options)
        return _tell_place(running)
    running.held.close()
    running.placed = None
    if folder not in server.shared:
        server.shared[folder] = open_shared(registry, session, options, folder)
    server.shared[folder].join(running, workspace.project.catalog.streams)
    return "" if not divided else STAYS if stays else ARCHIVED


def _tell_place(running: RunningEntry) -> str:
    if running.placed is None or not running.placed.job.placements:
        return ""
    return f"it runs by itself, its state is {running.placed.told[running.entry.name]}"


def _follow(running: RunningEntry, server: _Server, on_event: Callable[[str], None]) -> bool:
    """Whether an entry has ended; said once."""
    name = running.entry.name
    if running.ended:
        if running.error is not None and server.said.get(name) != str(running.error):
            server.said[name] = str(running.error)
            on_event(f"{name}: failed: {running.error}")
        return True
    if running.run is None:
        return False  # it shares the intake
    if not follow_entry(running, 0.01):
        return False
    if running.error is not None:
        on_event(f"{running.entry.name}: failed: {running.error}")
    return True


def _list_new(
    wanted: Mapping[str, Entry],
    server: _Server,
    options: RunOptions,
    stop: threading.Event | None,
) -> Iterator[Entry]:
    """The entries to start, until the end is asked for, or, of many, as it is time for those that
    run to go on; first those that have not been tried."""
    new = [entry for name, entry in wanted.items() if name not in server.running]
    begun = time.monotonic()
    for number, entry in enumerate(sorted(new, key=lambda e: e.name in server.said)):
        late = number and not options.once and time.monotonic() - begun >= _STARTING
        if late or _is_set(stop):
            tried = entry.name in server.said
            server.starting = None if tried else server.starting or begun
            return
        yield entry
    server.starting = None


def _is_set(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()


def _wait(stop: threading.Event | None, seconds: float) -> None:
    if stop is None:
        time.sleep(seconds)
    else:
        stop.wait(seconds)


class _Workspaces:
    """The project as its files are now: opened again when they have changed."""

    def __init__(self, opened: Callable[[], Workspace]) -> None:
        self.open = opened
        self.held: tuple[Workspace, object] | None = None

    def current(self) -> Workspace:
        """The project.

        Raises:
            OntoweirError: it is wrong.
        """
        if self.held is None or _stamp(self.held[0]) != self.held[1]:
            workspace = self.open()
            self.held = workspace, _stamp(workspace)
        return self.held[0]


def _stamp(workspace: Workspace) -> object:
    project = workspace.project
    stamps = []
    for file in (project.file, *project.ontology, *project.mappings, *project.imports.values()):
        try:
            held = file.stat()
            stamps.append((str(file), held.st_mtime_ns, held.st_size, held.st_ino))
        except OSError:
            stamps.append((str(file), 0, 0, 0))
    return stamps


def _summarise(server: _Server, options: RunOptions, seconds: float) -> dict[str, Any]:
    """Raises RunError if an entry failed."""
    served = [*server.ended, *server.running.values()]
    failed = {r.entry.name: str(r.error) for r in server.running.values() if r.error is not None}
    if options.once:
        failed |= {name: text for name, text in server.said.items() if name}
    if failed:
        raise RunError(
            f"{len(failed)} of {len({*server.running, *failed})} registered queries failed: "
            + "; ".join(f"{name}: {text}" for name, text in failed.items()),
            why="the others have read all existing data"
            if options.once
            else "the others have stopped",
            fix="correct the errors that `ontoweir status` shows, and start again",
        )
    states = [
        {**r.status, **{n: r.status[n] - count for n, count in r.before.items()}} for r in served
    ]
    tuples = sum(s["tuples"] for s in states)
    bounds = [s["bound_rows"] for s in states]
    rejects: dict[str, int] = {}
    for running in served:
        for reason, count in running.status["rejects"].items():
            more = count - running.reasons.get(reason, 0)
            rejects[reason] = rejects.get(reason, 0) + more
    return {
        "markers": sum(s["markers"] for s in states),
        "tuples": tuples,
        "decided": tuples - sum(s["waiting_rows"] for s in states),
        "results": sum(s["results"] for s in states),
        "state_rows_max": sum(s["state_rows_max"] for s in states),
        "bound_rows": None if None in bounds else sum(bounds),
        "seconds": round(seconds, 3),
        "tuples_per_second": round(tuples / seconds, 1) if seconds else 0.0,
        "late": sum(s["late"] for s in states),
        "rejected": sum(s["rejected"] for s in states),
        "rejects": rejects,
        "queries": {r.entry.name: r.status for r in served},
    }
