"""`ontoweir drop`."""

import argparse
import json
from typing import Any

from ontoweir.commands.common.arguments import add_registry_argument, find_root
from ontoweir.registry.find_registry import find_registry


def add_drop(commands: Any) -> None:
    """Add `drop` to the commands."""
    drop = commands.add_parser(
        "drop",
        help="remove a query from the registry, and stop its run",
        epilog="example: ontoweir drop every-reading-above-130 --purge",
    )
    drop.add_argument("name", help="the name of the registered query")
    drop.add_argument(
        "--project", default=".", help="the project's folder (default: the current one)"
    )
    add_registry_argument(drop)
    drop.add_argument("--purge", action="store_true", help="also remove its state and its answers")
    drop.add_argument("--format", choices=("text", "json"), default="text")
    drop.set_defaults(run=_drop)


def _drop(args: argparse.Namespace) -> int:
    from ontoweir.registry.drop_query import drop_query

    registry = find_registry(args.registry, find_root(args.project))
    drop_query(registry, args.name, purge=args.purge)
    if args.format == "json":
        print(json.dumps({"name": args.name, "dropped": True, "purged": args.purge}))
        return 0
    print(
        f"{args.name}: dropped, its state and its answers are removed"
        if args.purge
        else f"{args.name}: dropped; its state and its answers are kept"
    )
    return 0
