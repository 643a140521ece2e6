"""`ontoweir check`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import (
    add_asked,
    add_project_arguments,
    find_root,
    list_asked,
)
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import list_refused, report_refusals
from ontoweir.commands.design.check_mappings import check_mappings
from ontoweir.commands.design.data_option import add_data, read_sample
from ontoweir.commands.design.fix_query import add_fix, fix_query
from ontoweir.commands.scripts.script_options import add_scripts, refuse_alone
from ontoweir.errors import (
    CatalogError,
    MappingError,
    OntologyError,
    OntoweirError,
    QueryError,
    UsageError,
)

if TYPE_CHECKING:
    from ontoweir.checker.verdict.verdict import Tier
    from ontoweir.commands.common.decide_queries import Outcome
    from ontoweir.commands.common.hold_warnings import Warnings
    from ontoweir.commands.design.look_at_data import Looked
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.project.project import Project

TIERS = (
    "stateless",
    "tree-bounded",
    "jointly-bounded",
    "window-bounded",
    "conditionally-bounded",
    "undecided",
    "unbounded",
)
TIMED = "application-time"
FORMATS = ("text", "json", "sarif", "github", "html")
MAX_TUPLES = 64
"""The largest --witness-size; it takes some ten seconds."""


def add_check(commands: Any) -> None:
    """Add `check` to the commands."""
    check = commands.add_parser(
        "check",
        help="decide, before anything runs, whether queries run in bounded memory",
        epilog="examples: `ontoweir check examples/traffic --fail-on undecided`; what the mappings "
        "allow: `ontoweir check examples/traffic --mappings-only --fail-on unbounded`; "
        "counterexamples as data: `ontoweir check examples/traffic --witness out --witness-size 8`",
    )
    add_project_arguments(check)
    check.add_argument("--query", action="append", metavar="NAME", help="only this query")
    check.add_argument("--sql", metavar="FILE|SQL", help="plain SQL over the catalog, no ontology")
    check.add_argument("--model", choices=(TIMED, "arrival"), default=TIMED)
    check.add_argument("--format", choices=FORMATS, default="text")
    check.add_argument(
        "--fail-on",
        choices=TIERS,
        metavar="TIER",
        help=f"exit with 1 if a verdict is this tier or worse: {', '.join(TIERS)}",
    )
    check.add_argument(
        "--skip-refused",
        action="store_true",
        help="leave out triples maps with errors, name the queries that could need them, and print "
        "refusals as warnings (exit 1 if any query has a verdict)",
    )
    check.add_argument(
        "--static-data",
        action="store_true",
        help="tighten the bounds by the rows of static relations (Spark reads them)",
    )
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
        "--witness-size", type=int, metavar="N", help="number of tuples to remember (default: 4)"
    )
    check.add_argument(
        "--time-limit",
        type=_read_seconds,
        metavar="SECONDS",
        help="the longest time to decide a query, and to search for repairs (default: "
        "10 and 3; 0: no limit)",
    )
    add_scripts(check)
    add_data(check)
    add_fix(check)
    check.add_argument(
        "--watch",
        action="store_true",
        help="check again whenever a text of the project changes, until Ctrl-C",
    )
    check.set_defaults(run=_check)


def _read_seconds(text: str) -> float:
    """A number of seconds, 0 or more."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more")
    return seconds


def _check(args: argparse.Namespace) -> int:
    if not args.watch:
        return _check_once(args)
    from ontoweir.commands.common.watch_files import watch_files

    def run() -> int:
        try:
            return _check_once(args)
        except OntoweirError as error:
            print(error, file=sys.stderr)
            return error.exit_code

    project = Path(args.project)
    texts = [project if project.is_dir() else project.parent, *list_asked()]
    return watch_files(run, texts if args.sql is None else [*texts, Path(args.sql)])


def _check_once(args: argparse.Namespace) -> int:
    try:
        return _check_all(args)
    except (CatalogError, OntologyError, MappingError, QueryError) as error:
        if args.format in ("sarif", "github"):  # where code scanning looks for it
            from ontoweir.report.scanning.print_log import print_log
            from ontoweir.report.scanning.render_sarif import render_sarif

            root = find_root(args.project) if Path(args.project).exists() else Path.cwd()
            log = render_sarif([], root, repairs=[], errors=[error])
            print_log(log, args.format, sys.stdout)
        raise


def _check_all(args: argparse.Namespace) -> int:
    from ontoweir.checker.verdict.verdict import Tier
    from ontoweir.project.project import load_project
    from ontoweir.project.require_queries import require_queries

    if args.script or args.dbt is not None:
        from ontoweir.commands.scripts.check_scripts import check_scripts

        return check_scripts(args)
    refuse_alone(args)
    _check_witness(args)
    if args.data is not None:
        read_sample(args)
    if args.mappings_only:
        return check_mappings(args)
    if args.sql is not None and args.query:
        raise UsageError(
            "--query does not go with --sql",
            why="--sql names one file, which is the query",
            fix="leave one of them out",
        )
    project = add_asked(load_project(Path(args.project), overrides=args.set))
    if args.fix is not None:
        workspace, warnings = _open(args, project)
        warnings.release()
        return fix_query(args, workspace)
    if args.sql is None:
        if args.data is None:
            require_queries(project)
        names = args.query or [path.stem for path in project.queries]
    else:
        names = [Path(args.sql).stem]
    wrong = False
    if args.format in ("sarif", "github", "html"):
        tiers, errors = _check_as_page(args, project, names)
    else:
        tiers, errors, wrong = _check_as_text(args, project, names)
    code = report_refusals(errors, skip=args.skip_refused) or int(wrong)
    if code == 0 and args.fail_on is not None:
        limit = Tier(args.fail_on).rank
        if any(tier.rank >= limit for tier in tiers):
            return 1
    return code


def _open(args: argparse.Namespace, project: "Project") -> "tuple[Workspace, Warnings]":
    workspace, warnings = open_workspace(args, named_refused=True, project=project)
    workspace.warn_counts = True
    if args.time_limit is not None:
        workspace.time_limit = workspace.repair_time_limit = args.time_limit
    return workspace, warnings


def _check_as_page(
    args: argparse.Namespace, project: "Project", names: Sequence[str]
) -> "tuple[list[Tier], list[OntoweirError]]":
    """Print SARIF, annotations or a page, and return the tiers, and what is refused."""
    from ontoweir.commands.common.decide_queries import Decided
    from ontoweir.pipeline.refused_query import RefusedQuery

    workspace, warnings = _open(args, project)
    decided = _decide(args, workspace, names, warnings)
    warnings.release()
    errors = [d.error for d in decided if isinstance(d, RefusedQuery)]
    _print_page(args, workspace, decided, warnings)
    if args.sql is None:
        errors += list_refused(workspace)
    return [d.verdict.tier for d in decided if isinstance(d, Decided)], errors


def _check_as_text(
    args: argparse.Namespace, project: "Project", names: Sequence[str]
) -> "tuple[list[Tier], list[OntoweirError], bool]":
    """Print text or JSON, and return the tiers, what is refused, and whether the data is not as
    declared. Where all is known already, neither ontology nor mappings are read."""
    from ontoweir.cache.open_cache import open_cache
    from ontoweir.commands.common.hold_warnings import Warnings
    from ontoweir.commands.common.print_verdict import (
        describe_console,
        print_verdicts,
        render_as_json,
        render_as_text,
    )
    from ontoweir.commands.common.recall_verdicts import KeptVerdicts, recall_verdicts

    kept, rendered, errors = None, None, list[OntoweirError]()
    looked: Looked | None = None
    apart = args.sql is not None or args.static_data or args.witness is not None
    apart = apart or args.data is not None
    warnings = Warnings(quiet=args.quiet, verbose=args.verbose)
    if not apart and (cache := open_cache(args.cache)) is not None:
        shown = [args.format, args.verbose, max(map(len, names)), describe_console()]
        kept = KeptVerdicts(project, cache, [*shown, args.model, args.time_limit])
        rendered = recall_verdicts(kept, names, warnings, strict=args.strict)
    if rendered is None:
        workspace, warnings = _open(args, project)
        if args.format == "json":
            render = render_as_json(project.catalog)
        else:
            render = render_as_text(project.catalog, names, verbose=args.verbose)
        if apart:
            decided = _decide(args, workspace, names, warnings)
            if args.data is not None:
                from ontoweir.commands.design.look_at_data import look_at_data

                looked = look_at_data(args, workspace, decided)
                decided = list(looked.outcomes)
            rendered = [render(d) for d in decided]
            if looked is not None and args.format == "json":
                rendered = looked.describe(rendered)
        else:
            from ontoweir.commands.common.keep_verdicts import keep_verdicts

            timed = args.model == TIMED
            rendered = keep_verdicts(workspace, names, warnings, render, kept, timed=timed)
        if args.sql is None:
            errors += list_refused(workspace)
    warnings.release()
    print_verdicts(rendered, args.format)
    if looked is not None and args.format == "text":
        looked.print()
    tiers = [t.tier for t in rendered if t.tier is not None]
    refused = [*(t.error for t in rendered if t.error is not None), *errors]
    return tiers, refused, looked is not None and looked.wrong


def _decide(
    args: argparse.Namespace,
    workspace: "Workspace",
    names: Sequence[str],
    warnings: "Warnings",
) -> "list[Outcome]":
    """Whole verdicts, where plain SQL, static data, witnesses or a page ask for them."""
    from ontoweir.commands.common.decide_queries import Decided, decide_or_refuse, decide_queries

    timed = args.model == TIMED
    if args.sql is not None:
        file = Path(args.sql)
        decided = [
            decide_or_refuse(workspace, file.stem, lambda: workspace.compile_sql(file), timed=timed)
        ]
    else:
        decided = decide_queries(workspace, names, warnings, lambda outcome: outcome, timed=timed)
    if args.static_data:
        from ontoweir.run.read_statistics import read_statistics

        known = read_statistics(workspace, [d.compiled for d in decided if isinstance(d, Decided)])
        for place, d in enumerate(decided):
            if not isinstance(d, Decided):
                continue
            refined = workspace.check(d.compiled, statistics=known, timed=timed)
            # what is refuted stays refuted: a counterexample may have other static rows
            if refined.plans is not None:
                decided[place] = Decided(d.compiled, refined, ())
    if args.witness is not None:
        from ontoweir.trace.write_witness import write_witnesses

        rendered = write_witnesses(
            workspace,
            [d.compiled for d in decided if isinstance(d, Decided)],
            [d.verdict for d in decided if isinstance(d, Decided)],
            Path(args.witness),
            size=args.witness_size or 4,
        )
        for line in () if args.quiet else rendered:
            print(line, file=sys.stderr)
    return decided


def _print_page(
    args: argparse.Namespace,
    workspace: "Workspace",
    decided: "Sequence[Outcome]",
    warnings: "Warnings",
) -> None:
    from ontoweir.commands.common.print_verdict import print_as_log
    from ontoweir.commands.design.render_page import render_page

    if args.format == "html":
        print(render_page(workspace, decided, warnings), end="")
        return
    errors = [] if args.sql is not None else [r.error for r in workspace.mappings.refused]
    root = workspace.project.root
    print_as_log(decided, root, list(warnings.seen), args.format, errors)


def _check_witness(args: argparse.Namespace) -> None:
    """Raise UsageError where --witness cannot do what is asked."""
    size = args.witness_size
    if args.witness is None:
        if size is not None:
            raise UsageError(
                "--witness-size without --witness",
                why="it is the size of the witness that --witness writes",
                fix="add --witness DIR",
            )
    elif args.model == "arrival":
        raise UsageError(
            "--witness does not go with --model arrival",
            why="a witness is data to replay a query over, in application time",
            fix="leave --model arrival out, or leave --witness out",
        )
    elif size is not None and not 1 <= size <= MAX_TUPLES:
        raise UsageError(
            f"--witness-size {size} is not between 1 and {MAX_TUPLES}",
            why="a witness is confirmed by nested loops, whose time grows with its cube or faster",
            fix=f"write --witness-size {MAX_TUPLES}",
        )
