"""`ontoweir measure`."""

import argparse
import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import add_project_arguments
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import report_all_refused
from ontoweir.errors import OntoweirError, QueryError, UsageError

if TYPE_CHECKING:
    from ontoweir.measuring.measure_project import Measurement
    from ontoweir.pipeline.pipeline import CompiledQuery, Workspace


def add_measure(commands: Any) -> None:
    """Add `measure` to the commands."""
    measure = commands.add_parser(
        "measure",
        help="say what holds of the data at hand, what of that could be declared, and which "
        "queries it would make bounded",
        epilog="example: ontoweir measure examples/traffic",
    )
    add_project_arguments(measure)
    asked = measure.add_mutually_exclusive_group()
    asked.add_argument(
        "--for",
        dest="query",
        metavar="QUERY",
        help="only the streams of this query, and what it needs to be bounded",
    )
    asked.add_argument("--sql", metavar="FILE|SQL", help="the same for plain SQL over the catalog")
    measure.add_argument("--format", choices=("text", "json", "html"), default="text")
    measure.add_argument(
        "--write",
        action="store_true",
        help="write what loses no row into the project file; with --for or --sql, only what the "
        "query needs",
    )
    measure.set_defaults(run=_measure)


def _measure(args: argparse.Namespace) -> int:
    from rich.console import Console

    from ontoweir.measuring.describe_measurement import describe_measurement
    from ontoweir.measuring.measure_project import measure_project
    from ontoweir.measuring.render_measurement import render_measurement
    from ontoweir.measuring.show_measurement import print_measurement
    from ontoweir.pipeline.read_text import read_project
    from ontoweir.progress.show_replay import show_replay

    workspace, warnings = open_workspace(args)
    catalog = workspace.project.catalog
    refused: list[OntoweirError] = []
    with report_all_refused(workspace):
        compiled = _compile(workspace, args, refused)
    with show_replay("measuring") as progress:
        measurement = measure_project(
            workspace, compiled, _spark, progress=None if args.quiet else progress
        )
    warnings.release()
    text = read_project(catalog.file) or ""
    if args.format == "html":
        title = workspace.project.root.name
        print(render_measurement(measurement, catalog, text, title), end="")
    elif args.format == "json":
        print(json.dumps(describe_measurement(measurement, text), indent=2, ensure_ascii=False))
    else:
        print_measurement(measurement, catalog, text, Console(highlight=False))
    for error in refused:
        print(error, file=sys.stderr)
    if refused:
        return refused[0].exit_code
    if args.write:
        asked = args.query is not None or args.sql is not None
        _write(measurement, Path(catalog.file), text, needed=asked)
    return 0


def _compile(
    workspace: "Workspace", args: argparse.Namespace, refused: list[OntoweirError]
) -> "list[CompiledQuery]":
    """The queries that are asked about; of several, those that are wrong join the refused ones,
    and the others are measured for."""
    if args.sql is not None:
        return [workspace.compile_sql(Path(args.sql))]
    if args.query is not None:
        return [workspace.compile(args.query)]
    compiled = []
    for name in workspace.query_names():
        try:
            compiled.append(workspace.compile(name))
        except QueryError as error:
            refused.append(error)
    return compiled


def _write(measurement: "Measurement", file: Path, text: str, *, needed: bool) -> None:
    """Write declarations into the project file.

    Raises:
        UsageError: there is no simple place for one.
    """
    from ontoweir.files.replace_file import replace_file
    from ontoweir.measuring.declared import SetLateness, SetRate
    from ontoweir.measuring.write_declarations import write_declarations

    wanted = {p.declared for remedy in measurement.remedies for p in remedy.needed}
    chosen = [
        j.proposed
        for j in measurement.judged
        if not j.proposed.loses and (not j.proposed.asked or j.proposed.declared in wanted)
    ]
    if needed:
        # what is needed to read the data, too: a lateness, and the rate that it rests on
        reading = (SetLateness, SetRate)
        chosen = [p for p in chosen if p.declared in wanted or isinstance(p.declared, reading)]
    changed, left = write_declarations(text, [p.declared for p in chosen])
    if left:
        raise UsageError(
            f"{len(left)} declarations have no simple place in {file}",
            why="only small changes are made, comments stay",
            fix="paste the lines that are shown; nothing was written",
        )
    if changed != text:
        replace_file(file, changed.encode("utf-8"))
    print(f"{len(chosen)} declarations are written to {file}", file=sys.stderr)


@cache
def _spark() -> Any:
    """A session, where a source needs it."""
    from ontoweir.runtime.spark.start_session import start_session

    return start_session({})
