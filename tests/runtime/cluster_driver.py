"""A replay on a cluster of two workers; test_two_workers.py runs it in a process of its own.

    python -m tests.runtime.cluster_driver FOLDER

FOLDER holds a project; writes FOLDER/two.parquet, prints the summary and the workers' processes.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from ontoweir.project.project import load_project
from ontoweir.runtime.replay.ranges import replay_range
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.spark.start_session import start_session
from tests.java_archive import EXECUTORS
from tests.runtime.harness import make_sql_job


def main() -> None:
    """Replay twice: once on both workers, once in one range."""
    folder = Path(sys.argv[1])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.master": "local-cluster[2,1,512]", "spark.executor.memory": "512m"}
    settings |= EXECUTORS
    spark = start_session(settings)
    job = make_sql_job((folder / "q.sql").read_text(), load_project(folder, environ={}).catalog)
    found = []
    for name, ranges in (("two", 2), ("one", 1)):
        output = folder / f"{name}.parquet"
        request = ReplayRequest(output, "parquet", rows_per_range=100, ranges=ranges)
        summary = replay_history(job, request, spark=spark)
        found.append(asdict(summary))
    # which executors have replayed ranges: their Python workers remember the last run
    executors = spark.sparkContext.parallelize(range(2), 2).map(
        lambda _: (os.environ["SPARK_EXECUTOR_DIRS"], len(replay_range._prepared))
    )
    print(json.dumps({"summaries": found, "executors": executors.collect()}))
    spark.stop()


if __name__ == "__main__":
    main()
