"""Run the tasks of a replay as one Spark job, looking after them meanwhile."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.division.store_statics import store_statics
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.replay.ranges.replay_range import (
    RangeOutcome,
    RangeTask,
    replay_range,
    unpack_outcome,
)
from ontoweir.runtime.replay.ranges.scan_ranges import RunTasks
from ontoweir.runtime.spark.explain_java import describe_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PAUSE = 0.03
"""Seconds between two looks at what the tasks have written."""


@contextmanager
def on_spark(spark: "SparkSession", work: ExecutionContext, folder: Path) -> Iterator[RunTasks]:
    """What runs tasks as Spark jobs; large static relations are handed over in `folder`."""
    packed: Any = spark.sparkContext.broadcast(pickle.dumps(store_statics(work, folder)))
    try:
        yield lambda tasks, on_progress: run_ranges(spark, work.key, packed, tasks, on_progress)
    finally:
        packed.destroy()


def run_ranges(
    spark: "SparkSession",
    key: str,
    packed: Any,
    tasks: Sequence[RangeTask],
    on_progress: Callable[[], None],
) -> list[RangeOutcome]:
    """One Spark job, one task for each range; `on_progress` is called periodically until it ends.

    Raises:
        OntoweirError: a task ended with it; of several the one of the earliest range.
        RunError: Spark failed.
    """
    context = spark.sparkContext
    items = [pickle.dumps(task) for task in tasks]

    def work() -> list[bytes]:
        context.setJobGroup(key, "ontoweir replay", interruptOnCancel=True)
        ranges = context.parallelize(items, len(items))
        return ranges.map(lambda item: replay_range(key, packed, item)).collect()

    with ThreadPoolExecutor(1) as pool:
        packed_outcomes = await_job(
            pool.submit(work), on_progress, lambda: context.cancelJobGroup(key)
        )
    return [unpack_outcome(item) for item in packed_outcomes]


def await_job(
    job: "Future[list[bytes]]", on_progress: Callable[[], None], cancel: Callable[[], object]
) -> list[bytes]:
    """What a job returns; `on_progress` is called periodically, `cancel` if that is interrupted.

    Raises:
        RunError: Spark failed.
    """
    try:
        while not job.done():
            wait([job], timeout=_PAUSE)
            on_progress()
    except BaseException:
        cancel()
        raise
    try:
        return job.result()
    except OntoweirError:
        raise
    except Exception as error:
        lines = [x.strip() for x in str(error).splitlines() if x.strip()]
        cause = next((x for x in reversed(lines) if "Error" in x and "at org." not in x), "")
        raise RunError(
            f"a Spark task failed: {(cause or describe_cause(error))[:400]}",
            why="the replay cannot go on without it",
            fix="see Spark's log; if the cause lies in ontoweir, report it with this message",
        ) from error
