"""`ontoweir report`."""

import argparse
from pathlib import Path
from typing import Any

from ontoweir.commands.common.arguments import (
    add_project_arguments,
    add_registry_argument,
    choose_channel,
    read_output,
)
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import report_refusals
from ontoweir.commands.design.render_page import render_page
from ontoweir.errors import UsageError
from ontoweir.registry.find_registry import find_registry


def add_report(commands: Any) -> None:
    """Add `report` to the commands."""
    report = commands.add_parser(
        "report",
        help="write verdicts, reasons, plans and graphs of all queries as one HTML page",
        epilog="example: ontoweir report examples/traffic --output report.html",
    )
    add_project_arguments(report)
    report.add_argument("--query", action="append", metavar="NAME", help="only this query")
    report.add_argument("--output", required=True, metavar="FILE", help="the page to write")
    report.add_argument(
        "--skip-refused",
        action="store_true",
        help="write the page even if queries or mappings are refused; it shows them (exit 1)",
    )
    report.add_argument(
        "--live", action="store_true", help="include the state of running and past queries"
    )
    add_registry_argument(report)
    report.add_argument(
        "--metrics",
        metavar="FOLDER",
        help="--live: folder of metrics.jsonl (default: out/answers in the project's folder)",
    )
    report.set_defaults(run=_report)


def _report(args: argparse.Namespace) -> int:
    from ontoweir.commands.common.decide_queries import decide_queries
    from ontoweir.files.require_ending import require_ending
    from ontoweir.files.write_file import write_file
    from ontoweir.pipeline.refused_query import RefusedQuery
    from ontoweir.project.refuse_inputs import refuse_inputs
    from ontoweir.project.require_queries import require_queries

    if (args.registry or args.metrics) and not args.live:
        raise UsageError(
            f"--{'registry' if args.registry else 'metrics'} without --live",
            why="it names the folder of running queries",
            fix="add --live",
        )
    output = read_output(args.output)
    require_ending(output, (".html", ".htm", ".xhtml"), "name a .html, which browsers print as PDF")
    workspace, warnings = open_workspace(args, named_refused=True)
    refuse_inputs(workspace.project, output)
    require_queries(workspace.project)
    names = args.query or workspace.query_names()
    decided = decide_queries(workspace, names, warnings, lambda outcome: outcome)
    errors = [d.error for d in decided if isinstance(d, RefusedQuery)]
    errors += [r.error for r in workspace.mappings.refused]
    if errors and not args.skip_refused:
        return report_refusals(errors, skip=False)  # and nothing is written
    live = _render_live(args, workspace.project.root) if args.live else None
    page = render_page(workspace, decided, warnings, live)
    warnings.release()
    write_file(output, page)
    if not args.quiet:
        count = len(decided)
        line = f"{args.output}: a page of {count} quer{'y' if count == 1 else 'ies'}"
        print(line, file=choose_channel(output))
    return report_refusals(errors, skip=True)


def _render_live(args: argparse.Namespace, root: Path) -> dict[str, str]:
    """A section for each query that runs or ran; with --query, for these alone."""
    from ontoweir.dashboard.read_runs import read_runs
    from ontoweir.dashboard.render_run import render_run

    metrics = Path(args.metrics) if args.metrics else root / "out" / "answers"
    runs = read_runs(find_registry(args.registry, root), metrics)
    names = args.query or list(runs)
    return {name: render_run(runs[name]) for name in names if name in runs}
