"""`ontoweir status`."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ontoweir.commands.common.arguments import add_registry_argument, find_root
from ontoweir.dashboard.show_numbers import show_disk, show_lag
from ontoweir.registry.find_registry import find_registry
from ontoweir.registry.registry_entry import summarise_verdict


def add_status(commands: Any) -> None:
    """Add `status` to the commands."""
    status = commands.add_parser(
        "status",
        help="show registered queries: rows kept against the bound, rejected rows, lag",
        epilog="example: ontoweir status --registry out/registry every-reading-above-130",
    )
    status.add_argument(
        "name", nargs="?", help="only this query (default: all); or a project's folder"
    )
    status.add_argument(
        "--project", default=".", help="the project's folder or file (default: the current folder)"
    )
    add_registry_argument(status)
    status.add_argument(
        "--check",
        action="store_true",
        help="exit with 3 if a query has failed or its server has died (for supervisors)",
    )
    status.add_argument("--format", choices=("text", "json"), default="text")
    status.set_defaults(run=_status)


def _status(args: argparse.Namespace) -> int:
    from ontoweir.registry.entry_status import read_status
    from ontoweir.registry.list_entries import find_entry, list_entries

    name, project = args.name, args.project
    if name is not None and project == "." and _is_project(name):
        name, project = None, name  # as `list` and `register` are called
    registry = find_registry(args.registry, find_root(project))
    entries = list_entries(registry) if name is None else [find_entry(registry, name)]
    statuses = [read_status(registry, entry) for entry in entries]
    broken = args.check and any(s["state"] in ("failed", "died") for s in statuses)
    if args.format == "json":
        print(json.dumps(statuses if name is None else statuses[0]))
        return 3 if broken else 0
    if not statuses:
        print(f"no query is registered in {registry}; --project names another project's folder")
    for status in statuses:
        print("\n".join(_lines(status)))
    return 3 if broken else 0


def _is_project(name: str) -> bool:
    path = Path(name)
    return path.name == "ontoweir.toml" or (path / "ontoweir.toml").is_file()


def _lines(status: Mapping[str, Any]) -> Iterator[str]:
    yield f"{status['name']}: {status['state']}"
    if status["error"] is not None:
        yield f"  {status['error']}"
    yield f"  {summarise_verdict(status)}"
    shared = status.get("shared_rows", 0)
    with_others = f", {shared:,} of them kept once for several queries" if shared else ""
    most = status["bound_bytes"]
    held = f"{status['state_bytes']:,} bytes"
    held += "" if most is None else f" of at most {most:,}, without texts"
    yield f"  state: {status['state_rows']:,} rows{with_others}; {held}"
    yield (
        f"  {status['tuples']:,} tuples, {status['markers']:,} markers, "
        f"{status['results']:,} results, {status['rejected']:,} rejected"
    )
    for reason, count in sorted(status["rejects"].items()):
        yield f"    {count:,}: {reason}"
    if status["on_disk"]:
        yield f"  {show_disk(status['on_disk'])}"
    for limit in status["limits"]:
        shown = limit["shown"]
        yield (
            f"  {limit['stream']}: {limit['rule']}: {shown['in_use']} in use, "
            f"{shown['observed']} observed"
        )
    for rule in status["rules"]:
        if rule["broken"] is not None:
            yield f"  {rule['broken']:,} that break a rule let in: {rule['rule']}"
    if status["batch"] is not None:
        yield f"  micro-batch {status['batch']}, all up to {status['finished'] or 'nothing'} done"
    if status["lag_seconds"] is not None:
        behind = status["behind_seconds"]
        newest = "" if behind is None else f", {show_lag(behind)} behind its newest row"
        yield f"  {show_lag(status['lag_seconds'])} behind the clock{newest}"
    if status["answers"]:
        yield f"  answers: {status['answers']}"
