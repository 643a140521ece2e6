"""The command line: `ontoweir check | rewrite | materialize | replay | report | explain | doctor`.

Exit codes: 0 done; 1 a verdict reached --fail-on; 2 invalid input or usage; 3 failed at run time.
"""

import argparse
import gc
import json
import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ontoweir import __version__
from ontoweir.errors import OntoweirError, RunError, UsageError

if TYPE_CHECKING:
    from ontoweir.checker.verdict import Verdict
    from ontoweir.describe_repairs import DescribedRepair
    from ontoweir.pipeline import CompiledQuery, Workspace
    from ontoweir.runtime.replay_job import OutputFormat

TIERS = (
    "stateless",
    "tree-bounded",
    "jointly-bounded",
    "window-bounded",
    "conditionally-bounded",
    "undecided",
    "unbounded",
)
MOST_TUPLES = 64
"""The largest --witness-size; it takes some ten seconds."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000)  # queries are small: collecting often only costs start-up time
    try:
        given = _parser().parse_args(arguments)
        code: int = given.run(given)
        sys.stdout.flush()
        return code
    except OntoweirError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted; nothing is half written", file=sys.stderr)
        return 130
    except Exception as error:
        return _report_bug(error)
    finally:
        gc.set_threshold(*thresholds)


def _report_bug(error: Exception) -> int:
    """An exception that nobody foresaw: say so in one line; the traceback only when asked for."""
    if os.environ.get("ONTOWEIR_DEBUG") == "1":
        traceback.print_exception(error)
        fix = "report it with the traceback above"
    else:
        fix = "report it with the traceback that ONTOWEIR_DEBUG=1 in the environment shows"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    print(
        f"internal error: {what}; this is a bug in ontoweir, not in your input; {fix}",
        file=sys.stderr,
    )
    return RunError.exit_code


class _ArgumentParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(
            f"{self.prog}: {message}",
            why="that is not how it is called",
            fix=f"see `{self.prog} --help`",
        )


class _Warnings:
    """Warnings, each once; held back until the input is known to be right, so that what is wrong
    is said in one line."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet, self.held = quiet, True
        self.seen: dict[str, None] = {}

    def __call__(self, message: str) -> None:
        if message not in self.seen:
            self.seen[message] = None
            if not self.held:
                self._print(message)

    def release(self) -> None:
        """Print what was held back, and from now on at once."""
        self.held = False
        for message in self.seen:
            self._print(message)

    def _print(self, message: str) -> None:
        if not self.quiet:
            print(f"warning: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = _ArgumentParser(
        prog="ontoweir",
        description="Ontology-based data access over streams, in bounded memory.",
    )
    parser.add_argument("--version", action="version", version=f"ontoweir {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_check(commands)
    _add_rewrite(commands)
    _add_materialize(commands)
    _add_replay(commands)
    _add_run(commands)
    _add_report(commands)
    _add_ontology(commands)
    doctor = commands.add_parser(
        "doctor", help="what is installed, what is missing, how to mend it"
    )
    doctor.set_defaults(run=_doctor)
    return parser


def _project_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "project", nargs="?", default=".", help="the project's folder or file (default: here)"
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="override an entry of the project file",
    )
    command.add_argument(
        "--strict", action="store_true", help="an axiom outside OWL 2 QL is an error"
    )
    command.add_argument("--quiet", "-q", action="store_true", help="no warnings, no progress")


def _add_check(commands: Any) -> None:
    check = commands.add_parser(
        "check",
        help="decide, before anything runs, whether queries run in bounded memory",
        epilog="examples: `ontoweir check examples/traffic --fail-on undecided`; what the mappings "
        "allow: `ontoweir check examples/traffic --mappings-only --fail-on unbounded`; "
        "counterexamples as data: `ontoweir check examples/traffic --witness out --witness-size 8`",
    )
    _project_arguments(check)
    check.add_argument("--query", action="append", metavar="NAME", help="only this query")
    check.add_argument("--sql", metavar="FILE", help="plain SQL over the catalog, no ontology")
    check.add_argument(
        "--model", choices=("application-time", "arrival"), default="application-time"
    )
    check.add_argument("--format", choices=("text", "json", "sarif", "html"), default="text")
    check.add_argument(
        "--fail-on", choices=TIERS, metavar="TIER", help=f"exit 1 from: {', '.join(TIERS)}"
    )
    check.add_argument(
        "--static-data",
        action="store_true",
        help="let the static relations' rows tighten the bounds (Spark reads them)",
    )
    check.add_argument("--verbose", "-v", action="store_true", help="every criterion, by name")
    check.add_argument(
        "--mappings-only",
        action="store_true",
        help="what the mappings allow: how each class and property can be used over time",
    )
    check.add_argument(
        "--witness",
        metavar="DIR",
        help="write the counterexample of each unbounded query as data that `replay` runs",
    )
    check.add_argument(
        "--witness-size", type=int, metavar="N", help="with so many tuples to remember (default: 4)"
    )
    check.set_defaults(run=_check)


def _add_rewrite(commands: Any) -> None:
    rewrite = commands.add_parser(
        "rewrite",
        help="what each stage made of a query",
        epilog="example: ontoweir rewrite examples/traffic --query how-often-congestion-got-worse "
        "--show sql",
    )
    _project_arguments(rewrite)
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


def _add_ontology(commands: Any) -> None:
    ontology = commands.add_parser(
        "ontology",
        help="what was read of an ontology, what was left out, and what can have no member",
        epilog="example: ontoweir ontology examples/traffic",
    )
    _project_arguments(ontology)
    ontology.add_argument("--ontology", action="append", metavar="FILE", help="without a project")
    ontology.add_argument("--format", choices=("text", "json"), default="text")
    ontology.set_defaults(run=_ontology)


def _add_materialize(commands: Any) -> None:
    materialize = commands.add_parser(
        "materialize",
        help="the triples that a mapping makes of an SQLite database, as N-Quads",
        epilog="example: ontoweir materialize --mappings m.ttl --database sqlite:my.db",
    )
    materialize.add_argument("--mappings", required=True, metavar="FILE", help="R2RML or .obda")
    materialize.add_argument("--database", required=True, metavar="sqlite:FILE")
    materialize.add_argument("--output", metavar="FILE", help="(default: stdout)")
    materialize.add_argument("--base", metavar="IRI", help="of relative IRIs (default: @base)")
    materialize.add_argument(
        "--skip-data-errors",
        action="store_true",
        help="leave out, and count, what a value cannot make, instead of ending there",
    )
    materialize.set_defaults(run=_materialize)


def _add_replay(commands: Any) -> None:
    replay = commands.add_parser(
        "replay",
        help="answer a query over the history",
        epilog="example: ontoweir replay examples/traffic --query roads-where-congestion-got-worse "
        "--output worse.parquet",
    )
    _project_arguments(replay)
    replay.add_argument("--query", required=True, metavar="NAME")
    replay.add_argument("--from", dest="start", metavar="TIME", help="from this time on (UTC)")
    replay.add_argument("--to", dest="stop", metavar="TIME", help="before this time (UTC)")
    replay.add_argument("--output", required=True, metavar="PATH", help="the file to write")
    replay.add_argument("--format", choices=("parquet", "csv", "jsonl"))
    replay.add_argument("--summary", choices=("text", "json"), default="text")
    replay.add_argument("--expand", action="store_true", help="repeat rows instead of counting")
    replay.add_argument(
        "--allow-unbounded",
        action="store_true",
        help="run the naive plan of a query that is not bounded",
    )
    replay.set_defaults(run=_replay)


def _add_run(commands: Any) -> None:
    from ontoweir.run_options import add_run_options

    run = commands.add_parser(
        "run",
        help="answer queries live, until stopped",
        epilog="example: ontoweir run examples/traffic --query every-reading-above-130 --once",
    )
    _project_arguments(run)
    run.add_argument(
        "--query", action="append", metavar="NAME", help="only this query (default: all)"
    )
    run.add_argument(
        "--output",
        metavar="FOLDER",
        help="of answers (default: out/answers in the project's folder)",
    )
    run.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="of the run's state; it resumes from it (default: out/checkpoint there)",
    )
    run.add_argument("--once", action="store_true", help="stop when all that is there is read")
    run.add_argument(
        "--every", type=float, default=0.0, metavar="SECONDS", help="between micro-batches"
    )
    run.add_argument("--summary", choices=("text", "json"), default="text")
    add_run_options(run)
    run.set_defaults(run=_run)


def _add_report(commands: Any) -> None:
    report = commands.add_parser(
        "report",
        help="verdicts, reasons, plans and graphs of all queries as one HTML page",
        epilog="example: ontoweir report examples/traffic --output report.html",
    )
    _project_arguments(report)
    report.add_argument("--query", action="append", metavar="NAME", help="only this query")
    report.add_argument("--output", required=True, metavar="FILE", help="the page to write")
    report.set_defaults(run=_report)
    explain = commands.add_parser(
        "explain",
        help="what the code of a diagnostic means, an example, and how to mend it",
        epilog="example: ontoweir explain OW203",
    )
    explain.add_argument("code", metavar="CODE")
    explain.set_defaults(run=_explain)


def _open(given: argparse.Namespace) -> "tuple[Workspace, _Warnings]":
    from ontoweir.pipeline import Workspace
    from ontoweir.project import load_project
    from ontoweir.show_work import WorkProgress

    project = load_project(Path(given.project), overrides=given.set)
    warnings = _Warnings(quiet=given.quiet)
    tell = WorkProgress(quiet=given.quiet)
    return Workspace(project, strict=given.strict, warn=warnings, tell=tell), warnings


def _check(given: argparse.Namespace) -> int:
    from ontoweir.checker.verdict import Tier
    from ontoweir.describe import describe_verdict
    from ontoweir.pipeline import require_queries

    _check_witness(given)
    if given.mappings_only:
        return _lint(given)
    if given.sql is not None and given.query:
        raise UsageError(
            "--query does not go with --sql",
            why="--sql names one file, which is the query",
            fix="leave one of them out",
        )
    workspace, warnings = _open(given)
    if given.sql is not None:
        compiled = [workspace.compile_sql(Path(given.sql))]
    else:
        require_queries(workspace)
        names = given.query or workspace.query_names()
        compiled = [workspace.compile(name) for name in names]
    timed = given.model == "application-time"
    verdicts = [workspace.check(c, timed=timed) for c in compiled]
    if given.static_data:
        from ontoweir.read_statistics import read_statistics

        known = read_statistics(workspace, compiled)
        refined = [workspace.check(c, statistics=known, timed=timed) for c in compiled]
        # what is refuted stays refuted: a counterexample may have other static rows
        verdicts = [v if r.plans is None else r for v, r in zip(verdicts, refined, strict=True)]
    if given.witness is not None:
        from ontoweir.write_witness import write_witnesses

        size = given.witness_size or 4
        told = write_witnesses(workspace, compiled, verdicts, Path(given.witness), size=size)
        for line in () if given.quiet else told:
            print(line, file=sys.stderr)
    repairs = _repair(workspace, compiled, verdicts, timed=timed)
    warnings.release()
    if given.format == "json":
        catalog = workspace.project.catalog
        found = [describe_verdict(v, catalog, r) for v, r in zip(verdicts, repairs, strict=True)]
        print(json.dumps(found, indent=2, ensure_ascii=False))
    elif given.format == "sarif":
        from ontoweir.render_sarif import render_sarif

        sarif = render_sarif(verdicts, workspace.project.root, list(warnings.seen), repairs=repairs)
        print(json.dumps(sarif, indent=2, ensure_ascii=False))
    elif given.format == "html":
        print(_page(workspace, verdicts, repairs, warnings), end="")
    else:
        from rich.console import Console

        from ontoweir.render_check import render_check

        console = Console(highlight=False)
        render_check(
            verdicts,
            console,
            workspace.project.catalog,
            repairs=repairs,
            verbose=given.verbose,
        )
    if given.fail_on is not None:
        limit = Tier(given.fail_on).rank
        if any(v.tier.rank >= limit for v in verdicts):
            return 1
    return 0


def _lint(given: argparse.Namespace) -> int:
    """`check --mappings-only`."""
    from ontoweir.checker.verdict import Tier
    from ontoweir.lint_mappings import lint_mappings
    from ontoweir.render_lint import dump_lint, print_lint, reaches, render_lint_sarif

    for option in ("query", "sql", "witness"):
        if getattr(given, option) is not None:
            raise UsageError(
                f"--mappings-only does not go with --{option}",
                why="it looks at the mappings, whatever the queries",
                fix=f"leave one of them out: without --mappings-only, --{option} checks queries",
            )
    if given.format == "html" or given.model == "arrival":
        other = "--format html" if given.format == "html" else "--model arrival"
        raise UsageError(
            f"--mappings-only does not go with {other}",
            why="it is decided in application time, and told as text, JSON or SARIF",
            fix=f"leave {other} out",
        )
    workspace, warnings = _open(given)
    lints = lint_mappings(workspace)
    warnings.release()
    if given.format == "json":
        print(dump_lint(lints))
    elif given.format == "sarif":
        log = render_lint_sarif(lints, workspace.project.root, list(warnings.seen))
        print(json.dumps(log, indent=2, ensure_ascii=False))
    else:
        from rich.console import Console

        print_lint(lints, Console(highlight=False, width=max(_width(), 100)))
    return 1 if given.fail_on is not None and reaches(lints, Tier(given.fail_on)) else 0


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _check_witness(given: argparse.Namespace) -> None:
    """Raise UsageError where --witness cannot do what is asked."""
    size = given.witness_size
    if given.witness is None:
        if size is not None:
            raise UsageError(
                "--witness-size without --witness",
                why="it is the size of what --witness writes",
                fix="add --witness DIR",
            )
    elif given.sql is not None or given.model == "arrival":
        other = "--sql" if given.sql is not None else "--model arrival"
        raise UsageError(
            f"--witness does not go with {other}",
            why="a witness is data to replay a query of the project over, in application time",
            fix=f"leave {other} out, or leave --witness out",
        )
    elif size is not None and not 1 <= size <= MOST_TUPLES:
        raise UsageError(
            f"--witness-size {size} is not between 1 and {MOST_TUPLES}",
            why="a witness is confirmed by nested loops, whose time grows with its cube or faster",
            fix=f"write --witness-size {MOST_TUPLES}",
        )


def _repair(
    workspace: "Workspace",
    compiled: "Sequence[CompiledQuery]",
    verdicts: "Sequence[Verdict]",
    *,
    timed: bool = True,
) -> "list[tuple[DescribedRepair, ...]]":
    """What mends each query; nothing where it is bounded."""
    return [
        workspace.repair(c, timed=timed) if v.plans is None else ()
        for c, v in zip(compiled, verdicts, strict=True)
    ]


def _page(
    workspace: "Workspace",
    verdicts: "list[Verdict]",
    repairs: "list[tuple[DescribedRepair, ...]]",
    warnings: "_Warnings",
) -> str:
    from ontoweir.render_html import render_html

    project = workspace.project
    return render_html(
        verdicts,
        project.catalog,
        title=project.root.name,
        repairs=repairs,
        warnings=list(warnings.seen),
    )


def _report(given: argparse.Namespace) -> int:
    from ontoweir.pipeline import require_queries
    from ontoweir.write_file import write_file

    workspace, warnings = _open(given)
    require_queries(workspace)
    names = given.query or workspace.query_names()
    compiled = [workspace.compile(name) for name in names]
    verdicts = [workspace.check(c) for c in compiled]
    page = _page(workspace, verdicts, _repair(workspace, compiled, verdicts), warnings)
    warnings.release()
    write_file(Path(given.output), page)
    return 0


def _explain(given: argparse.Namespace) -> int:
    from ontoweir.explain_code import explain_code

    print(explain_code(given.code))
    return 0


def _draw(given: argparse.Namespace) -> int:
    """`rewrite --show graph --output F.svg`."""
    from ontoweir.draw_query import draw_query
    from ontoweir.write_file import write_file

    if given.show != "graph" or given.output is None or given.ontology:
        raise UsageError(
            "--show graph and --output go together, over a project",
            why="graphs are drawn of the unfolded query, into a file; other stages are printed",
            fix="write --show graph --output FILE.svg and no --ontology",
        )
    workspace, warnings = _open(given)
    compiled = workspace.compile(given.query)
    drawn = draw_query(compiled.union, workspace.project.catalog)
    warnings.release()
    write_file(Path(given.output), drawn)
    return 0


def _rewrite(given: argparse.Namespace) -> int:
    from ontoweir.show_stage import show_stage

    lines: Sequence[str]
    if given.show == "graph" or given.output is not None:
        return _draw(given)
    if given.ontology:
        from ontoweir.show_stage import show_ontology_alone

        if given.show != "ucq":
            raise UsageError(
                f"--ontology cannot show {given.show}",
                why="without a project there are no mappings and no catalog",
                fix="use --show ucq, or name a project",
            )
        from ontoweir.show_work import WorkProgress

        warnings = _Warnings(quiet=given.quiet)
        name, lines, more = show_ontology_alone(
            [Path(f) for f in given.ontology],
            Path(given.query),
            strict=given.strict,
            warn=warnings,
            tell=WorkProgress(quiet=given.quiet),
        )
    else:
        workspace, warnings = _open(given)
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


def _ontology(given: argparse.Namespace) -> int:
    from ontoweir.ontology.load_ontology import read_ontology
    from ontoweir.report_ontology import describe_ontology, show_ontology, warn_unsatisfiable

    warnings = _Warnings(quiet=given.quiet)
    if given.ontology:
        files = [Path(f) for f in given.ontology]
        reading = read_ontology(files, strict=given.strict, warn=lambda _: None)
    else:
        from ontoweir.project import load_project

        project = load_project(Path(given.project), overrides=given.set)
        reading = read_ontology(
            project.ontology,
            imports=project.imports,
            strict=given.strict,
            warn=lambda _: None,
        )
    warn_unsatisfiable(reading.tbox, warnings)
    warnings.release()
    if given.format == "json":
        print(json.dumps(describe_ontology(reading), indent=2, ensure_ascii=False))
    else:
        print(show_ontology(reading))
    return 0


def _materialize(given: argparse.Namespace) -> int:
    from ontoweir.materializing import materialize

    materialize(
        Path(given.mappings),
        given.database,
        None if given.output is None else Path(given.output),
        base=given.base,
        skip_data_errors=given.skip_data_errors,
    )
    return 0


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


def _replay(given: argparse.Namespace) -> int:
    from ontoweir.replaying import ReplayOptions, replay_query

    start, stop = _time(given.start, "--from"), _time(given.stop, "--to")
    if start is not None and stop is not None and start >= stop:
        raise UsageError(
            f"--from {given.start} is not before --to {given.stop}",
            why="what is replayed starts at --from and ends before --to",
            fix="exchange them, or leave one out",
        )
    output = Path(given.output)
    workspace, warnings = _open(given)
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
    return 0


def _run(given: argparse.Namespace) -> int:
    from ontoweir.pipeline import require_queries
    from ontoweir.run_options import read_run_options
    from ontoweir.running import run_queries

    workspace, warnings = _open(given)
    require_queries(workspace)
    compiled = [workspace.compile(name) for name in given.query or workspace.query_names()]
    warnings.release()
    options = read_run_options(given, workspace.project.root)
    summary = run_queries(workspace, compiled, options)
    if given.summary == "json":
        print(json.dumps(summary))
    else:
        print(
            f"{summary['results']:,} results in {options.output}\n"
            f"  {summary['tuples']:,} tuples, {summary['markers']:,} markers, "
            f"{summary['rejected']:,} rejected, {summary['late']:,} of them late\n"
            f"  state: at most {summary['state_rows_max']:,} rows"
        )
    return 0


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
    print(
        f"{compiled.name}: {summary['results']:,} results in {output}\n"
        f"  {summary['tuples']:,} tuples, {summary['markers']:,} markers in "
        f"{summary['seconds']:.1f} s ({summary['tuples_per_second']:,.0f} tuples/s)\n"
        f"  state: at most {summary['state_rows_max']:,} rows"
        + (f" of {bound:,}" if bound is not None else "")
    )
    rejected = summary.get("rejected") or 0
    if rejected:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in summary["rejects"].items())
        print(f"  rejected: {rejected:,} tuples ({why})")


def _doctor(given: argparse.Namespace) -> int:
    from ontoweir.doctor import examine

    return examine()


if __name__ == "__main__":
    raise SystemExit(main())
