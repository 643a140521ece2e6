"""`ontoweir run`."""

import argparse
import json
from pathlib import Path
from typing import Any

from ontoweir.commands.arguments import add_project_arguments
from ontoweir.commands.open_workspace import open_workspace


def add_run(commands: Any) -> None:
    """Add `run` to the commands."""
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
    run.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from ontoweir.pipeline import require_queries
    from ontoweir.running import RunOptions, run_queries

    workspace, warnings = open_workspace(given)
    require_queries(workspace)
    compiled = [workspace.compile(name) for name in given.query or workspace.query_names()]
    warnings.release()
    root = workspace.project.root
    options = RunOptions(
        checkpoint=Path(given.checkpoint) if given.checkpoint else root / "out" / "checkpoint",
        output=Path(given.output) if given.output else root / "out" / "answers",
        once=given.once,
        seconds=given.every,
        progress=not given.quiet,
    )
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
