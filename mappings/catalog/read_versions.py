"""Reads a relation that changes: the latest version of each key, as a stream says them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ontoweir.mappings.catalog.read_rules import check_columns
from ontoweir.mappings.model.catalog import (
    ANSWERS,
    BooleanType,
    DateType,
    DecimalType,
    IntType,
    Stream,
    StringType,
    TimestampType,
    VersionsOf,
)
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean
from ontoweir.mappings.model.show_values import advise_key

AS_OF = "as_of"
"""The time at which such a relation is read, as a column of it."""


def read_versions(table: TomlTable, streams: Mapping[str, Stream]) -> Stream:
    """The relation as of every time: a stream without data, with a row for each key and time.

    Args:
        table: the relation's, with `versions`.
        streams: those that are declared.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    table.refuse_unknown(("versions",))
    entry = table.table("versions")
    entry.refuse_unknown(("stream", "key", "delete", "order", "whole"))
    entry.need("stream", '"price_updates"')
    entry.need("key", '["item"]')
    name, of = table.path[-1], entry.text("stream") or ""
    stream = streams.get(of)
    if stream is None:
        raise entry.error(
            "stream",
            f"the versions of {name!r} are of the unknown stream {of!r}",
            why="a declared stream says what the relation holds from when on",
            fix=did_you_mean(of, streams),
        )
    known = [c.name for c in stream.columns]
    versions = VersionsOf(
        of,
        entry.texts("key"),
        entry.text("delete"),
        entry.text("order"),
        whole=entry.flag("whole"),
    )
    named = [n for n in (versions.delete, versions.order) if n is not None]
    check_columns(entry, "key", versions.key, known, of)
    for part, column in (("delete", versions.delete), ("order", versions.order)):
        if column is not None and versions.whole:
            raise entry.error(
                part,
                f"the versions of {name!r} are whole, and have {part}",
                why="the rows of a time are then all that there are: a key not among them is "
                "deleted, and none is among them twice",
                fix=f"remove {part}, or whole",
            )
        if column is not None:
            check_columns(entry, part, [column], known, of)
    every = [*versions.key, *named]
    if not versions.key or len(set(every)) < len(every):
        raise entry.error(
            "key",
            f"the versions of {name!r} have "
            + ("no key" if not versions.key else "a column that is named twice"),
            why="the latest version of each key is what the relation holds",
            fix="name other columns of the stream in key, delete and order",
        )
    _check_types(entry, stream, versions)
    _check_envelope(entry, stream, versions)
    _check_order(entry, stream, versions)
    if AS_OF in known:
        raise entry.error(
            "stream",
            f"{of} has a column called {AS_OF}",
            why="so is called the time at which the relation is read",
            fix="rename the column",
        )
    columns = tuple(c for c in stream.columns if c.name != versions.delete)
    shown = {c.name for c in columns}
    return Stream(
        name,
        ANSWERS,
        AS_OF,
        stream.step_us,
        None,
        tuple(replace(c, source=None) for c in columns),
        ((*versions.key, AS_OF),),
        tuple(r for r in stream.references if set(r.columns) <= shown),
        table.lines.place(*table.path),
        versions=versions,
    )


def _check_envelope(entry: TomlTable, stream: Stream, versions: VersionsOf) -> None:
    """Raise CatalogError where a message says that a row is deleted, and the versions do not."""
    envelope = stream.data.envelope
    if envelope is not None and envelope.delete != versions.delete:
        raise entry.error(
            "delete" if versions.delete is not None else "stream",
            f"the versions of {entry.path[-2]!r} do not end where {stream.name} says that a row is "
            "deleted",
            why=f"its messages have the envelope {envelope.form}, by which {envelope.delete} is "
            "true where a row is deleted",
            fix=f'write delete = "{envelope.delete}"',
        )


def _check_types(entry: TomlTable, stream: Stream, versions: VersionsOf) -> None:
    ordered = (IntType, DecimalType, DateType, TimestampType, StringType)
    for part, name, kinds, wanted in (
        ("delete", versions.delete, (BooleanType,), "a boolean: true where the key has no row"),
        ("order", versions.order, ordered, "a number, a text or a time"),
    ):
        column = None if name is None else stream.column(name)
        if column is not None and not isinstance(column.type, kinds):
            raise entry.error(
                part,
                f"{stream.name}.{name} is {name_column_type(column.type)}",
                why=f"{part} names a column that is {wanted}",
                fix="name another column",
            )


def _check_order(entry: TomlTable, stream: Stream, versions: VersionsOf) -> None:
    """Raise CatalogError where several versions of a key may be the latest."""
    apart: Sequence[str] = (*versions.key, stream.timestamp)
    if versions.order is not None:
        apart = (*apart, versions.order)
    if any(set(key) <= set(apart) for key in stream.keys):
        return
    more = "" if versions.order is not None else ", or name a column that orders them as order"
    raise entry.error(
        "key",
        f"{stream.name} may have several versions of a key at one timestamp",
        why="which of them is the latest, nobody could say",
        fix=f"{advise_key(stream, apart)}{more}",
    )
