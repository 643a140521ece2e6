"""`ontoweir register`."""

import argparse
import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ontoweir.commands.common.arguments import (
    add_project_arguments,
    add_registry_argument,
)
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import (
    add_skip_refused,
    describe_refusals,
    report_all_refused,
    report_skipped,
)
from ontoweir.registry.find_registry import find_registry


def add_register(commands: Any) -> None:
    """Add `register` to the commands."""
    register = commands.add_parser(
        "register",
        help="check a query and register it for `ontoweir run`",
        epilog="example: ontoweir register examples/traffic --query every-reading-above-130",
    )
    add_project_arguments(register)
    asked = register.add_mutually_exclusive_group(required=True)
    asked.add_argument("--query", metavar="NAME", help="a query of the project")
    asked.add_argument("--sparql", metavar="FILE", help="a SPARQL query")
    asked.add_argument("--sql", metavar="FILE|SQL", help="plain SQL over the catalog, no ontology")
    register.add_argument("--name", help="name to register (default: its own, or that of its file)")
    add_registry_argument(register)
    register.add_argument(
        "--replace",
        action="store_true",
        help="replace the query of that name, and start from an empty state",
    )
    register.add_argument(
        "--allow-unbounded",
        action="store_true",
        help="register a query that is not bounded: its memory grows with the stream",
    )
    add_skip_refused(register)
    register.add_argument("--format", choices=("text", "json"), default="text")
    register.set_defaults(run=_register)


def _register(args: argparse.Namespace) -> int:
    from ontoweir.pipeline.read_text import read_text
    from ontoweir.project.language_of import language_of
    from ontoweir.registry.register_query import QueryText, register_query
    from ontoweir.registry.registry_entry import summarise_verdict

    workspace, warnings = open_workspace(args)
    if args.query is not None:
        file = workspace.query_file(args.query)
    else:
        file = Path(args.sparql or args.sql)
    name = args.name or args.query or file.stem
    registry = find_registry(args.registry, workspace.project.root)
    language = "sparql" if args.sparql is not None else "sql" if args.sql else language_of(file)
    text = QueryText(name, language, read_text(file), str(file))
    with report_all_refused(workspace):
        entry, what = register_query(
            workspace,
            registry,
            text,
            allow_unbounded=args.allow_unbounded,
            replace=args.replace,
        )
    warnings.release()
    if args.format == "json":
        refused = describe_refusals(workspace)
        print(json.dumps({**asdict(entry), "registration": what, **refused}))
        return report_skipped(workspace)
    print(f"{entry.name}: {summarise_verdict(asdict(entry))}")
    match what:
        case "new":
            pass
        case "replaced":
            print("  the query of that name is replaced: its state is removed")
        case "resumed":
            print("  it resumes with the state that it had when it was dropped")
    run, status = _hints(args)
    print(f"  `ontoweir {run}` serves it; `ontoweir {status}` shows its state")
    return report_skipped(workspace)


def _hints(args: argparse.Namespace) -> tuple[str, str]:
    """The calls that serve what was registered, from the same folder, and show it."""
    here = args.project == "."
    registry = f" --registry {shlex.quote(args.registry)}" if args.registry else ""
    project = shlex.quote(args.project)
    return (
        ("run" if here else f"run {project}") + registry,
        ("status" if here or registry else f"status --project {project}") + registry,
    )
