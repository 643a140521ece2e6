"""A table whose rows replace each other, as a stream of versions and what holds of them."""

from dataclasses import replace

from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.model.catalog import (
    ANSWERS,
    BooleanType,
    Column,
    IntType,
    Stream,
    VersionsOf,
)

_DELETED, _OFFSET = "row_deleted", "row_offset"


def read_changes(stream: Stream) -> tuple[Stream, Stream] | None:
    """The stream of a table's changes, and the table as of every time, which is read by `FOR
    SYSTEM_TIME AS OF` (None: it has no key, or a column that is called as one of theirs).

    Args:
        stream: the table as it is created, its first key being the primary one. Its changes have
            two columns more: whether a row is deleted, and what orders the changes of a topic.
    """
    known = {stream.timestamp, *(c.name for c in stream.columns)}
    if not stream.keys or known & {_DELETED, _OFFSET, AS_OF}:
        return None
    key = tuple(name for name in stream.keys[0] if name != stream.timestamp)
    more = (Column(_DELETED, BooleanType(), nullable=True), Column(_OFFSET, IntType()))
    changes = replace(
        stream,
        name=f"{stream.name}_changes",
        columns=(*stream.columns, *more),
        keys=((*key, stream.timestamp, _OFFSET),),
    )
    table = Stream(
        stream.name,
        ANSWERS,
        AS_OF,
        stream.step_us,
        None,
        tuple(replace(c, source=None) for c in (*stream.columns, more[1])),
        ((*key, AS_OF),),
        stream.references,
        stream.source,
        versions=VersionsOf(changes.name, key, _DELETED, _OFFSET),
    )
    return changes, table
