"""Give tasks to Spark: each advances one part by one step, on an executor."""

import pickle
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import RunError
from ontoweir.runtime.division.store_statics import store_statics
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.live.checkpoint.sync_files import sync_file
from ontoweir.runtime.live.model.divided_state import PartName
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.parts.part_task import list_histories
from ontoweir.runtime.live.parts.run_part import OfferedTasks, run_offered
from ontoweir.runtime.spark.explain_java import describe_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STEP = "step-"
"""How the names of folders begin that have the tasks of a step."""
_TRIES = 3
"""So many times a step is tried whose tasks fail: within one process, Spark tries them once."""


class SparkParts:
    """Runs the tasks of a run's steps; what they need of its queries is sent once."""

    def __init__(self, spark: "SparkSession", job: LiveJob, folder: Path) -> None:
        _make_folder(folder)
        self.context, self.folder = spark.sparkContext, folder
        for left in folder.glob(f"{_STEP}*"):  # a driver that was killed has left it
            shutil.rmtree(left, ignore_errors=True)
        self.run = uuid.uuid4().hex
        self.packed: Mapping[str, Any] = {
            query.name: self.context.broadcast(_pack(query.work, folder / f"statics-{number}"))
            for number, query in enumerate(job.queries)
            if query.name in job.placements
        }

    def __call__(self, tasks: Mapping[PartName, bytes]) -> Mapping[PartName, bytes]:
        """Run tasks, as many at once as there are cores.

        Raises:
            RunError: Spark failed, or the disk does not take the tasks.
        """
        self.context.setJobDescription(f"ontoweir: {', '.join(self.packed)} in {len(tasks)} parts")
        for left in reversed(range(_TRIES)):
            offered = OfferedTasks(self.folder / f"{_STEP}{uuid.uuid4().hex}", tuple(tasks))
            try:
                offered.offer(list(tasks.values()))
            except OSError as error:
                raise _unwritable(offered.folder, error) from error
            try:
                return self._run(offered)
            except Exception as error:
                if left and "cancelled" not in str(error):
                    continue
                raise RunError(
                    f"Spark cannot advance the parts of a step: {describe_cause(error)[:400]}",
                    why="the state of a query is divided among Spark's executors",
                    fix="see Spark's log, mend the cause, and start again: what was committed is "
                    "intact; if the cause lies in ontoweir, report it with this message",
                ) from error
            finally:
                shutil.rmtree(offered.folder, ignore_errors=True)
        raise AssertionError

    def _run(self, offered: OfferedTasks) -> Mapping[PartName, bytes]:
        """What each task returns."""
        run, packed, count = self.run, self.packed, len(offered.parts)
        slots = self.context.parallelize(range(count), count)
        done = dict(slots.map(lambda slot: run_offered(run, packed, offered, slot)).collect())
        return {part: done[number] for number, part in enumerate(offered.parts)}

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
