"""A query that is refused, among others that are not."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ontoweir.errors import OntoweirError

REFUSED = "refused"
"""Stands where verdicts have their name."""


@dataclass(frozen=True, slots=True)
class RefusedQuery:
    """A query without a verdict, and why: it is wrong itself, or could need a mapping that is."""

    name: str
    error: OntoweirError


def describe_refused(refused: RefusedQuery) -> dict[str, Any]:
    """A refused query as `ontoweir check --format json` prints it: the fields of a verdict, which
    say nothing, and `refused`."""
    error = refused.error
    return {
        "query": refused.name,
        "semantics": None,
        "verdict": REFUSED,
        "tier": REFUSED,
        "bound": {"rows": None, "formula": "∞"},
        "conditions": [],
        "blame": None,
        "disjuncts": [],
        "witness": None,
        "repairs": [],
        "refused": {
            "construct": error.what,
            "line": None if error.source is None else error.source.line,
            "file": None if error.source is None else error.source.file,
            "why": error.why,
            "fix": error.fix,
        },
    }


def list_errors(errors: Iterable[OntoweirError]) -> tuple[OntoweirError, ...]:
    """Errors, each once, in their order."""
    return tuple({str(e): e for e in errors}.values())
