"""`ontoweir run`."""

import argparse
import json
from typing import Any

from ontoweir.commands.arguments import add_project_arguments
from ontoweir.commands.open_workspace import open_workspace


def add_run(commands: Any) -> None:
    """Add `run` to the commands."""
    from ontoweir.run_options import add_run_options

    run = commands.add_parser(
        "run",
        help="answer queries live, until stopped",
        epilog="example: ontoweir run examples/traffic --query every-reading-above-130 --once",
    )
    add_project_arguments(run)
    run.add_argument(
        "--query", action="append", metavar="NAME", help="only this query (default: all)"
    )
    run.add_argument(
        "--output",
        metavar="FOLDER",
        help="of answers (default: out/answers in the project's folder)",
    )
    run.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="of the run's state; it resumes from it (default: out/checkpoint there)",
    )
    run.add_argument("--once", action="store_true", help="stop when all that is there is read")
    run.add_argument(
        "--every", type=float, default=0.0, metavar="SECONDS", help="between micro-batches"
    )
    run.add_argument("--summary", choices=("text", "json"), default="text")
    add_run_options(run)
    run.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from ontoweir.pipeline import require_queries
    from ontoweir.run_options import read_run_options
    from ontoweir.running import run_queries

    workspace, warnings = open_workspace(given)
    require_queries(workspace)
    compiled = [workspace.compile(name) for name in given.query or workspace.query_names()]
    warnings.release()
    options = read_run_options(given, workspace.project.root)
    summary = run_queries(workspace, compiled, options)
    if given.summary == "json":
        print(json.dumps(summary))
    else:
        print(
            f"{summary['results']:,} results in {options.output}\n"
            f"  {summary['tuples']:,} tuples, {summary['markers']:,} markers, "
            f"{summary['rejected']:,} rejected, {summary['late']:,} of them late\n"
            f"  state: at most {summary['state_rows_max']:,} rows"
        )
    return 0
