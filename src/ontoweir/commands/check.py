"""`ontoweir check`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ontoweir.commands.arguments import add_project_arguments
from ontoweir.commands.check_mappings import check_mappings
from ontoweir.commands.open_workspace import open_workspace
from ontoweir.commands.render_page import find_repairs, render_page
from ontoweir.errors import UsageError

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


def _check(given: argparse.Namespace) -> int:
    from ontoweir.checker.verdict import Tier
    from ontoweir.commands.decide_queries import decide_queries
    from ontoweir.pipeline import require_queries

    _check_witness(given)
    if given.mappings_only:
        return check_mappings(given)
    if given.sql is not None and given.query:
        raise UsageError(
            "--query does not go with --sql",
            why="--sql names one file, which is the query",
            fix="leave one of them out",
        )
    workspace, warnings = open_workspace(given)
    timed = given.model == "application-time"
    repairs = None
    if given.sql is not None:
        compiled = [workspace.compile_sql(Path(given.sql))]
        verdicts = [workspace.check(compiled[0], timed=timed)]
    else:
        require_queries(workspace)
        names = given.query or workspace.query_names()
        decided = decide_queries(workspace, names, warnings, timed=timed)
        compiled, verdicts = [d.compiled for d in decided], [d.verdict for d in decided]
        repairs = [d.repairs for d in decided]
    if given.static_data:
        from ontoweir.read_statistics import read_statistics

        known = read_statistics(workspace, compiled)
        refined = [workspace.check(c, statistics=known, timed=timed) for c in compiled]
        # what is refuted stays refuted: a counterexample may have other static rows
        verdicts = [v if r.plans is None else r for v, r in zip(verdicts, refined, strict=True)]
        repairs = None
    if given.witness is not None:
        from ontoweir.write_witness import write_witnesses

        size = given.witness_size or 4
        told = write_witnesses(workspace, compiled, verdicts, Path(given.witness), size=size)
        for line in () if given.quiet else told:
            print(line, file=sys.stderr)
    if repairs is None:
        repairs = find_repairs(workspace, compiled, verdicts, timed=timed)
    warnings.release()
    if given.format == "json":
        from ontoweir.describe import describe_verdict

        catalog = workspace.project.catalog
        found = [describe_verdict(v, catalog, r) for v, r in zip(verdicts, repairs, strict=True)]
        print(json.dumps(found, indent=2, ensure_ascii=False))
    elif given.format == "sarif":
        from ontoweir.render_sarif import render_sarif

        sarif = render_sarif(verdicts, workspace.project.root, list(warnings.seen), repairs=repairs)
        print(json.dumps(sarif, indent=2, ensure_ascii=False))
    elif given.format == "html":
        print(render_page(workspace, verdicts, repairs, warnings), end="")
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
    elif given.model == "arrival":
        raise UsageError(
            "--witness does not go with --model arrival",
            why="a witness is data to replay a query over, in application time",
            fix="leave --model arrival out, or leave --witness out",
        )
    elif size is not None and not 1 <= size <= MOST_TUPLES:
        raise UsageError(
            f"--witness-size {size} is not between 1 and {MOST_TUPLES}",
            why="a witness is confirmed by nested loops, whose time grows with its cube or faster",
            fix=f"write --witness-size {MOST_TUPLES}",
        )
