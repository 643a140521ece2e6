"""`ontoweir plot`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import add_project_arguments, choose_channel, read_output
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import report_all_refused
from ontoweir.errors import DataError, Source, UsageError

if TYPE_CHECKING:
    from ontoweir.draw.draw_chart import Chart
    from ontoweir.pipeline.pipeline import CompiledQuery, Workspace

KINDS = ("answers", "state", "throughput", "witness", "graph")
SIZE, MAX_SIZE = 16, 64
"""Tuples of a counterexample; the most that are confirmed in reasonable time."""


def add_plot(commands: Any) -> None:
    """Add `plot` to the commands."""
    plot = commands.add_parser(
        "plot",
        help="draw a query: answers, rows kept and their bound, throughput, counterexample, graphs",
        epilog="examples: `ontoweir plot examples/traffic --show witness --query "
        "how-often-congestion-got-worse --output witness.svg`; "
        "of a run: `ontoweir plot examples/traffic --show state --query every-reading-above-130 "
        "--metrics out/answers --output state.svg`",
    )
    add_project_arguments(plot)
    plot.add_argument(
        "--show",
        choices=KINDS,
        required=True,
        help="answers: a number of each, such as an average, over time; state, throughput: over "
        "time; witness: what a counterexample forces an unbounded "
        "query to keep, next to its repaired form; graph: streams in time and their comparisons",
    )
    asked = plot.add_mutually_exclusive_group(required=True)
    asked.add_argument("--query", metavar="NAME")
    asked.add_argument("--sql", metavar="FILE|SQL", help="plain SQL over the catalog, no ontology")
    plot.add_argument("--output", required=True, metavar="FILE.svg", help="the picture to write")
    plot.add_argument(
        "--metrics",
        metavar="FOLDER",
        help="state, throughput: the folder of a run's metrics.jsonl (default: replay the history)",
    )
    plot.add_argument("--from", dest="start", metavar="TIME", help="replay from this time (UTC)")
    plot.add_argument("--to", dest="stop", metavar="TIME", help="replay before this time (UTC)")
    plot.add_argument(
        "--size",
        type=int,
        metavar="N",
        help=f"witness: number of tuples of the counterexample (default: {SIZE})",
    )
    plot.add_argument(
        "--column",
        metavar="NAME",
        help="answers: of numbers (default: the first one with fractions, else the first one)",
    )
    plot.set_defaults(run=_plot)


def _plot(args: argparse.Namespace) -> int:
    from ontoweir.draw.draw_chart import draw_chart_file
    from ontoweir.draw.draw_query import draw_query
    from ontoweir.project.refuse_inputs import refuse_inputs

    _check_options(args)
    _require_svg(read_output(args.output))
    if args.metrics is not None:
        name = args.query if args.query is not None else Path(args.sql).stem
        drawn = draw_chart_file(_chart_run(args.show, name, Path(args.metrics)))
        _write(args, drawn)
        return 0
    workspace, warnings = open_workspace(args)
    refuse_inputs(workspace.project, read_output(args.output))
    if args.sql is not None:
        compiled = workspace.compile_sql(Path(args.sql))
    else:
        with report_all_refused(workspace):
            compiled = workspace.compile(args.query)
    warnings.release()
    if args.show == "graph":
        drawn = draw_query(compiled.union, workspace.project.catalog)
    else:
        drawn = draw_chart_file(_chart(args, workspace, compiled))
    _write(args, drawn)
    return 0


def _require_svg(output: Path) -> None:
    from ontoweir.files.require_ending import require_ending

    require_ending(output, (".svg",), "name a .svg, which browsers and most programs convert")


def _chart(args: argparse.Namespace, workspace: "Workspace", compiled: "CompiledQuery") -> "Chart":
    """A chart of a replay or of a counterexample."""
    if args.show == "witness":
        from ontoweir.trace.draw_growth import chart_growth
        from ontoweir.trace.grow_witness import grow_witness

        return chart_growth(grow_witness(workspace, compiled, args.size or SIZE))
    from ontoweir.commands.common.read_interval import read_interval

    start, stop = read_interval(args)
    if args.show == "answers":
        from ontoweir.trace.chart_answers import chart_answers

        return chart_answers(workspace, compiled, args.column, start=start, stop=stop)
    from ontoweir.trace.draw_trace import chart_trace_state, chart_trace_throughput
    from ontoweir.trace.trace_replay import trace_replay

    trace = trace_replay(workspace, compiled, start=start, stop=stop)
    return chart_trace_state(trace) if args.show == "state" else chart_trace_throughput(trace)


def _chart_run(kind: str, name: str, metrics: Path) -> "Chart":
    """A chart of a live run.

    Raises:
        DataError: its metrics do not know the query.
    """
    from ontoweir.dashboard.describe_run import chart_state, chart_throughput
    from ontoweir.dashboard.read_runs import METRICS, read_plain_run

    folder = metrics.parent if metrics.name == METRICS else metrics
    runs = read_plain_run(folder)
    if name not in runs:
        raise DataError(
            f"no micro-batch of {name} is recorded",
            why=f"{METRICS} in that folder has {', '.join(runs) or 'no query'}",
            fix="name the folder that `ontoweir run` wrote its metrics to, and a query that ran",
            source=Source(str(folder / METRICS)),
        )
    made = chart_state if kind == "state" else chart_throughput
    return made(name, runs[name].moments)


def _check_options(args: argparse.Namespace) -> None:
    """Raise UsageError for options that do not go with the kind."""
    over_time = args.show in ("state", "throughput")
    replayed = args.show == "answers" or (over_time and args.metrics is None)
    for option, value, allowed in (
        ("--metrics", args.metrics, over_time),
        ("--from", args.start, replayed),
        ("--to", args.stop, replayed),
        ("--column", args.column, args.show == "answers"),
        ("--size", args.size, args.show == "witness"),
    ):
        if value is not None and not allowed:
            raise UsageError(
                f"{option} does not go with --show {args.show}"
                + (" and --metrics" if over_time and args.metrics is not None else ""),
                why="state and throughput are of --metrics or of a replay [--from, --to), answers "
                "are of a replay and a --column; --size is of a witness",
                fix=f"leave {option} out",
            )
    if args.size is not None and not 1 <= args.size <= MAX_SIZE:
        raise UsageError(
            f"--size {args.size} is not between 1 and {MAX_SIZE}",
            why="a counterexample is confirmed by nested loops, whose time grows with its cube",
            fix=f"write --size {MAX_SIZE}",
        )


def _write(args: argparse.Namespace, drawn: str) -> None:
    from ontoweir.files.write_file import write_file

    output = read_output(args.output)
    write_file(output, drawn)
    if not args.quiet:
        name = args.query if args.query is not None else Path(args.sql).stem
        print(f"{args.output}: {args.show} of {name}", file=choose_channel(output))
