"""Declared references that a run enforces on every tuple."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Catalog


@dataclass(frozen=True, slots=True)
class EnforcedReference:
    """A value of `stream`.`column` has to be in `relation`.`to`; else its tuple is rejected, for
    the `reason`."""

    stream: str
    column: str
    relation: str
    to: str
    reason: str


def list_references(catalog: Catalog, streams: Sequence[str]) -> tuple[EnforcedReference, ...]:
    """Declared references of one column to enforce, each once."""
    references: dict[EnforcedReference, None] = {}
    for stream in map(catalog.streams.__getitem__, streams):
        for reference in stream.references:
            column, to = reference.columns[0], reference.to[0]
            if len(reference.columns) == 1 and column != stream.timestamp:
                reason = f"{stream.name}.{column} is not in {reference.relation}.{to}"
                enforced = EnforcedReference(stream.name, column, reference.relation, to, reason)
                references[enforced] = None
    return tuple(references)
