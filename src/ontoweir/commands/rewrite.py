"""`ontoweir rewrite`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ontoweir.commands.arguments import add_project_arguments, read_output
from ontoweir.commands.hold_warnings import Warnings
from ontoweir.commands.open_workspace import open_workspace
from ontoweir.errors import UsageError


def add_rewrite(commands: Any) -> None:
    """Add `rewrite` to the commands."""
    rewrite = commands.add_parser(
        "rewrite",
        help="what each stage made of a query",
        epilog="example: ontoweir rewrite examples/traffic --query how-often-congestion-got-worse "
        "--show sql",
    )
    add_project_arguments(rewrite)
    rewrite.add_argument("--query", required=True, metavar="NAME")
    stages = ("ucq", "sql", "spj", "lto", "plan", "trace", "graph")
    rewrite.add_argument("--show", choices=stages, required=True)
    rewrite.add_argument("--output", metavar="FILE.svg", help="graph: the file to write")
    rewrite.add_argument("--format", choices=("text", "json"), default="text")
    rewrite.add_argument("--ontology", action="append", help="ucq: without a project")
    rewrite.add_argument("--dialect", default="spark", help="of the SQL (default: spark)")
    rewrite.add_argument(
        "--limit", type=int, default=100, help="lto: print at most so many (default: 100)"
    )
    rewrite.set_defaults(run=_rewrite)


def _rewrite(given: argparse.Namespace) -> int:
    from ontoweir.report.show_stage import show_stage

    lines: Sequence[str]
    if given.show == "graph" or given.output is not None:
        return _draw(given)
    if given.ontology:
        from ontoweir.report.show_stage import show_ontology_alone

        if given.show != "ucq":
            raise UsageError(
                f"--ontology cannot show {given.show}",
                why="without a project there are no mappings and no catalog",
                fix="use --show ucq, or name a project",
            )
        from ontoweir.progress.show_work import WorkProgress

        warnings = Warnings(quiet=given.quiet)
        name, lines, more = show_ontology_alone(
            [Path(f) for f in given.ontology],
            Path(given.query),
            strict=given.strict,
            warn=warnings,
            tell=WorkProgress(quiet=given.quiet),
        )
    else:
        workspace, warnings = open_workspace(given)
        compiled = workspace.compile(given.query)
        name = given.query
        lines, more = show_stage(
            workspace, compiled, given.show, dialect=given.dialect, limit=given.limit
        )
    warnings.release()
    if given.format == "json":
        found = {"query": name, "size": len(lines), "disjuncts": list(lines)}
        if more:
            found["truncated"] = True
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        separator = "\n\n" if given.show in ("spj", "plan") else "\n"
        print(separator.join(lines) if lines else "-- selects nothing")
        if more:
            print(f"-- more than {given.limit}: raise --limit to see them", file=sys.stderr)
    return 0


def _draw(given: argparse.Namespace) -> int:
    """`rewrite --show graph --output F.svg`."""
    from ontoweir.draw.draw_query import draw_query
    from ontoweir.files.write_file import write_file
    from ontoweir.project.refuse_inputs import refuse_inputs

    if given.show != "graph" or given.output is None or given.ontology:
        raise UsageError(
            "--show graph and --output go together, over a project",
            why="graphs are drawn of the unfolded query, into a file; other stages are printed",
            fix="write --show graph --output FILE.svg and no --ontology",
        )
    output = read_output(given.output)
    workspace, warnings = open_workspace(given)
    refuse_inputs(workspace.project, output)
    compiled = workspace.compile(given.query)
    drawn = draw_query(compiled.union, workspace.project.catalog)
    warnings.release()
    write_file(output, drawn)
    return 0
