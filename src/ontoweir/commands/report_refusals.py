"""Say what was refused, at the end."""

import sys
from collections.abc import Sequence

from ontoweir.errors import OntoweirError
from ontoweir.pipeline.refused_query import list_errors


def report_refusals(errors: Sequence[OntoweirError], *, skip: bool) -> int:
    """Say on stderr, at the end, what was refused, each once.

    Returns:
        the exit code: 0 where nothing was; 2, or 1 where it was to be skipped.
    """
    sys.stdout.flush()
    for error in list_errors(errors):
        print(f"warning: skipped: {error}" if skip else error, file=sys.stderr)
    return 0 if not errors else 1 if skip else 2
