"""`ontoweir ui`."""

import argparse
from contextlib import suppress
from pathlib import Path
from typing import Any

from ontoweir.commands.common.arguments import add_project_arguments, add_registry_argument
from ontoweir.commands.operate.token_option import add_token_argument
from ontoweir.errors import UsageError


def add_ui(commands: Any) -> None:
    """Add `ui` to the commands."""
    ui = commands.add_parser(
        "ui",
        help="serve the dashboard: verdicts, reasons and running queries as web pages",
        epilog="example: ontoweir ui examples/traffic --listen 4080",
    )
    add_project_arguments(ui)
    ui.add_argument(
        "--listen",
        default="4080",
        metavar="[HOST:]PORT",
        help="address to listen on (default: 127.0.0.1:4080; port 0: any free port)",
    )
    add_registry_argument(ui)
    ui.add_argument(
        "--metrics", metavar="FOLDER", help="folder of metrics.jsonl (default: out/answers)"
    )
    ui.add_argument(
        "--answers",
        metavar="FOLDER",
        help="folder that a run without a registry writes answers to (default: that of --metrics)",
    )
    add_token_argument(ui)
    ui.add_argument(
        "--time-limit",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="the longest time of a check (default: 30)",
    )
    ui.set_defaults(run=_ui)


def _ui(args: argparse.Namespace) -> int:
    from ontoweir.commands.operate.serve_ui import RunPlace, serve_ui
    from ontoweir.project.project import load_project

    if not 0 < args.time_limit < 86_400:
        raise UsageError(
            f"--time-limit {args.time_limit:g} is not between 0 and a day",
            why="a check needs time, and other checks wait for it",
            fix="write e.g. --time-limit 30",
        )
    root = load_project(Path(args.project), overrides=args.set).root
    metrics = Path(args.metrics) if args.metrics else root / "out" / "answers"
    place = RunPlace(metrics, Path(args.answers) if args.answers else metrics)
    serving = serve_ui(args, args.listen, "--listen", root, run=place, limit=args.time_limit)
    with serving as wait, suppress(KeyboardInterrupt):
        wait()
    return 0
