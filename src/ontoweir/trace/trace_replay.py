"""A replay in this process, looked at on its way: how the state of a query grows over history."""

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.progress.replay_progress import ReplayProgress
from ontoweir.run.prepare_jobs import prepare_jobs, refusal
from ontoweir.run.replay_query import ReplayOptions, check_replay

if TYPE_CHECKING:
    import pyarrow as pa

    from ontoweir.runtime.engine.query_job import QueryJob

ROWS = 2_000
"""Tuples between two looks."""


@dataclass(frozen=True, slots=True)
class Look:
    """The state after some chunk: `at` is the last finished timestamp, `seconds` how long the
    chunk took; `tuples` are all so far."""

    at: datetime
    rows: int
    tuples: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Trace:
    """The progress of a replay, in the order of time; `bound`: the most rows that there can be,
    with the static data as it is."""

    name: str
    bound: int
    formula: str
    looks: tuple[Look, ...]


class _Watcher:
    """Keeps the progress of a replay."""

    def __init__(self) -> None:
        self.looks: list[Look] = []
        self.begun = time.perf_counter()

    def update(self, progress: ReplayProgress) -> None:
        """See ProgressListener."""
        now = time.perf_counter()
        self.looks.append(Look(progress.at, progress.state_rows, progress.tuples, now - self.begun))
        self.begun = now


def trace_replay(
    workspace: Workspace,
    compiled: CompiledQuery,
    *,
    start: datetime | None = None,
    stop: datetime | None = None,
    rows: int = ROWS,
) -> Trace:
    """Replay a query over its history [start, stop), and look at its state every `rows` tuples.

    It runs in this process from the first chunk to the last, and its answers are thrown away.
    Spark is started only for data that is read by it: not for local Parquet files.

    Raises:
        QueryError: the query is not bounded, or selects nothing.
        DataError: the data is missing or breaks its declarations.
        RunError: failed while running.
    """
    from ontoweir.runtime.located.hold_archive import read_archives
    from ontoweir.runtime.spark.start_session import start_session

    reading = read_archives(s.data for s in workspace.project.catalog.streams.values())
    with reading, tempfile.TemporaryDirectory(prefix="ontoweir-") as folder:
        options = ReplayOptions(Path(folder) / "answers.parquet")
        verdict = check_replay(workspace, compiled, options)
        prepared = prepare_jobs(workspace, [(compiled, verdict)], start_session)
        (job,), (refined,) = prepared.jobs, prepared.verdicts
        if job.bound is None or refined.bound is None:
            raise refusal(compiled, refined)
        if not job.plans:
            raise QueryError(
                f"{compiled.name} selects nothing",
                why="its conditions contradict each other, or the ontology or the catalog",
                fix="plot another query",
                source=compiled.union.source,
            )
        looks = watch_job(job, options.output, prepared.statics, start=start, stop=stop, rows=rows)
    return Trace(compiled.name, job.bound, refined.bound.formula, looks)


def watch_job(
    job: "QueryJob",
    output: Path,
    statics: "Mapping[str, pa.Table]",
    *,
    start: datetime | None = None,
    stop: datetime | None = None,
    rows: int = ROWS,
) -> tuple[Look, ...]:
    """Replay a job here, and look at its state every `rows` tuples.

    Raises:
        OntoweirError: as a replay does.
    """
    from ontoweir.runtime.replay.replay import replay_history
    from ontoweir.runtime.replay.replay_request import ReplayRequest

    request = ReplayRequest(
        output,
        "parquet",
        start=start,
        stop=stop,
        rows_per_chunk=rows,
        engine="driver",
    )
    watcher = _Watcher()
    replay_history(job, request, progress=watcher, statics=statics)
    return tuple(watcher.looks)
