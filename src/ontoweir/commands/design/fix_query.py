"""`ontoweir check --fix`: make a repair in the files of a project."""

import argparse
import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import Source, UsageError

if TYPE_CHECKING:
    from ontoweir.pipeline.pipeline import CompiledQuery, Workspace

FIRST = "1"

PATIENT_SECONDS = 60.0
"""How long repairs are looked for where the time that `check` takes finds none."""


def add_fix(check: argparse.ArgumentParser) -> None:
    """`--fix` of `check`."""
    check.add_argument(
        "--fix",
        nargs="?",
        const=FIRST,
        metavar="N",
        help="make repair N (default: 1) of the query that --query or --sql names, show the "
        "changes, and say the verdict after it; comments stay",
    )


def fix_query(args: argparse.Namespace, workspace: "Workspace") -> int:
    """Make the repair that is asked for, and print the difference; the exit code.

    Raises:
        UsageError: no query is named, or it has no such repair, or that cannot be made by itself.
        OntoweirError: the query is wrong.
    """
    from ontoweir.edit.apply_repair import apply_repair
    from ontoweir.files.replace_file import replace_file
    from ontoweir.report.render_check import short_place

    compiled = _compile(args, workspace)
    verdict = workspace.check(compiled)
    if verdict.plans is not None:
        print(f"{compiled.name}: {verdict.tier}; there is nothing to repair")
        return 0
    repairs = workspace.repair(compiled)
    if not repairs and args.time_limit is None:
        workspace.repair_time_limit = PATIENT_SECONDS
        repairs = workspace.repair(compiled)
    if args.data is not None:  # in the order in which `check --data` shows them
        from ontoweir.commands.common.decide_queries import Decided
        from ontoweir.commands.design.look_at_data import look_at_data

        (ranked,) = look_at_data(args, workspace, [Decided(compiled, verdict, repairs)]).outcomes
        assert isinstance(ranked, Decided)
        repairs = ranked.repairs
    number = _read_number(args.fix, len(repairs), compiled.name)
    repair = repairs[number - 1]
    changed = apply_repair(repair)
    if any('"value 1"' in line for edit in repair.edits for line in edit.lines):
        raise UsageError(
            f"repair {number} of {compiled.name} lists values that only you know",
            why="value 1, value 2 … stand for them",
            fix="write the enumeration yourself, or choose another repair: --fix N",
        )
    for file, (_, after) in changed.items():
        replace_file(file, after.encode("utf-8"))
    for file, (before, after) in changed.items():
        name = short_place(Source(str(file)))
        lines = unified_diff(before.split("\n"), after.split("\n"), name, name, lineterm="")
        print("\n".join(lines))
    bound = repair.verdict.bound
    rows = "finite" if bound is None or bound.rows is None else f"at most {bound.rows:,} rows"
    print(f"{compiled.name}: {'; '.join(repair.actions)}", file=sys.stderr)
    print(f"{compiled.name}: {verdict.tier} → {repair.verdict.tier}, {rows}")
    return 0


def _compile(args: argparse.Namespace, workspace: "Workspace") -> "CompiledQuery":
    if args.sql is not None:
        return workspace.compile_sql(Path(args.sql))
    if args.query is None or len(args.query) != 1:
        raise UsageError(
            "--fix needs one query",
            why="a repair is of one query",
            fix="add --query NAME, or --sql FILE",
        )
    return workspace.compile(args.query[0])


def _read_number(text: str, count: int, name: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if 1 <= number <= count:
        return number
    known = f"it has {count}" if count else "none was found"
    raise UsageError(
        f"{name} has no repair {text}",
        why=f"{known}; `check` numbers them",
        fix="write --fix 1" if count else "change the query, or declare more of its streams",
    )
