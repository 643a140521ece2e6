"""`ontoweir replay`."""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.arguments import add_project_arguments
from ontoweir.commands.open_workspace import open_workspace
from ontoweir.errors import UsageError

if TYPE_CHECKING:
    from ontoweir.pipeline import CompiledQuery
    from ontoweir.runtime.replay_job import OutputFormat


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
    asked.add_argument("--sql", metavar="FILE", help="plain SQL over the catalog, no ontology")
    replay.add_argument("--from", dest="start", metavar="TIME", help="from this time on (UTC)")
    replay.add_argument("--to", dest="stop", metavar="TIME", help="before this time (UTC)")
    replay.add_argument("--output", required=True, metavar="PATH", help="the file to write")
    replay.add_argument("--format", choices=("parquet", "csv", "jsonl"))
    replay.add_argument("--summary", choices=("text", "json"), default="text")
    replay.add_argument("--expand", action="store_true", help="repeat rows instead of counting")
    replay.add_argument(
        "--allow-unbounded",
        action="store_true",
        help="run a query that is not bounded, too: it keeps whatever may be needed",
    )
    replay.set_defaults(run=_replay)


def _replay(given: argparse.Namespace) -> int:
    from ontoweir.replaying import ReplayOptions, replay_query

    start, stop = read_span(given)
    output = Path(given.output)
    workspace, warnings = open_workspace(given)
    if given.sql is not None:
        compiled = workspace.compile_sql(Path(given.sql))
    else:
        compiled = workspace.compile(given.query)
    warnings.release()
    options = ReplayOptions(
        output=output,
        format=given.format or _format(output),
        start=start,
        stop=stop,
        expand=given.expand,
        allow_unbounded=given.allow_unbounded,
        progress=not given.quiet,
    )
    summary = replay_query(workspace, compiled, options)
    if given.summary == "json":
        print(json.dumps(summary))
    else:
        _print_summary(compiled, output, summary)
        if given.verbose:
            why = summary["one_range_because"]
            told = "" if why is None else f": {why}"
            print(f"  {summary['ranges']:,} range{'s' * (summary['ranges'] > 1)} of history{told}")
    return 0


def read_span(given: argparse.Namespace) -> tuple[datetime | None, datetime | None]:
    """The times of --from and --to.

    Raises:
        UsageError: one is no time, or they are in the wrong order.
    """
    start, stop = _time(given.start, "--from"), _time(given.stop, "--to")
    if start is not None and stop is not None and start >= stop:
        raise UsageError(
            f"--from {given.start} is not before --to {given.stop}",
            why="what is replayed starts at --from and ends before --to",
            fix="exchange them, or leave one out",
        )
    return start, stop


def _time(text: str | None, option: str) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{option} {text!r} is not a time",
            why=str(error),
            fix="write it like 2014-08-04T06:00:00",
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _format(output: Path) -> "OutputFormat":
    found: dict[str, OutputFormat] = {
        ".csv": "csv",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "jsonl",
    }
    return found.get(output.suffix, "parquet")


def _print_summary(compiled: "CompiledQuery", output: Path, summary: dict[str, Any]) -> None:
    bound = summary["bound_rows"]
    started = summary["spark_start_seconds"]
    told = f"; Spark took {started:.1f} s to start" if started else ""
    print(
        f"{compiled.name}: {summary['results']:,} results in {output}\n"
        f"  {summary['tuples']:,} tuples, {summary['markers']:,} markers in "
        f"{summary['seconds']:.1f} s ({summary['tuples_per_second']:,.0f} tuples/s{told})\n"
        f"  state: at most {summary['state_rows_max']:,} rows"
        + (f" of {bound:,}" if bound is not None else "")
    )
    rejected = summary.get("rejected") or 0
    if rejected:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in summary["rejects"].items())
        print(f"  rejected: {rejected:,} tuples ({why})")
