"""ontoweir, from the text of a query."""

import json
import os
import sys
from pathlib import Path
from typing import Literal

from ways.queries import EXAMPLE, Run


def ours(
    query: str, folder: Path, settings: list[str], engine: Literal["auto", "spark"] = "auto"
) -> Run:
    """`ontoweir replay`, without the start of Python and Spark: what the first one verified of the
    files is known in the next ones, as on the command line."""
    from ontoweir.cache.open_cache import open_cache
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.project.project import load_project
    from ontoweir.run.replay_query import ReplayOptions, replay_query
    from ontoweir.runtime.spark.start_session import start_session

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = start_session({"spark.master": "local[2]"}) if engine == "spark" else None
    project = load_project(folder if query == "Q" else EXAMPLE, overrides=settings)
    workspace = Workspace(project, cache=open_cache(str(folder / "cache")))
    compiled = workspace.compile_sql(folder / "q.sql") if query == "Q" else workspace.compile(query)

    def run(output: Path) -> None:
        options = ReplayOptions(output=output, progress=False, engine=engine)
        print(json.dumps(replay_query(workspace, compiled, options, spark)), file=sys.stderr)

    return run


def ours_on_spark(query: str, folder: Path, settings: list[str]) -> Run:
    """As ours, by Spark tasks also where the history is short."""
    return ours(query, folder, settings, engine="spark")


def kept(query: str, folder: Path, settings: list[str]) -> Run:
    """As ours, with `keep = true` for all streams: from the second replay on, rows are unpacked."""
    streams = "STU" if query == "Q" else ["traffic"]
    more = [f"streams.{name}.source.keep=true" for name in streams]
    return ours(query, folder, [*settings, *more])
