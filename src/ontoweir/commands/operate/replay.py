"""`ontoweir replay`."""

import argparse
import json
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import add_project_arguments, choose_channel, read_output
from ontoweir.commands.common.leave_pandas_out import leave_pandas_out
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.read_interval import read_interval
from ontoweir.commands.common.report_refusals import (
    add_skip_refused,
    describe_refusals,
    report_all_refused,
    report_skipped,
)
from ontoweir.commands.common.warn_rejects import warn_rejects
from ontoweir.dashboard.show_numbers import show_disk
from ontoweir.errors import Source, UsageError
from ontoweir.files.put_object import is_address, putting_object, show_address
from ontoweir.run.run_options import add_emit

_TABLES = ("delta", "iceberg")
MOST_PARTS = 64
"""Each process reads all rows."""

if TYPE_CHECKING:
    from ontoweir.pipeline.pipeline import CompiledQuery, Workspace


def add_replay(commands: Any) -> None:
    """Add `replay` to the commands."""
    replay = commands.add_parser(
        "replay",
        help="answer a query over the history",
        epilog="example: ontoweir replay examples/traffic --query roads-where-congestion-got-worse "
        "--output worse.parquet",
    )
    add_project_arguments(replay)
    asked = replay.add_mutually_exclusive_group(required=True)
    asked.add_argument("--query", metavar="NAME")
    asked.add_argument("--sql", metavar="FILE|SQL", help="plain SQL over the catalog, no ontology")
    replay.add_argument("--from", dest="start", metavar="TIME", help="from this time (UTC)")
    replay.add_argument("--to", dest="stop", metavar="TIME", help="before this time (UTC)")
    replay.add_argument(
        "--output",
        required=True,
        metavar="PATH",
        help="the file to write; - is stdout; s3://…, gs://… or abfs://… an object",
    )
    replay.add_argument(
        "--format",
        choices=("parquet", "csv", "jsonl", "arrow", "avro", "srj", "nq", *_TABLES),
        help="format of the output: arrow is Arrow's own (IPC, Feather), srj SPARQL's JSON, nq "
        "N-Quads, delta a table in a folder or at an address, iceberg NAMESPACE.NAME of a catalog "
        "(default: by its suffix; else "
        "parquet, and csv on stdout)",
    )
    replay.add_argument(
        "--catalog",
        metavar="NAME",
        help="the catalog of an Iceberg table, as pyiceberg is configured (default: its default)",
    )
    replay.add_argument("--summary", choices=("text", "json"), default="text")
    replay.add_argument("--expand", action="store_true", help="repeat rows instead of counting")
    replay.add_argument(
        "--spark",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property of Spark, if it is started, e.g. spark.jars.packages=…",
    )
    replay.add_argument(
        "--final",
        action="store_true",
        help="the last row of each group, not all updates; of answers that end, those left",
    )
    add_emit(replay)
    replay.add_argument(
        "--engine",
        choices=("auto", "driver", "spark"),
        default="auto",
        help="what replays: this process (driver), Spark's tasks, or, by default, what is "
        "estimated to end earlier; --verbose shows the estimate",
    )
    replay.add_argument(
        "--parts",
        type=_count,
        metavar="N",
        help="divide rows by key among N processes of this machine (default: as estimated, where "
        "the state may be large)",
    )
    replay.add_argument(
        "--verify",
        action="store_true",
        help="hold every row to what is declared, also of files that a replay has verified before",
    )
    replay.add_argument(
        "--rejects",
        metavar="FOLDER",
        help="write the rejected rows into rejects.parquet there: reason, file, number of the row, "
        "content",
    )
    replay.add_argument(
        "--allow-unbounded",
        action="store_true",
        help="also run a query that is not bounded: it keeps whatever may be needed",
    )
    add_skip_refused(replay)
    replay.set_defaults(run=_replay)


def _replay(args: argparse.Namespace) -> int:
    from ontoweir.project.language_of import language_of
    from ontoweir.run.replay_query import ReplayOptions, choose_format, replay_query
    from ontoweir.run.run_options import read_pairs

    start, stop = read_interval(args)
    with _placing(args) as place:
        output = read_output(place)
        workspace, warnings = open_workspace(args)
        if not workspace.project.catalog.functions:
            leave_pandas_out()
        file = workspace.query_file(args.query) if args.sql is None else Path(args.sql)
        sql = args.sql is not None or language_of(file) == "sql"
        compiled = workspace.recall(file, sql=sql)
        if compiled is None and args.sql is not None:
            compiled = workspace.compile_sql(file)
        elif compiled is None:
            with report_all_refused(workspace):
                compiled = workspace.compile(args.query)
        warnings.release()
        _refuse_places(args, workspace, compiled)
        options = ReplayOptions(
            output=output,
            format="parquet" if args.format in _TABLES else args.format or choose_format(output),
            start=start,
            stop=stop,
            expand=args.expand,
            final=args.final,
            spark=read_pairs("--spark", args.spark),
            allow_unbounded=args.allow_unbounded,
            progress=not args.quiet,
            engine=args.engine,
            verify=args.verify,
            parts=args.parts,
            emit=args.emit,
            rejects=None if args.rejects is None else Path(args.rejects),
        )
        summary = replay_query(workspace, compiled, options)
    with redirect_stdout(choose_channel(output)):
        if args.summary == "json":
            print(json.dumps({**summary, **describe_refusals(workspace, [compiled])}))
        else:
            _print_summary(compiled, show_address(args.output), summary, args.rejects)
            if args.verbose:
                _print_engine(summary)
            _suggest_keeping(workspace, compiled, summary["tuples"])
    warn_rejects(summary)
    return report_skipped(workspace)


def _placing(args: argparse.Namespace) -> AbstractContextManager[str]:
    """The file that is to be written, and put where it belongs when it is whole."""
    if args.catalog is not None and args.format != "iceberg":
        raise UsageError(
            "--catalog is without --format iceberg",
            why="it says which catalog has an Iceberg table",
            fix="add --format iceberg, or leave it out",
            source=Source("--catalog"),
        )
    if args.format == "iceberg":
        from ontoweir.answers.put_iceberg import putting_iceberg

        return putting_iceberg(args.output, args.catalog)
    if args.format != "delta":
        return putting_object(args.output)
    from ontoweir.runtime.packed.write_delta import putting_table

    return putting_table(args.output)


def _refuse_places(
    args: argparse.Namespace, workspace: "Workspace", compiled: "CompiledQuery"
) -> None:
    """See that what is not a file of this machine is none that is read, or of a live run."""
    from ontoweir.project.refuse_places import refuse_places

    if args.format == "delta" or is_address(args.output):
        refuse_places(workspace.project, args.output)
    if args.format == "delta":
        from ontoweir.runtime.packed.write_delta import refuse_live_table

        refuse_live_table(args.output, compiled.name)


def _count(text: str) -> int:
    """A number of processes."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_PARTS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_PARTS}")
    return int(text)


def _suggest_keeping(workspace: "Workspace", compiled: "CompiledQuery", tuples: int) -> None:
    from ontoweir.rewriter.model.add_views import tables_of
    from ontoweir.run.suggest_keeping import suggest_keeping

    for name in suggest_keeping(workspace.project.catalog, tables_of(compiled.union), tuples):
        print(
            f"  keep = true in the source of [streams.{name}] lets later replays read its rows "
            "unpacked, in less time"
        )


def _print_engine(summary: dict[str, Any]) -> None:
    """What replayed, in how many ranges, and why."""
    why, count = summary["one_range_because"], summary["ranges"]
    place = "by Spark" if summary["engine"] == "spark" else "in this process"
    if summary["parts"] > 1:
        place = f"by {summary['parts']} processes"
    print(f"  replayed {place}: {summary['engine_because']}")
    if summary["engine"] == "spark":
        reason = "" if why is None else f": {why}"
        print(f"  {count:,} range{'s' * (count > 1)} of history{reason}")


def _describe_nothing(compiled: "CompiledQuery") -> str | None:
    from ontoweir.report.describe_finality import describe_nothing

    return describe_nothing(compiled.union)


def _print_summary(
    compiled: "CompiledQuery", output: str, summary: dict[str, Any], rejects: str | None
) -> None:
    bound = summary["bound_rows"]
    started = summary["spark_start_seconds"]
    place = "" if output == "-" else f" in {output}"
    start = f"; Spark took {started:.1f} s to start" if started else ""
    print(
        f"{compiled.name}: {summary['results']:,} results{place}\n"
        f"  {summary['tuples']:,} tuples, {summary['markers']:,} markers in "
        f"{summary['seconds']:.1f} s ({summary['tuples_per_second']:,.0f} tuples/s{start})\n"
        f"  state: at most {summary['state_rows_max']:,} rows"
        + (f" of {bound:,}" if bound is not None else "")
    )
    if not summary["results"] and (nothing := _describe_nothing(compiled)) is not None:
        print(f"  no results: {nothing}")
    rejected = summary.get("rejected") or 0
    if rejected:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in summary["rejects"].items())
        where = "" if rejects is None else f"; they are in {rejects}"
        print(f"  rejected: {rejected:,} tuples ({why}){where}")
    if summary["on_disk"]:
        print(f"  {show_disk(summary['on_disk'])}")
    for rule, count in summary["broken"].items():
        print(f"  let in: {count:,} tuples that break a rule ({rule})")
