"""Declared references that a run enforces on every tuple."""

from collections.abc import Sequence

from ontoweir.mappings.model.catalog import Catalog


def list_references(
    catalog: Catalog, streams: Sequence[str]
) -> tuple[tuple[str, str, str, str, str], ...]:
    """Declared references to enforce: (stream, column, relation, its column, reason)."""
    found: dict[tuple[str, str, str, str, str], None] = {}
    for stream in map(catalog.streams.__getitem__, streams):
        for reference in stream.references:
            column, to = reference.columns[0], reference.to[0]
            if len(reference.columns) == 1 and column != stream.timestamp:
                reason = f"{stream.name}.{column} is not in {reference.relation}.{to}"
                found[(stream.name, column, reference.relation, to, reason)] = None
    return tuple(found)
