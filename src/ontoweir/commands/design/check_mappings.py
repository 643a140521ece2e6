"""`ontoweir check --mappings-only`."""

import argparse
import shutil
import sys

from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import report_refusals
from ontoweir.errors import UsageError


def check_mappings(args: argparse.Namespace) -> int:
    """`check --mappings-only`."""
    from ontoweir.checker.verdict.verdict import Tier
    from ontoweir.lint.lint_mappings import lint_mappings
    from ontoweir.lint.render_lint import dump_lint, print_lint, reaches, render_lint_sarif
    from ontoweir.report.scanning.print_log import print_log

    for option in ("query", "sql", "witness"):
        if getattr(args, option) is not None:
            raise UsageError(
                f"--mappings-only does not go with --{option}",
                why="it examines the mappings, independently of the queries",
                fix=f"leave one of them out: without --mappings-only, --{option} checks queries",
            )
    if args.format == "html" or args.model == "arrival":
        other = "--format html" if args.format == "html" else "--model arrival"
        raise UsageError(
            f"--mappings-only does not go with {other}",
            why="it is decided in application time, and printed as text or for programs",
            fix=f"leave {other} out",
        )
    workspace, warnings = open_workspace(args, named_refused=True)
    lints = lint_mappings(workspace)
    warnings.release()
    if args.format == "json":
        print(dump_lint(lints))
    elif args.format in ("sarif", "github"):
        errors = [r.error for r in workspace.mappings.refused]
        log = render_lint_sarif(lints, workspace.project.root, list(warnings.seen), errors)
        print_log(log, args.format, sys.stdout)
    else:
        from rich.console import Console

        print_lint(lints, Console(highlight=False, width=max(_width(), 100)))
    code = report_refusals([r.error for r in workspace.mappings.refused], skip=args.skip_refused)
    if code == 0 and args.fail_on is not None and reaches(lints, Tier(args.fail_on)):
        return 1
    return code


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
