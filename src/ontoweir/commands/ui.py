"""`ontoweir ui`."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.arguments import add_project_arguments
from ontoweir.errors import UsageError

if TYPE_CHECKING:
    from ontoweir.dashboard.site import Site


def add_ui(commands: Any) -> None:
    """Add `ui` to the commands."""
    ui = commands.add_parser(
        "ui",
        help="the dashboard: verdicts, reasons and running queries as web pages",
        epilog="example: ontoweir ui examples/traffic --listen 4080",
    )
    add_project_arguments(ui)
    ui.add_argument(
        "--listen",
        default="4080",
        metavar="[HOST:]PORT",
        help="where to answer (default: 127.0.0.1:4080; port 0: any that is free)",
    )
    ui.add_argument(
        "--registry",
        metavar="FOLDER",
        help="of registered queries (default: out/registry in the project's folder)",
    )
    ui.add_argument(
        "--metrics", metavar="FOLDER", help="of a run's metrics.jsonl (default: out/answers there)"
    )
    ui.add_argument(
        "--time-limit",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="of a check (default: 30)",
    )
    ui.set_defaults(run=_ui)


def _ui(given: argparse.Namespace) -> int:
    from ontoweir.dashboard.serve import parse_address, require_web, say_where, serve_dashboard

    require_web()
    host, port = parse_address(given.listen, "--listen")
    if not given.time_limit > 0:
        raise UsageError(
            f"--time-limit {given.time_limit:g} is not above 0",
            why="a check needs time",
            fix="write e.g. --time-limit 30",
        )
    site = make_site(given, host)
    with serve_dashboard(site, port) as (url, wait):
        for line in say_where(url, host):
            print(line, file=sys.stderr, flush=True)
        wait()
    return 0


def make_site(given: argparse.Namespace, host: str) -> "Site":
    """What `ontoweir ui` shows.

    Raises:
        OntoweirError: the project is wrong.
    """
    from ontoweir.dashboard.site import Site
    from ontoweir.project import load_project

    project = load_project(Path(given.project), overrides=given.set)
    out = project.root / "out"
    return Site(
        project.file,
        Path(given.registry) if given.registry else out / "registry",
        Path(given.metrics) if given.metrics else out / "answers",
        overrides=tuple(given.set),
        strict=given.strict,
        host=host,
        limit=given.time_limit,
    )
