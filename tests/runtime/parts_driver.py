"""A live run on a cluster of two workers, which are killed; test_spark_parts.py runs it.

    python -m tests.runtime.parts_driver FOLDER

FOLDER holds a history. Every task of the first step kills its worker inside the kernel, kill -9,
at its first two attempts. Prints how many were killed, and which executors have advanced parts.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.parts import spark_parts
from ontoweir.runtime.live.parts.run_part import OfferedTasks, run_offered
from tests.java_archive import EXECUTORS
from tests.runtime.kill_at import kill_at
from tests.runtime.live.test_run_live import open_queries

ATTEMPTS = 2
"""How often a task's worker is killed; Spark tries a task four times."""
NAMES = ("matches", "sums")
"""The queries."""


def run_and_die(
    run: str, packed: Mapping[str, Any], offered: OfferedTasks, slot: int
) -> tuple[int, bytes]:
    """Take the place of run_offered in a worker."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    folder = Path(os.environ["KILLED"])
    place = f"{context.stageId()}-{context.partitionId()}-{context.attemptNumber()}"
    (folder / f"by-{Path(os.environ['SPARK_EXECUTOR_DIRS']).name}").touch()

    def die() -> None:
        (folder / f"killed-{place}").touch()
        os.kill(os.getpid(), signal.SIGKILL)

    if context.attemptNumber() < ATTEMPTS and context.stageId() == 0:
        kill_at("in-kernel", Random(place).randint(1, 40), die)
    try:
        return run_offered(run, packed, offered, slot)
    finally:
        sys.setprofile(None)


def main() -> None:
    """Run to the end."""
    folder = Path(sys.argv[1])
    killed = folder / "killed"
    killed.mkdir()
    os.environ["KILLED"] = str(killed)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.master": "local-cluster[2,1,512]", "spark.executor.memory": "512m"}
    settings |= EXECUTORS
    workspace, compiled = open_queries(folder, list(NAMES))
    vars(spark_parts)["run_offered"] = run_and_die
    options = RunOptions(
        folder / "check", folder / "out", once=True, progress=False, spark=settings, parts=2
    )
    run_queries(workspace, compiled, options)
    names = [file.name for file in killed.iterdir()]
    kills = sum(name.startswith("killed-") for name in names)
    executors = [name for name in names if name.startswith("by-")]
    print(json.dumps({"kills": kills, "executors": executors}))


if __name__ == "__main__":
    main()
