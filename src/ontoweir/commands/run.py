"""`ontoweir run`."""

import argparse
import json
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from ontoweir.commands.arguments import (
    add_project_arguments,
    add_registry_argument,
    find_registry,
    find_root,
)
from ontoweir.commands.open_workspace import open_workspace
from ontoweir.commands.warn_rejects import warn_rejects
from ontoweir.errors import Source, UsageError


def add_run(commands: Any) -> None:
    """Add `run` to the commands."""
    from ontoweir.run.run_options import add_run_options

    run = commands.add_parser(
        "run",
        help="answer queries live, until stopped",
        epilog="example: ontoweir run examples/traffic --query every-reading-above-130 --once",
    )
    add_project_arguments(run)
    run.add_argument(
        "--query",
        action="append",
        metavar="NAME",
        help="only this query (default: all that are registered; all of the project, if none is)",
    )
    add_registry_argument(run)
    run.add_argument(
        "--serve",
        action="store_true",
        help="serve the registry although it is empty: wait for queries to be registered",
    )
    run.add_argument(
        "--output",
        metavar="FOLDER",
        help="of answers (default: out/answers in the project's folder)",
    )
    run.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="of the run's state; it resumes from it (default: out/checkpoint there); registered "
        "queries have their own",
    )
    run.add_argument("--once", action="store_true", help="stop when all that is there is read")
    run.add_argument(
        "--every", type=float, default=0.0, metavar="SECONDS", help="between micro-batches"
    )
    run.add_argument("--summary", choices=("text", "json"), default="text")
    run.add_argument(
        "--ui",
        metavar="[HOST:]PORT",
        help="serve the dashboard meanwhile (host: 127.0.0.1; port 0: any that is free)",
    )
    add_run_options(run)
    run.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from ontoweir.registry.list_entries import list_entries

    registry = find_registry(given, find_root(given.project))
    if given.query and (given.serve or given.registry):
        raise UsageError(
            "--query does not go with --serve or --registry",
            why="a registry is served as a whole",
            fix="leave out --query, or register what is to run",
        )
    served = given.serve or (not given.query and bool(list_entries(registry)))
    if given.ui is None:
        return _serve(given, registry) if served else _run_queries(given)
    from ontoweir.commands.serve_ui import serve_ui

    root = find_root(given.project)
    metrics = Path(given.metrics or given.output or root / "out" / "answers")
    with serve_ui(given, given.ui, "--ui", root, metrics=metrics, running=not served):
        return _serve(given, registry) if served else _run_queries(given)


def _run_queries(given: argparse.Namespace) -> int:
    from ontoweir.pipeline.pipeline import require_queries
    from ontoweir.run.run_options import read_run_options
    from ontoweir.run.running import run_queries

    workspace, warnings = open_workspace(given)
    require_queries(workspace)
    compiled = [workspace.compile(name) for name in given.query or workspace.query_names()]
    warnings.release()
    options = read_run_options(given, workspace.project.root)
    with _Terminated() as stop:
        summary = run_queries(workspace, compiled, options, stop=stop)
    _print(given, summary, options.output)
    return 0


def _serve(given: argparse.Namespace, registry: Path) -> int:
    from ontoweir.registry.serving import serve_registry
    from ontoweir.run.run_options import read_run_options

    for option in ("checkpoint", "metrics"):
        if getattr(given, option):
            raise UsageError(
                f"--{option} does not go with registered queries",
                why="each has its own, in its folder of the registry",
                fix="leave it out, or name the queries to run with --query",
                source=Source(f"--{option}"),
            )

    def opened() -> Any:
        workspace, warnings = open_workspace(given)
        warnings.release()
        return workspace

    options = replace(read_run_options(given, find_root(given.project)), checkpoint=None)
    more: dict[str, Any] = {"tell": lambda text: None} if given.quiet else {}
    with _Terminated() as stop:
        summary = serve_registry(opened, registry, options, stop=stop, **more)
    _print(given, summary, options.output)
    return 0


def _print(given: argparse.Namespace, summary: dict[str, Any], output: Path) -> None:
    if given.summary == "json":
        print(json.dumps(summary))
    else:
        print(
            f"{summary['results']:,} results in {output}\n"
            f"  {summary['tuples']:,} tuples, {summary['markers']:,} markers, "
            f"{summary['rejected']:,} rejected, {summary['late']:,} of them late\n"
            f"  state: at most {summary['state_rows_max']:,} rows"
        )
        for reason, count in sorted(summary["rejects"].items()) if given.verbose else ():
            print(f"  rejected {count:,}: {reason}")
    warn_rejects(summary)


class _Terminated:
    """An event that is set when the system asks the process to end (SIGTERM)."""

    def __enter__(self) -> threading.Event:
        self.stop = threading.Event()
        self.before: Any = None
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGTERM, lambda *_: self.stop.set())
        return self.stop

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)
