"""`ontoweir report`."""

import argparse
from pathlib import Path
from typing import Any

from ontoweir.commands.arguments import add_project_arguments
from ontoweir.commands.open_workspace import open_workspace
from ontoweir.commands.render_page import render_page


def add_report(commands: Any) -> None:
    """Add `report` to the commands."""
    report = commands.add_parser(
        "report",
        help="verdicts, reasons, plans and graphs of all queries as one HTML page",
        epilog="example: ontoweir report examples/traffic --output report.html",
    )
    add_project_arguments(report)
    report.add_argument("--query", action="append", metavar="NAME", help="only this query")
    report.add_argument("--output", required=True, metavar="FILE", help="the page to write")
    report.set_defaults(run=_report)


def _report(given: argparse.Namespace) -> int:
    from ontoweir.commands.decide_queries import decide_queries
    from ontoweir.pipeline import require_queries
    from ontoweir.write_file import write_file

    workspace, warnings = open_workspace(given)
    require_queries(workspace)
    decided = decide_queries(workspace, given.query or workspace.query_names(), warnings)
    page = render_page(
        workspace, [d.verdict for d in decided], [d.repairs for d in decided], warnings
    )
    warnings.release()
    write_file(Path(given.output), page)
    return 0
