"""`ontoweir diff`."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import UsageError

if TYPE_CHECKING:
    from ontoweir.answers.compare_answers import Difference
    from ontoweir.answers.compare_verdicts import ChangedVerdict

_SHOWN = 20
"""Rows of each side that are shown."""


def add_diff(commands: Any) -> None:
    """Add `diff` to the commands."""
    diff = commands.add_parser(
        "diff",
        help="compare two results: answers that came and went; or two versions of a project: "
        "verdicts and bounds that changed, and why",
        epilog="examples: `ontoweir diff before.parquet after.parquet`; "
        "`ontoweir diff examples/traffic ../older/examples/traffic`",
    )
    diff.add_argument(
        "before", metavar="A", help="a result, - for one from standard input, or a project's folder"
    )
    diff.add_argument("after", metavar="B", help="another one")
    diff.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of results: a column that does not matter, such as at; may be repeated",
    )
    diff.add_argument(
        "--limit", type=int, default=_SHOWN, metavar="N", help=f"rows shown (default: {_SHOWN})"
    )
    diff.add_argument("--format", choices=("text", "json"), default="text")
    diff.add_argument("--exit-code", action="store_true", help="exit with 1 if they differ")
    diff.set_defaults(run=_diff)


def _diff(args: argparse.Namespace) -> int:
    before, after = Path(args.before), Path(args.after)
    projects = [_is_project(before), _is_project(after)]
    if any(projects) and not all(projects):
        raise UsageError(
            "one is a project, the other is not",
            why="two results are compared, or two versions of a project",
            fix="name two of a kind",
        )
    differ = _diff_projects(args) if all(projects) else _diff_results(args)
    return 1 if differ and args.exit_code else 0


def _is_project(path: Path) -> bool:
    return path.name == "ontoweir.toml" or (path / "ontoweir.toml").is_file()


def _diff_results(args: argparse.Namespace) -> bool:
    from ontoweir.answers.compare_answers import compare_answers
    from ontoweir.answers.read_alike import read_alike
    from ontoweir.answers.read_answers import find_answers
    from ontoweir.answers.take_piped import take_piped

    if args.before == args.after == "-":
        raise UsageError(
            "both results are standard input",
            why="it is read once",
            fix="name a file for one of them",
        )
    with take_piped(Path(args.before)) as one, take_piped(Path(args.after)) as other:
        before, after = find_answers(one), find_answers(other)
        found = compare_answers(*read_alike(before, after), args.ignore)
    if args.format == "json":
        print(json.dumps(_describe(found)))
    else:
        _print_rows(found, args.limit)
    return bool(found.gone or found.come)


def _describe(found: "Difference") -> dict[str, Any]:
    def rows(side: "tuple[tuple[tuple[object, ...], int], ...]") -> list[dict[str, Any]]:
        return [
            {**{n: _plain(v) for n, v in zip(found.columns, row, strict=True)}, "times": times}
            for row, times in side
        ]

    return {"same": found.same, "gone": rows(found.gone), "come": rows(found.come)}


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int | float | str | bool) else str(value)


def _print_rows(found: "Difference", limit: int) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    gone, come = (sum(n for _, n in side) for side in (found.gone, found.come))
    console.print(f"{found.same:,} answers in both, {gone:,} gone, {come:,} new")
    for sign, colour, side in (("-", "red", found.gone), ("+", "green", found.come)):
        if side:
            console.print(f"  {', '.join(found.columns)}", style="dim", markup=False)
        for row, times in side[:limit]:
            shown = ", ".join("NULL" if v is None else str(v) for v in row)
            often = f"  × {times}" if times > 1 else ""
            console.print(f"{sign} {shown}{often}", style=colour, markup=False, soft_wrap=True)
        if len(side) > limit:
            console.print(f"{sign} … and {len(side) - limit:,} more", style=colour)


def _diff_projects(args: argparse.Namespace) -> bool:
    from ontoweir.answers.compare_verdicts import compare_verdicts

    before, after = _verdicts(args.before), _verdicts(args.after)
    changed = compare_verdicts(before, after)
    if args.format == "json":
        print(json.dumps([_describe_verdict(c) for c in changed], ensure_ascii=False))
        return bool(changed)
    same = len(before.keys() | after.keys()) - len(changed)
    print(f"{len(changed)} of {len(changed) + same} queries changed")
    for one in changed:
        then = f" → {one.after}" if one.after != one.before else ", as before"
        print(f"{one.query}: {one.before}{then}")
        for line in one.why:
            print(f"  {line}")
    sys.stdout.flush()
    return bool(changed)


def _describe_verdict(changed: "ChangedVerdict") -> dict[str, Any]:
    return {
        "query": changed.query,
        "from": changed.before,
        "to": changed.after,
        "why": list(changed.why),
    }


def _verdicts(project: str) -> dict[str, dict[str, Any]]:
    """What `check` says of each query of a project, and how it is written (`text`)."""
    from ontoweir.commands.common.decide_queries import decide_queries
    from ontoweir.commands.common.open_workspace import open_workspace
    from ontoweir.commands.common.print_verdict import render_as_json

    args = argparse.Namespace(
        project=project, set=[], strict=False, quiet=True, verbose=False, cache=None
    )
    workspace, warnings = open_workspace(args)
    names = workspace.query_names()
    render = render_as_json(workspace.project.catalog)
    rendered = decide_queries(workspace, names, warnings, render)
    texts = (workspace.query_file(name).read_text(encoding="utf-8") for name in names)
    return {
        name: {**one.shown, "text": text}
        for name, one, text in zip(names, rendered, texts, strict=True)
    }
