"""A replay on a cluster whose Python workers are killed; test_two_workers.py runs it.

    python -m tests.runtime.killed_workers_driver FOLDER SEED

FOLDER holds a project. Every task's worker kills itself inside the kernel, kill -9, at its first
three attempts. Writes FOLDER/killed-SEED.parquet; prints how many were killed, and the summary.
"""

import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from ontoweir.project.project import load_project
from ontoweir.runtime.replay import run_ranges
from ontoweir.runtime.replay.ranges.replay_range import replay_range
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.spark.start_session import start_session
from tests.java_archive import EXECUTORS
from tests.runtime.harness import make_sql_job
from tests.runtime.kill_at import kill_at

ATTEMPTS = 3
"""How often a task's worker is killed; Spark tries a task four times."""


def replay_and_die(key: str, packed: Any, item: bytes) -> bytes:
    """Take the place of replay_range in a worker."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    attempt = context.attemptNumber()
    folder, seed = Path(os.environ["KILLED"]), os.environ["KILLED_SEED"]
    place = f"{seed}-{context.stageId()}-{context.partitionId()}-{attempt}"

    def die() -> None:
        (folder / place).touch()
        os.kill(os.getpid(), signal.SIGKILL)

    if attempt < ATTEMPTS:
        kill_at("in-kernel", Random(place).randint(1, 40), die)
    try:
        return replay_range(key, packed, item)
    finally:
        sys.setprofile(None)


def main() -> None:
    """Replay in two ranges."""
    folder, seed = Path(sys.argv[1]), sys.argv[2]
    killed = folder / "killed"
    killed.mkdir(exist_ok=True)
    os.environ |= {"KILLED": str(killed), "KILLED_SEED": seed}
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.master": "local-cluster[2,1,512]", "spark.executor.memory": "512m"}
    settings |= EXECUTORS
    spark = start_session(settings)
    job = make_sql_job((folder / "q.sql").read_text(), load_project(folder, environ={}).catalog)
    vars(run_ranges)["replay_range"] = replay_and_die
    output = folder / f"killed-{seed}.parquet"
    request = ReplayRequest(output, "parquet", rows_per_range=100, ranges=2)
    summary = replay_history(job, request, spark=spark)
    kills = len([f for f in killed.iterdir() if f.name.startswith(f"{seed}-")])
    print(json.dumps({"kills": kills, "summary": asdict(summary)}))
    spark.stop()


if __name__ == "__main__":
    main()
