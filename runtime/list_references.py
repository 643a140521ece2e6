"""Declared references that a run enforces on every tuple."""

from collections.abc import Sequence

from ontoweir.runtime.replay_job import ReplayJob


def list_references(
    job: ReplayJob, streams: Sequence[str]
) -> tuple[tuple[str, str, str, str, str], ...]:
    """Declared references to enforce: (stream, column, relation, its column, reason)."""
    found: dict[tuple[str, str, str, str, str], None] = {}
    for declared in job.declarations:
        if declared.kind != "reference" or declared.table not in streams:
            continue
        stream = job.catalog.streams[declared.table]
        for reference in stream.references:
            if reference.columns != declared.columns or len(reference.columns) != 1:
                continue
            column, to = reference.columns[0], reference.to[0]
            reason = f"{stream.name}.{column} is not in {reference.relation}.{to}"
            if column != stream.timestamp:
                found[(stream.name, column, reference.relation, to, reason)] = None
    return tuple(found)
