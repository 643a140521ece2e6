"""Open the project that a command names."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.commands.common.arguments import add_asked
from ontoweir.commands.common.hold_warnings import Warnings

if TYPE_CHECKING:
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.project.project import Project


UNNEEDED = "refused, and of no concern here: "
"""Before what is wrong in a triples map that is not needed."""


def open_workspace(
    args: argparse.Namespace, *, named_refused: bool = False, project: "Project | None" = None
) -> "tuple[Workspace, Warnings]":
    """Read the project, unless it is given; nothing else is read before it is needed.

    What is wrong in a triples map concerns the queries that could need it alone. It is warned of,
    unless the caller names what is refused itself (`named_refused`), or `--skip-refused` does, with
    which those queries go on without.

    Raises:
        OntoweirError: the project is wrong.
    """
    from ontoweir.cache.open_cache import open_cache
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.progress.show_phases import QueryProgress
    from ontoweir.project.project import load_project

    if project is None:
        project = load_project(Path(args.project), overrides=args.set)
    warnings = Warnings(quiet=args.quiet, verbose=args.verbose)
    workspace = Workspace(add_asked(project), strict=args.strict, partial=True, on_warning=warnings)
    workspace.cache = open_cache(args.cache)
    workspace.skip_refused = getattr(args, "skip_refused", False)
    if not named_refused and not workspace.skip_refused:
        workspace.on_refused = lambda text: warnings(UNNEEDED + text)
    workspace.on_progress = QueryProgress(quiet=args.quiet)
    if args.verbose and not args.quiet:
        workspace.on_stage = print_step
    return workspace, warnings


def print_step(what: str, seconds: float) -> None:
    """Say on stderr what was done, and how long it took."""
    print(f"{seconds:8.3f} s  {what}", file=sys.stderr)
