"""`ontoweir rewrite`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import add_project_arguments, read_output
from ontoweir.commands.common.hold_warnings import Warnings
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import (
    add_skip_refused,
    describe_refusals,
    report_all_refused,
    report_skipped,
)
from ontoweir.errors import UsageError

if TYPE_CHECKING:
    from ontoweir.pipeline.compiled_query import CompiledQuery
    from ontoweir.pipeline.pipeline import Workspace


def add_rewrite(commands: Any) -> None:
    """Add `rewrite` to the commands."""
    rewrite = commands.add_parser(
        "rewrite",
        help="show a query after each stage of rewriting",
        epilog="example: ontoweir rewrite examples/traffic --query how-often-congestion-got-worse "
        "--show sql",
    )
    add_project_arguments(rewrite)
    asked = rewrite.add_mutually_exclusive_group(required=True)
    asked.add_argument("--query", metavar="NAME")
    asked.add_argument("--sql", metavar="FILE|SQL", help="plain SQL over the catalog, no ontology")
    stages = ("ucq", "sql", "spj", "lto", "plan", "trace", "graph")
    rewrite.add_argument("--show", choices=stages, required=True)
    rewrite.add_argument("--output", metavar="FILE.svg", help="graph: the file to write")
    rewrite.add_argument("--format", choices=("text", "json"), default="text")
    rewrite.add_argument("--ontology", action="append", help="ucq: a file, without a project")
    rewrite.add_argument("--dialect", default="spark", help="SQL dialect (default: spark)")
    rewrite.add_argument(
        "--limit", type=int, default=100, help="lto: print at most this many (default: 100)"
    )
    add_skip_refused(rewrite)
    rewrite.set_defaults(run=_rewrite)


def _rewrite(args: argparse.Namespace) -> int:
    from ontoweir.report.show_stage import show_stage

    lines: Sequence[str]
    refused: dict[str, Any] = {}
    workspace: Workspace | None = None
    if args.show == "graph" or args.output is not None:
        return _draw(args)
    if args.ontology:
        from ontoweir.report.show_stage import show_ontology_alone

        if args.sql is not None:
            raise UsageError(
                "--ontology cannot rewrite SQL",
                why="SQL is over the catalog's tables, and has no words of an ontology",
                fix="name a file of SPARQL with --query",
            )
        if args.show != "ucq":
            raise UsageError(
                f"--ontology cannot show {args.show}",
                why="without a project there are no mappings and no catalog",
                fix="use --show ucq, or name a project",
            )
        from ontoweir.progress.show_phases import QueryProgress

        warnings = Warnings(quiet=args.quiet, verbose=args.verbose)
        name, lines, more = show_ontology_alone(
            [Path(f) for f in args.ontology],
            Path(args.query),
            strict=args.strict,
            warn=warnings,
            on_progress=QueryProgress(quiet=args.quiet),
        )
    else:
        workspace, warnings = open_workspace(args)
        with report_all_refused(workspace):
            compiled = _compile(workspace, args)
        name = args.query if args.sql is None else Path(args.sql).stem
        lines, more = show_stage(
            workspace, compiled, args.show, dialect=args.dialect, limit=args.limit
        )
        refused = describe_refusals(workspace, [compiled])
    warnings.release()
    if args.format == "json":
        description = {"query": name, "size": len(lines), "disjuncts": list(lines), **refused}
        if more:
            description["truncated"] = True
        print(json.dumps(description, indent=2, ensure_ascii=False))
    else:
        separator = "\n\n" if args.show in ("spj", "plan") else "\n"
        print(separator.join(lines) if lines else "-- selects nothing")
        if more:
            print(f"-- more than {args.limit}: raise --limit to see them", file=sys.stderr)
    return 0 if workspace is None else report_skipped(workspace)


def _compile(workspace: "Workspace", args: argparse.Namespace) -> "CompiledQuery":
    if args.sql is not None:
        return workspace.compile_sql(Path(args.sql))
    return workspace.compile(args.query)


def _draw(args: argparse.Namespace) -> int:
    """`rewrite --show graph --output F.svg`."""
    from ontoweir.draw.draw_query import draw_query
    from ontoweir.files.require_ending import require_ending
    from ontoweir.files.write_file import write_file
    from ontoweir.project.refuse_inputs import refuse_inputs

    if args.show != "graph" or args.output is None or args.ontology:
        raise UsageError(
            "--show graph and --output go together, over a project",
            why="graphs are drawn of the unfolded query, into a file; other stages are printed",
            fix="write --show graph --output FILE.svg and no --ontology",
        )
    output = read_output(args.output)
    require_ending(output, (".svg",), "name a .svg, which browsers and most programs convert")
    workspace, warnings = open_workspace(args)
    refuse_inputs(workspace.project, output)
    with report_all_refused(workspace):
        compiled = _compile(workspace, args)
    drawn = draw_query(compiled.union, workspace.project.catalog)
    warnings.release()
    write_file(output, drawn)
    return report_skipped(workspace)
