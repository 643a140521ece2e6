"""`ontoweir check FILE.sql …`: scripts as they are, a verdict of each statement."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.decide_queries import Decided, Outcome
from ontoweir.commands.common.hold_warnings import Warnings
from ontoweir.commands.common.print_verdict import (
    print_as_log,
    print_verdicts,
    render_as_json,
    render_as_text,
)
from ontoweir.commands.common.report_refusals import report_refusals
from ontoweir.errors import OntoweirError, RunError, Source, UsageError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.refused_query import RefusedQuery
from ontoweir.project.project import Project, load_project

if TYPE_CHECKING:
    from ontoweir.scaffold.scripts.read_scripts import Asked, Scripts

TIMED = "application-time"
_ELSE = ("query", "sql", "data", "fix", "witness", "static_data", "mappings_only", "watch")
"""Options that are about projects."""


def check_scripts(args: argparse.Namespace) -> int:
    """Decide each statement of scripts, or model of dbt, print the verdicts; the exit code.

    Raises:
        UsageError: an option is about projects; or a script cannot be read, or asks for nothing.
        DataError, CatalogError: a table, or the catalog, is wrong.
    """
    from ontoweir.scaffold.scripts.read_dbt import read_dbt
    from ontoweir.scaffold.scripts.read_scripts import read_scripts

    _refuse_options(args)
    files = [Path(file) for file in args.script or [args.dbt]]
    given = None if args.catalog is None else load_project(Path(args.catalog), overrides=args.set)
    catalog = None if given is None else given.catalog
    if args.dbt is None:
        scripts = read_scripts(files, catalog, args.dialect)
    else:
        scripts = read_dbt(files[0], catalog, args.dialect)
    root = files[0].resolve().parent
    project = Project(
        file=root / "ontoweir.toml" if given is None else given.file,
        root=root,
        ontology=(),
        mappings=(),
        queries=(),
        catalog=scripts.catalog,
        queries_source=Source(str(files[0])),
    )
    warnings = Warnings(quiet=args.quiet, verbose=args.verbose)
    workspace = Workspace(project, on_warning=warnings)
    if args.time_limit is not None:
        workspace.time_limit = workspace.repair_time_limit = args.time_limit
    for text in scripts.notes:
        warnings(text)
    if args.verbose:
        for word, source in scripts.passed:
            warnings(f"{source}: {word} is passed over; it asks for nothing; nothing is to be done")
    decided = [_decide(workspace, scripts, one, timed=args.model == TIMED) for one in scripts.asked]
    warnings.release()
    _print(args, workspace, scripts, decided, warnings)
    errors = [d.error for d in decided if isinstance(d, RefusedQuery)]
    code = report_refusals(errors, skip=args.skip_refused)
    return code or _find_code(args.fail_on, decided)


def _refuse_options(args: argparse.Namespace) -> None:
    if args.script and args.dbt is not None:
        raise UsageError(
            "--dbt does not go with a script",
            why="the models of a dbt project are what it has",
            fix="leave one of them out",
            source=Source("--dbt"),
        )
    name = (args.script or [args.dbt])[0]
    for other in _ELSE:
        if getattr(args, other, None) not in (None, False, []):
            option = "--" + other.replace("_", "-")
            raise UsageError(
                f"{option} does not go with a script",
                why="it is about the queries and the data of a project",
                fix=f"leave it out, or make a project: `ontoweir init DIR --from {name}`",
                source=Source(option),
            )
    if args.format == "html":
        raise UsageError(
            "--format html does not go with a script",
            why="a page shows a project",
            fix="write --format text, json, sarif or github",
            source=Source("--format"),
        )


def _decide(workspace: Workspace, scripts: "Scripts", asked: "Asked", *, timed: bool) -> Outcome:
    """Decide a statement, unless it is refused."""
    from ontoweir.pipeline.compiling.compile_sql import compile_sql

    try:
        union = compile_sql(
            asked.body, workspace.project.catalog, name=asked.name, file=asked.source.file
        )
        compiled = CompiledQuery(asked.name, (), (), union, text=asked.body)
        verdict = workspace.check(compiled, timed=timed)
        if verdict.plans is not None:
            return Decided(compiled, verdict, ())
        return Decided(compiled, verdict, workspace.repair(compiled, timed=timed, text=asked.body))
    except RunError:
        raise
    except OntoweirError as error:
        return RefusedQuery(asked.name, scripts.explain(error))


def _print(
    args: argparse.Namespace,
    workspace: Workspace,
    scripts: "Scripts",
    decided: list[Outcome],
    warnings: Warnings,
) -> None:
    catalog = workspace.project.catalog
    if args.format in ("sarif", "github"):
        print_as_log(decided, workspace.project.root, list(warnings.seen), args.format)
        return
    if args.format == "json":
        render = render_as_json(catalog)
        rendered = [render(d) for d in decided]
        print_verdicts(
            [
                replace(r, shown=_place(r.shown, one))
                for r, one in zip(rendered, scripts.asked, strict=True)
            ],
            args.format,
        )
        return
    names = [one.name for one in scripts.asked]
    render = render_as_text(catalog, names, verbose=args.verbose)
    print_verdicts([render(d) for d in decided], args.format)


def _place(described: Any, asked: "Asked") -> dict[str, Any]:
    """A verdict as JSON has it, with its statement."""
    source = {"file": asked.source.file, "line": asked.source.line}
    return {**described, "source": source, "statement": asked.text}


def _find_code(limit: str | None, decided: list[Outcome]) -> int:
    """1 where a verdict is as bad as a limit, or worse."""
    from ontoweir.checker.verdict.verdict import Tier

    tiers = [d.verdict.tier for d in decided if isinstance(d, Decided)]
    return int(limit is not None and any(t.rank >= Tier(limit).rank for t in tiers))
