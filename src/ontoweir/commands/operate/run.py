"""`ontoweir run`."""

import argparse
import gc
import json
import signal
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import (
    add_project_arguments,
    add_registry_argument,
    find_root,
    is_kept,
    list_asked,
)
from ontoweir.commands.common.leave_pandas_out import leave_pandas_out
from ontoweir.commands.common.open_workspace import UNNEEDED, open_workspace
from ontoweir.commands.common.report_refusals import (
    describe_refusals,
    list_refused,
    report_refusals,
    report_skipped,
)
from ontoweir.commands.common.warn_rejects import warn_rejects
from ontoweir.commands.operate.token_option import add_token_argument
from ontoweir.end_on_term import StopEvent
from ontoweir.errors import OntoweirError, Source, UsageError
from ontoweir.registry.find_registry import find_registry

if TYPE_CHECKING:
    from ontoweir.pipeline.pipeline import CompiledQuery, Workspace

_COLLECT = (10_000, 10, 10)
"""After how many new objects garbage is collected in what runs for long: other commands, which are
short, hardly do so, and each micro-batch leaves some that refer to one another."""


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
        help="only this query (default: all registered ones; if none, all of the project)",
    )
    run.add_argument(
        "--sql",
        action="append",
        metavar="FILE|SQL",
        help="plain SQL over the catalog, no ontology (with --query: beside those)",
    )
    add_registry_argument(run)
    run.add_argument(
        "--serve",
        action="store_true",
        help="serve the registry even if it is empty: wait for queries to be registered (as with "
        "--registry)",
    )
    run.add_argument(
        "--output",
        metavar="FOLDER",
        help="folder of answers (default: out/answers in the project's folder; of a query that is "
        "typed out/NAME/answers)",
    )
    run.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="folder of the run's state, to resume from (default: checkpoint beside them); "
        "registered queries have their own",
    )
    run.add_argument("--once", action="store_true", help="stop when all existing data is read")
    run.add_argument(
        "--every",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="least time between micro-batches",
    )
    run.add_argument("--summary", choices=("text", "json"), default="text")
    run.add_argument(
        "--ui",
        metavar="[HOST:]PORT",
        help="also serve the dashboard (host: 127.0.0.1; port 0: any free port)",
    )
    add_token_argument(run)
    run.add_argument(
        "--skip-refused",
        action="store_true",
        help="leave out triples maps with errors, and queries with errors: the others run, with a "
        "checkpoint of their own (exit 1)",
    )
    add_run_options(run)
    run.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from ontoweir.registry.list_entries import list_entries

    registry = find_registry(args.registry, find_root(args.project))
    named = bool(args.query or args.sql)
    if named and (args.serve or args.registry):
        option = "--query" if args.query else "--sql"
        raise UsageError(
            f"{option} does not go with --serve or --registry",
            why="a registry is served as a whole",
            fix=f"leave out {option}, or register the query",
        )
    _place_typed(args)
    registered = bool(list_entries(registry))
    served = args.serve or (not named and (bool(args.registry) or registered))
    if served and not registered:
        _tell(args, f"nothing is registered in {registry} yet: what is, is run then")
    elif not served and args.ui is not None and args.allow_changes:
        _tell(
            args, "what is registered meanwhile waits for a server: run --serve, in place of this"
        )
    if args.ui is None:
        return _serve(args, registry) if served else _run_queries(args)
    from ontoweir.commands.operate.serve_ui import RunPlace, serve_ui

    root = find_root(args.project)
    output = Path(args.output or root / "out" / "answers")
    place = RunPlace(Path(args.metrics or output), output, here=not served)
    with serve_ui(args, args.ui, "--ui", root, run=place):
        return _serve(args, registry) if served else _run_queries(args)


def _tell(args: argparse.Namespace, text: str) -> None:
    if not args.quiet:
        print(text, file=sys.stderr, flush=True)


def _place_typed(args: argparse.Namespace) -> None:
    """Give a single query that is typed folders of its own, where none are named: it has no name
    that another one cannot have."""
    asked = list_asked() if args.query else [Path(text) for text in args.sql or ()]
    if len(asked) != 1 or not is_kept(asked[0]) or len(args.query or ()) > 1:
        return
    if args.query and args.sql:
        return
    folder = find_root(args.project) / "out" / asked[0].stem
    args.output = args.output or str(folder / "answers")
    args.checkpoint = args.checkpoint or str(folder / "checkpoint")


def _run_queries(args: argparse.Namespace) -> int:
    from ontoweir.project.require_queries import require_queries
    from ontoweir.run.run_options import read_run_options
    from ontoweir.run.run_queries import run_queries

    workspace, warnings = open_workspace(args, named_refused=True)
    if not workspace.project.catalog.functions:
        leave_pandas_out()
    texts = [Path(text) for text in args.sql or ()]
    if not texts:
        require_queries(workspace.project)
    names = args.query or (() if texts else workspace.query_names())
    compiled, errors = _compile(workspace, names, texts)
    refused = list_refused(workspace)
    if errors and not (args.skip_refused and compiled):
        return report_refusals([*errors, *refused], skip=False)  # and nothing runs
    if args.skip_refused:
        errors += refused
    for error in () if args.skip_refused else refused:
        warnings(f"{UNNEEDED}{error}")
    warnings.release()
    code = report_refusals(errors, skip=True)
    options = read_run_options(args, workspace.project.root)
    with _Terminated() as stop:
        summary = run_queries(workspace, compiled, options, stop=stop)
    _print(args, {**summary, **describe_refusals(workspace, compiled)}, options.output)
    return code


def _compile(
    workspace: "Workspace", names: Sequence[str], texts: Sequence[Path]
) -> "tuple[list[CompiledQuery], list[OntoweirError]]":
    """Queries of the project, and files of SQL, each for itself, and why others are refused.

    Raises:
        OntoweirError: there is no such query, or what all rest on is wrong.
    """
    for name in names:
        workspace.query_file(name)
    assert not names or workspace.mappings is not None
    compiled: list[CompiledQuery] = []
    errors: list[OntoweirError] = []
    wanted: list[str | Path] = [*names, *texts]
    for asked in wanted:
        try:
            if isinstance(asked, Path):
                compiled.append(workspace.compile_sql(asked))
            else:
                compiled.append(workspace.compile(asked))
        except OntoweirError as error:
            errors.append(error)
    both = [name for name, count in Counter(q.name for q in compiled).items() if count > 1]
    if both:
        raise UsageError(
            f"two queries are called {both[0]}",
            why="the answers of each are in a folder of that name; SQL is called as its file is",
            fix="rename the file",
            source=Source("--sql"),
        )
    return compiled, errors


def _serve(args: argparse.Namespace, registry: Path) -> int:
    from ontoweir.registry.serving import serve_registry
    from ontoweir.run.run_options import read_run_options

    for option in ("checkpoint", "metrics"):
        if getattr(args, option):
            raise UsageError(
                "it does not go with registered queries",
                why="each has its own folder of the registry",
                fix="leave it out, or name the queries to run with --query",
                source=Source(f"--{option}"),
            )
    seen: list[Workspace] = []

    def opened() -> "Workspace":
        workspace, warnings = open_workspace(args)
        warnings.release()
        seen[:] = [workspace]
        return workspace

    options = replace(read_run_options(args, find_root(args.project)), checkpoint=None)
    more: dict[str, Any] = {"on_event": lambda text: None} if args.quiet else {}
    with _Terminated() as stop:
        summary = serve_registry(opened, registry, options, stop=stop, **more)
    refused = describe_refusals(seen[0]) if seen else {}
    _print(args, {**summary, **refused}, options.output)
    return report_skipped(seen[0]) if seen else 0


def _print(args: argparse.Namespace, summary: dict[str, Any], output: Path) -> None:
    if args.summary == "json":
        print(json.dumps(summary))
    else:
        print(
            f"{summary['results']:,} results in {output}\n"
            f"  {summary['tuples']:,} tuples, {summary['markers']:,} markers, "
            f"{summary['rejected']:,} rejected, {summary['late']:,} of them late\n"
            f"  state: at most {summary['state_rows_max']:,} rows"
        )
        for reason, count in sorted(summary["rejects"].items()) if args.verbose else ():
            print(f"  rejected {count:,}: {reason}")
        for rule, count in summary.get("broken", {}).items():
            print(f"  let in: {count:,} tuples that break a rule ({rule})")
    warn_rejects(summary)


class _Terminated:
    """An event that is set when the process is asked to end (SIGTERM, Ctrl-C)."""

    def __enter__(self) -> StopEvent:
        gc.set_threshold(*_COLLECT)
        self.stop = StopEvent()
        self.before: dict[signal.Signals, Any] = {}
        if threading.current_thread() is threading.main_thread():
            self.before = {s: signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)}
            signal.signal(signal.SIGTERM, self.stop.hear)
        return self.stop

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
