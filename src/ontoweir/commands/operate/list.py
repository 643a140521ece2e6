"""`ontoweir list`."""

import argparse
import json
from typing import Any

from ontoweir.commands.common.arguments import add_registry_argument, find_root
from ontoweir.registry.find_registry import find_registry


def add_list(commands: Any) -> None:
    """Add `list` to the commands."""
    command = commands.add_parser(
        "list",
        help="list the registered queries",
        epilog="example: ontoweir list examples/traffic",
    )
    command.add_argument(
        "project",
        nargs="?",
        default=".",
        help="the project's folder or file (default: the current folder, or the nearest above it)",
    )
    command.add_argument(
        "--project", dest="named_project", metavar="PROJECT", help="the same, as an option"
    )
    add_registry_argument(command)
    command.add_argument("--format", choices=("text", "json"), default="text")
    command.set_defaults(run=_list)


_FIELDS = (
    *("name", "id", "language", "registered", "allow_unbounded", "state", "error"),
    *("verdict", "tier", "bound_rows", "bound_formula"),
)


def _list(args: argparse.Namespace) -> int:
    from ontoweir.registry.entry_status import read_status
    from ontoweir.registry.list_entries import list_entries
    from ontoweir.registry.registry_entry import summarise_bound

    registry = find_registry(args.registry, find_root(args.project))
    statuses = [read_status(registry, entry) for entry in list_entries(registry)]
    if args.format == "json":
        print(json.dumps([{name: status[name] for name in _FIELDS} for status in statuses]))
        return 0
    if not statuses:
        print(f"no query is registered in {registry}; `ontoweir list PROJECT` looks elsewhere")
        return 0
    width = max(len(s["name"]) for s in statuses)
    for s in statuses:
        bound = summarise_bound(s["verdict"], s["bound_rows"])
        print(f"{s['name']:{width}}  {s['state']:8}  {s['tier']:21}  {bound}")
        if s["error"] is not None:
            print(f"{'':{width}}  {s['error']}")
    return 0
