"""Refuse to start over orphaned offsets or another run's output."""

from collections.abc import Sequence
from pathlib import Path

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.live.checkpoint.spark_folder import list_spark_folders
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.sinks.sinks import Sink


def check_new_run(job: LiveJob, checkpoint: Path, output: Path, answers: Sink) -> None:
    """A run without a commit has neither offsets nor answers.

    Raises:
        UsageError: the checkpoint is damaged, or the output has files of another run.
    """
    _refuse_orphaned_offsets(checkpoint)
    refuse_answers_of_others([q.name for q in job.queries], output, answers)


def _refuse_orphaned_offsets(checkpoint: Path) -> None:
    """Offsets of finished micro-batches without their state: rows would be lost."""
    commits = [p for spark in list_spark_folders(checkpoint) for p in spark.commits.glob("*")]
    if any(p.name.isdigit() for p in commits):
        raise UsageError(
            "the checkpoint is damaged: it has offsets, but the state is missing",
            why="the rows that were read before these offsets would be lost",
            fix="restore it from a copy, or start with a new checkpoint and replay the history",
            source=Source(str(checkpoint / "commits")),
        )


def refuse_answers_of_others(queries: Sequence[str], output: Path, answers: Sink) -> None:
    """Files of another run have the numbers of this one's micro-batches: its answers would be
    taken to be there.

    Raises:
        UsageError: there are some.
    """
    folders: list[tuple[Path, str]] = [(output / "rejects", "parquet")]
    if not isinstance(answers, FileSink):
        for name in queries:
            answers.begin(name)
    else:
        folders += [(answers.folder / name, answers.format) for name in queries]
    for folder, form in folders:
        if next(folder.glob(f"part-*.{form}"), None) is not None:
            raise UsageError(
                f"the folder {folder} has files of another run",
                why="the checkpoint is new, and its answers would get their names",
                fix="name another --output, or move these files away",
                source=Source(str(folder)),
            )
