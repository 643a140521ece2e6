"""Run the tasks of a replay in this process: of a history so small that none is distributed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.replay.keep_pages import keep_pages
from ontoweir.runtime.replay.ranges.replay_range import (
    RangeOutcome,
    RangeTask,
    prepare_work,
    run_task,
)
from ontoweir.runtime.replay.ranges.run_aside import run_aside
from ontoweir.runtime.replay.ranges.scan_ranges import RunTasks
from ontoweir.runtime.verified.watch_rejects import RejectWatch


@contextmanager
def in_process(work: ExecutionContext, watch: RejectWatch | None = None) -> Iterator[RunTasks]:
    """What runs tasks here, one after the other, by the same code as in Spark's workers.

    Args:
        work: the run.
        watch: is shown which rows are rejected.

    Raises:
        RunError: a file cannot be read or written, or memory is short.
    """
    keep_pages()
    prepared = replace(prepare_work(work), watch=watch)

    def run(tasks: Sequence[RangeTask], on_progress: Callable[[], None]) -> list[RangeOutcome]:
        try:
            return [run_aside(partial(run_task, prepared, task), on_progress) for task in tasks]
        except BrokenPipeError:
            raise  # whoever read the answers has enough of them
        except (OSError, MemoryError, pa.ArrowException) as error:
            raise RunError(
                f"the replay failed: {str(error)[:300] or 'memory is short'}",
                why="a short history is replayed in this process, which reads and writes files",
                fix="make room, or restore what is missing, and start again",
            ) from error

    yield run
