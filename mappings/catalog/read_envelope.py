"""Read what is declared of messages that say how a table changes: change data capture."""

from collections.abc import Sequence
from typing import Literal

from ontoweir.mappings.model.catalog import BooleanType, Column, Envelope
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean

_FORMATS = ("json", "kafka")
_FORMS = ("debezium", "upsert")


def read_envelope(source: TomlTable) -> Envelope | None:
    """What the `source` of a stream says of its messages (None: each is a row as it is).

    Raises:
        CatalogError: it is not declared as an envelope is; with its line.
    """
    written, delete = source.text("envelope"), source.text("delete")
    if written is None:
        if delete is not None:
            raise source.error(
                "delete",
                f"[{source.name()}] has delete, and no envelope",
                why="it names the column that an envelope fills: true where a row is deleted",
                fix='add envelope = "debezium" or "upsert", or remove delete',
            )
        return None
    source.need("delete", '"deleted", a boolean column: true where a row is deleted')
    form = _find_form(source, written)
    if source.text("format") not in _FORMATS or "unnest" in source.values:
        raise source.error(
            "envelope",
            f"[{source.name()}] has an envelope, and "
            + ("unnest" if "unnest" in source.values else f"format = {source.text('format')!r}"),
            why="an envelope is one JSON object for each change of a row",
            fix="remove unnest"
            if "unnest" in source.values
            else 'write format = "json" (lines of JSON) or "kafka"',
        )
    return Envelope(form, delete or "")


def _find_form(source: TomlTable, written: str) -> Literal["debezium", "upsert"]:
    match written:
        case "debezium":
            return "debezium"
        case "upsert":
            return "upsert"
        case _:
            raise source.error(
                "envelope",
                f"the envelope {written!r} is not known",
                why="messages are debezium's (before, after, op), or upserts (a key, and a value "
                "that is null where the key is deleted)",
                fix=did_you_mean(written, _FORMS),
            )


def check_envelope(table: TomlTable, envelope: Envelope | None, columns: Sequence[Column]) -> None:
    """Nothing, if a stream's columns and timestamp go with its envelope.

    Args:
        table: the stream's.
        envelope: that of its source.
        columns: without the timestamp.

    Raises:
        CatalogError: `delete` is no boolean column that the envelope may fill, or the timestamp
            is not one that every message has; with its line.
    """
    if envelope is None:
        return
    source, time = table.table("source"), table.table("timestamp")
    column = next((c for c in columns if c.name == envelope.delete), None)
    if column is None or not isinstance(column.type, BooleanType) or column.path is not None:
        said = (
            "no column"
            if column is None
            else f"from {column.path!r}"
            if column.path is not None
            else name_column_type(column.type)
        )
        raise source.error(
            "delete",
            f"{table.path[-1]}.{envelope.delete} is {said}",
            why="delete names a boolean column, which the envelope fills: true where a row is "
            "deleted",
            fix=f'declare {envelope.delete} = "boolean" in [{table.name()}.columns]',
        )
    places = time.texts("from")
    if not places:
        raise time.error(
            "column",
            f"the timestamp of {table.path[-1]} has no from",
            why="of a message in an envelope it must be said whose time counts",
            fix='add from = ["source.ts_ms"] (when the row was changed), or ["ts_ms"], and '
            'format = "epoch_ms"'
            if envelope.form == "debezium"
            else 'add from = ["timestamp"] (of the message) and format = "epoch_ms"',
        )
    late = [p for p in places if p.partition(".")[0] == "value"]
    if envelope.form == "upsert" and late:
        raise time.error(
            "from",
            f"the timestamp is from {late[0]!r}",
            why="a message that deletes its key has no value, and so would have no time",
            fix='write from = ["timestamp"], of the message, and format = "epoch_ms"; or a path '
            "that begins with key",
        )
