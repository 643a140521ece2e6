"""Run the tasks of a replay on a session of Spark Connect: by mapInArrow, one row for each task.

Connect has no broadcasts and no job groups; the work and the tasks are handed over in files, beside
the output, where tasks write their answers too.
"""

import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.runtime.division.store_statics import store_statics
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.replay.ranges.replay_range import (
    RangeOutcome,
    RangeTask,
    replay_range,
    unpack_outcome,
)
from ontoweir.runtime.replay.ranges.scan_ranges import RunTasks
from ontoweir.runtime.replay.run_ranges import await_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class _Stored:
    """What stands for a broadcast: a file that driver and workers see."""

    file: str

    @property
    def value(self) -> bytes:
        """Its content.

        Raises:
            RunError: it is not there.
        """
        try:
            return Path(self.file).read_bytes()
        except OSError as error:
            raise RunError(
                f"{self.file} is not there, which says what to replay",
                why="driver and workers exchange files in a folder beside the output",
                fix="write --output to a file system that all of them see",
            ) from error


@contextmanager
def on_connect(spark: "SparkSession", work: ExecutionContext, folder: Path) -> Iterator[RunTasks]:
    """What runs tasks by Spark Connect."""
    packed = _Stored(str(folder / "work.pickle"))
    Path(packed.file).write_bytes(pickle.dumps(store_statics(work, folder)))

    def run(tasks: Sequence[RangeTask], on_progress: Callable[[], None]) -> list[RangeOutcome]:
        place = folder / f"tasks-{uuid.uuid4().hex}"
        place.mkdir()
        for number, task in enumerate(tasks):
            (place / str(number)).write_bytes(pickle.dumps(task))
        return _run(spark, work.key, packed, str(place), len(tasks), on_progress)

    yield run


def _run(
    spark: "SparkSession",
    key: str,
    packed: _Stored,
    place: str,
    count: int,
    on_progress: Callable[[], None],
) -> list[RangeOutcome]:
    def replay(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            for number in batch.column(0).to_pylist():
                task = _Stored(f"{place}/{number}").value
                made = pa.array([replay_range(key, packed, task)], pa.binary())
                yield pa.RecordBatch.from_arrays([pa.array([number]), made], ["id", "outcome"])

    def work() -> list[bytes]:
        spark.addTag(key)
        frame = spark.range(0, count, 1, count).mapInArrow(replay, "id long, outcome binary")
        packed_outcomes: list[bytes] = frame.toArrow().sort_by("id").column("outcome").to_pylist()
        return packed_outcomes

    with ThreadPoolExecutor(1) as pool:
        packed_outcomes = await_job(pool.submit(work), on_progress, lambda: spark.interruptTag(key))
    return [unpack_outcome(item) for item in packed_outcomes]
