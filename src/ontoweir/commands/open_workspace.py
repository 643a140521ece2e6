"""Open the project that a command names."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.commands.hold_warnings import Warnings

if TYPE_CHECKING:
    from ontoweir.pipeline.pipeline import Workspace


def open_workspace(
    given: argparse.Namespace, *, apart: bool = False
) -> "tuple[Workspace, Warnings]":
    """Read the project; nothing else is read before it is needed.

    `apart`: what is wrong in a mapping concerns the queries that could need it alone.

    Raises:
        OntoweirError: the project is wrong.
    """
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.progress.show_work import WorkProgress
    from ontoweir.project.project import load_project

    project = load_project(Path(given.project), overrides=given.set)
    warnings = Warnings(quiet=given.quiet)
    tell = WorkProgress(quiet=given.quiet)
    workspace = Workspace(project, strict=given.strict, apart=apart, warn=warnings, tell=tell)
    if given.verbose and not given.quiet:
        workspace.note = print_step
    return workspace, warnings


def print_step(what: str, seconds: float) -> None:
    """Say on stderr what was done, and how long it took."""
    print(f"{seconds:8.3f} s  {what}", file=sys.stderr)
