"""A query that is refused, among others that are not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.assertion import RefusedMap

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
        "refused": describe_error(refused.error),
    }


def describe_error(error: OntoweirError) -> dict[str, Any]:
    """What is wrong, and where, as JSON has it."""
    return {
        "construct": error.what,
        "line": None if error.source is None else error.source.line,
        "file": None if error.source is None else error.source.file,
        "why": error.why,
        "fix": error.fix,
    }


def describe_incomplete(name: str, missing: Sequence[RefusedMap]) -> str:
    """What a query could lack, in a sentence."""
    maps = ", ".join(f"{r.id} ({r.error.source})" if r.error.source else r.id for r in missing)
    return f"{name} may be incomplete: refused and left out is what could make its triples: {maps}"


def describe_maps(refused: Iterable[RefusedMap]) -> list[dict[str, Any]]:
    """Triples maps that are refused, as JSON has them."""
    return [{"mapping": r.id, **describe_error(r.error)} for r in refused]


def list_errors(errors: Iterable[OntoweirError]) -> tuple[OntoweirError, ...]:
    """Errors, each once, in their order."""
    return tuple({str(e): e for e in errors}.values())
