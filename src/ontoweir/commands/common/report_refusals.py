"""Report refusals: at the end, or with the results of the others."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ontoweir.errors import OntoweirError
from ontoweir.pipeline.refused_query import describe_error, list_errors

if TYPE_CHECKING:
    from ontoweir.pipeline.pipeline import Workspace


def report_refusals(errors: Sequence[OntoweirError], *, skip: bool) -> int:
    """Say on stderr, at the end, what was refused, each once.

    Returns:
        the exit code: 0 where nothing was; 2, or 1 where it was to be skipped.
    """
    sys.stdout.flush()
    for error in list_errors(errors):
        print(f"warning: skipped: {error}" if skip else error, file=sys.stderr)
    return 0 if not errors else 1 if skip else 2


def describe_refusals(workspace: "Workspace") -> dict[str, Any]:
    """The triples maps that are refused and did not concern what was asked, as a field of JSON
    that is there where there are any."""
    if "mappings" not in workspace.__dict__:  # plain SQL needs none, and none are read
        return {}
    described = [{"mapping": r.id, **describe_error(r.error)} for r in workspace.mappings.refused]
    return {"refused_mappings": described} if described else {}
