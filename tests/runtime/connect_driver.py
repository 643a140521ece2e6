"""Replays a query on Spark Connect: its own process, as one has sessions of one kind only.

    python -m tests.runtime.connect_driver FOLDER

FOLDER has an `ontoweir.toml` and `q.sql`. Prints the summaries as JSON: of two ranges on Connect,
of one, of what needs no session, and what is said of a stream that breaks its declarations, and of
a live run.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from ontoweir.errors import OntoweirError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.spark.start_session import start_session
from tests.runtime.harness import make_sql_job


def main(folder: Path) -> None:
    """Replay."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["SPARK_REMOTE"] = "local[2]"
    spark = start_session()
    workspace = Workspace(load_project(folder, environ={}))
    job = make_sql_job((folder / "q.sql").read_text(), workspace.project.catalog)
    told: dict[str, object] = {"module": type(spark).__module__}
    ways: dict[str, dict[str, Any]] = {
        "two": {"engine": "spark", "rows_per_range": 100},
        "one": {"engine": "spark", "ranges": 1},
        "here": {},
    }
    for name, way in ways.items():
        request = ReplayRequest(folder / f"{name}.parquet", "parquet", **way)
        summary = replay_history(job, request, spark=spark)
        told[name] = {n: getattr(summary, n) for n in ("ranges", "tuples", "results", "markers")}
    compiled = workspace.compile_sql(folder / "q.sql")
    options = ReplayOptions(output=folder / "whole.parquet", progress=False, engine="spark")
    told["whole"] = replay_query(workspace, compiled, options, spark)["results"]
    (folder / "b.csv").write_text("ts,k,x\n1970-01-01T00:00:05,1,1\n1970-01-01T00:00:01,1,1\n")
    try:
        replay_query(workspace, compiled, options, spark)
    except OntoweirError as error:
        told["broken"] = str(error)
    for given in (spark, None):
        try:
            live = RunOptions(folder / "live" / "check", folder / "live" / "out", once=True)
            run_queries(workspace, [compiled], live, given)
        except OntoweirError as error:
            told[f"live {given is None}"] = str(error)
    spark.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
