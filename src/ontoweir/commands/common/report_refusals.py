"""Report refusals: at the end, or with the results of the others."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import hide_kept
from ontoweir.errors import MappingError, OntoweirError

if TYPE_CHECKING:
    from ontoweir.pipeline.pipeline import CompiledQuery, Workspace


def add_skip_refused(command: argparse.ArgumentParser) -> None:
    """`--skip-refused` of a command on one query."""
    command.add_argument(
        "--skip-refused",
        action="store_true",
        help="leave out triples maps with errors, and name them if the query could need them "
        "(exit 1)",
    )


@contextmanager
def report_all_refused(workspace: "Workspace") -> Iterator[None]:
    """Where a triples map that is refused ends the command, say on stderr which others are, too."""
    try:
        yield
    except MappingError as error:
        from ontoweir.pipeline.refused_query import list_errors

        refused = [str(e) for e in list_errors(list_refused(workspace))]
        for text in refused if str(error) in refused else ():
            if text != str(error):
                print(text, file=sys.stderr)
        raise


def list_refused(workspace: "Workspace") -> list[MappingError]:
    """Why triples maps are refused; none where no mappings were read, as plain SQL needs none."""
    if "mappings" not in workspace.__dict__:
        return []
    return [r.error for r in workspace.mappings.refused]


def report_skipped(workspace: "Workspace") -> int:
    """Say on stderr, at the end, which triples maps `--skip-refused` has left out.

    Returns:
        the exit code: 1 where any was.
    """
    refused = list_refused(workspace) if workspace.skip_refused else []
    return report_refusals(refused, skip=True)


def report_refusals(errors: Sequence[OntoweirError], *, skip: bool) -> int:
    """Say on stderr, at the end, what was refused, each once.

    Returns:
        the exit code: 0 where nothing was; 2, or 1 where it was to be skipped.
    """
    sys.stdout.flush()
    if not errors:
        return 0
    from ontoweir.pipeline.refused_query import list_errors

    for error in list_errors(errors):
        text = hide_kept(str(error))
        print(f"warning: skipped: {text}" if skip else text, file=sys.stderr)
    return 1 if skip else 2


def describe_refusals(
    workspace: "Workspace", compiled: "Sequence[CompiledQuery]" = ()
) -> dict[str, Any]:
    """The triples maps that are refused, as fields of JSON that are there where there are any:
    all, and with `--skip-refused` those that the queries could have needed (`incomplete`)."""
    if "mappings" not in workspace.__dict__:  # plain SQL needs none, and none are read
        return {}
    from ontoweir.pipeline.refused_query import describe_maps

    needed = {id(r): r for query in compiled for r in query.incomplete}
    fields = {
        "refused_mappings": describe_maps(workspace.mappings.refused),
        "incomplete": describe_maps(needed.values()),
    }
    return {name: described for name, described in fields.items() if described}
