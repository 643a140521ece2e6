"""Give tasks to Spark: each advances one part by one step, on an executor."""

import pickle
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import RunError
from ontoweir.runtime.division.store_statics import store_statics
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.live.checkpoint.sync_files import sync_file
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.parts.part_task import list_histories
from ontoweir.runtime.live.parts.run_part import run_part
from ontoweir.runtime.spark.explain_java import describe_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TRIES = 3
"""So many times a step is tried whose tasks fail: within one process, Spark tries them once."""


class SparkParts:
    """Runs the tasks of a run's steps; what they need of its queries is sent once."""

    def __init__(self, spark: "SparkSession", job: LiveJob, folder: Path) -> None:
        _make_folder(folder)
        self.context = spark.sparkContext
        self.run = uuid.uuid4().hex
        self.packed: Mapping[str, Any] = {
            query.name: self.context.broadcast(_pack(query.work, folder / f"statics-{number}"))
            for number, query in enumerate(job.queries)
            if query.name in job.placements
        }

    def __call__(self, tasks: Sequence[bytes]) -> Sequence[bytes]:
        """Run tasks, as many at once as there are cores.

        Raises:
            RunError: Spark failed.
        """
        run, packed = self.run, self.packed
        rows = self.context.parallelize(tasks, len(tasks))
        self.context.setJobDescription(f"ontoweir: {', '.join(packed)} in {len(tasks)} parts")
        for left in reversed(range(_TRIES)):
            try:
                return rows.map(lambda task: run_part(run, packed, task)).collect()
            except Exception as error:
                if left and "cancelled" not in str(error):
                    continue
                raise RunError(
                    f"Spark cannot advance the parts of a step: {describe_cause(error)[:400]}",
                    why="the state of a query is divided among Spark's executors",
                    fix="see Spark's log, mend the cause, and start again: what was committed is "
                    "intact; if the cause lies in ontoweir, report it with this message",
                ) from error
        raise AssertionError

    def close(self) -> None:
        """Forget what was sent."""
        for packed in self.packed.values():
            packed.destroy()


def _pack(work: ExecutionContext, folder: Path) -> bytes:
    """A query as tasks get it: keys over whole streams are watched in the driver; its large static
    relations, which are not those of other queries where they are views, are in a folder of it."""
    _make_folder(folder)
    sent = replace(work, watched=(), histories=list_histories(work))
    try:
        return pickle.dumps(store_statics(sent, folder))
    except OSError as error:
        raise _unwritable(folder, error) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sync_file(folder.parent)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> RunError:
    return RunError(
        f"{folder} cannot be written: {error.strerror or error}",
        why="executors and the driver exchange states and static relations there",
        fix="make room, or mend the disk, and start again: what was committed is intact",
    )
