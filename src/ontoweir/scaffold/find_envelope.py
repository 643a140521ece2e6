"""Recognise JSON lines that say how a table changes: what is the row, the time, the order."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Envelope
from ontoweir.scaffold.flatten_rows import flatten_rows

if TYPE_CHECKING:
    import pyarrow as pa

_OPS = {"c", "u", "d", "r"}
_ORDERS = ("lsn", "pos", "scn", "offset")
"""Members that number the changes."""
_MESSAGE = {"key", "value", "timestamp", "offset", "partition", "topic", "headers"}


@dataclass(frozen=True, slots=True)
class Changes:
    """Messages in an envelope: the rows that they hold; by column, the names that lead to it where
    that is not the row's own member; those that lead to the time; what tells rows apart, as far as
    messages say it."""

    envelope: Envelope
    rows: "pa.Table"
    paths: dict[str, str]
    time: str
    key: tuple[str, ...]
    order: str | None


def find_envelope(rows: "pa.Table") -> Changes | None:
    """What messages of changes hold (None: the rows are no such messages).

    Args:
        rows: as Arrow reads JSON lines.
    """
    import pyarrow as pa

    table = rows
    if "payload" in rows.column_names and _is_object(rows, "payload"):
        inner = rows.column("payload").combine_chunks()
        table = pa.Table.from_struct_array(inner)
    return _find_debezium(table) or _find_upsert(rows)


def _is_object(table: "pa.Table", name: str) -> bool:
    import pyarrow as pa

    return name in table.column_names and pa.types.is_struct(table.schema.field(name).type)


def _find_debezium(table: "pa.Table") -> Changes | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (_is_object(table, "after") and {"op", "before"} <= set(table.column_names)):
        return None
    ops = set(pc.unique(table.column("op")).to_pylist())
    if not ops & _OPS or not ops <= {*_OPS, "t", "m", None}:
        return None
    source = table.column("source").combine_chunks() if _is_object(table, "source") else None
    members = [] if source is None else [f.name for f in source.type]
    time = "source.ts_ms" if "ts_ms" in members else "ts_ms"
    if time == "ts_ms" and "ts_ms" not in table.column_names:
        return None
    after = table.filter(pc.is_valid(table.column("after"))).column("after").combine_chunks()
    image = pa.Table.from_struct_array(after)
    made, paths, _ = flatten_rows(image)
    paths = {name: f"after.{path}" for name, path in paths.items()}
    order = next((o for o in _ORDERS if o in members and o not in made.column_names), None)
    if order is not None and source is not None:
        numbers = source.field(order).filter(table.column("after").combine_chunks().is_valid())
        if pa.types.is_integer(numbers.type):
            made = made.append_column(order, numbers)
            paths[order] = f"source.{order}"
        else:
            order = None
    delete = _name_delete(made)
    return Changes(Envelope("debezium", delete), made, paths, time, (), order)


def _find_upsert(rows: "pa.Table") -> Changes | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    names = set(rows.column_names)
    if not ({"key", "value", "timestamp"} <= names <= _MESSAGE and _is_object(rows, "value")):
        return None
    there = rows.filter(pc.is_valid(rows.column("value")))
    image = pa.Table.from_struct_array(there.column("value").combine_chunks())
    key: tuple[str, ...] = ("key",)
    keys = there.select(["key"])
    if _is_object(there, "key"):
        keys = pa.Table.from_struct_array(there.column("key").combine_chunks())
        key = tuple(keys.column_names)
    made, paths, _ = flatten_rows(image)
    paths = {name: f"value.{path}" for name, path in paths.items()}
    for name in keys.column_names:
        if name not in made.column_names:
            made = made.append_column(name, keys.column(name))
            if not _is_object(there, "key"):
                paths[name] = "key"
    order = "offset" if "offset" in names and "offset" not in made.column_names else None
    if order is not None:
        made = made.append_column(order, there.column(order))
        paths[order] = order
    return Changes(Envelope("upsert", _name_delete(made)), made, paths, "timestamp", key, order)


def _name_delete(rows: "pa.Table") -> str:
    name = "deleted"
    while name in rows.column_names:
        name += "_"
    return name
