"""The files of a live run that have rows of synopses: which it has, and where they are."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.spill.spill_rows import drop_strays
from ontoweir.runtime.spill.spill_state import list_files


def place_spill(job: LiveJob, checkpoint: Path) -> LiveJob:
    """The job with rows on disk beside its checkpoint, each query's in a folder of its own."""
    queries = []
    for query in job.queries:
        spill = query.work.spill
        if spill is not None:
            spill = replace(spill, folder=str(checkpoint / "spill" / query.name))
        queries.append(replace(query, work=replace(query.work, spill=spill)))
    return replace(job, queries=tuple(queries))


def list_spilled(job: LiveJob, state: LiveState) -> frozenset[Path]:
    """The files that a state refers to."""
    return frozenset(
        Path(query.work.spill.folder) / name
        for query, held in zip(job.queries, state.queries, strict=True)
        if query.work.spill is not None and isinstance(held, ExecutionState)
        for name in list_files(held.spilled)
    )


def list_fresh(job: LiveJob, before: LiveState, after: LiveState) -> frozenset[Path]:
    """What has to be on the disk before a state may refer to it: files, and their folders."""
    fresh = list_spilled(job, after) - list_spilled(job, before)
    return fresh | {folder for file in fresh for folder in list(file.parents)[:3]}


def restore_spill(job: LiveJob, state: LiveState) -> None:
    """Remove what was written and not committed.

    Raises:
        UsageError: a file is missing that the state refers to.
    """
    known = list_spilled(job, state)
    lost: Sequence[Path] = sorted(file for file in known if not file.exists())
    if lost:
        raise UsageError(
            f"the checkpoint is damaged: {lost[0].name} is missing",
            why="the state of a run is trusted only whole, with what it keeps on disk",
            fix="restore it from a copy, or start with a new checkpoint and replay the history",
            source=Source(str(lost[0])),
        )
    for query in job.queries:
        if query.work.spill is not None:
            folder = Path(query.work.spill.folder)
            drop_strays(folder, frozenset(f.name for f in known if f.parent == folder))
