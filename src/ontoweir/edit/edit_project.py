"""Declare something in the text of a project file: a column's domain, a stream's references, keys,
lateness and rate."""

import tomllib
from collections.abc import Sequence

from ontoweir.edit.edit_toml import add_in_item, edit_toml, prepend_item, write_table
from ontoweir.mappings.model.catalog import Column, Lag, Reference, Scalar
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.parse_duration import show_duration


def edit_column(text: str, stream: str, column: Column) -> str | None:
    """The text with a stream's column redeclared; None if there is no simple place."""
    return edit_toml(text, ("streams", stream, "columns", column.name), _entries(column))


def set_nullable(text: str, section: str, table: str, column: str) -> str | None:
    """The text with a column whose NULLs are shown, of a table in "streams" or "relations"; None
    where there is no simple place."""
    path = (section, table, "columns", column)
    held: object = tomllib.loads(text)
    for key in path:
        held = held.get(key) if isinstance(held, dict) else None
    if isinstance(held, str):
        return edit_toml(text, path, {"type": _toml(held), "nullable": _toml(True)})
    return edit_toml(text, (*path, "nullable"), _toml(True))


def add_reference(text: str, stream: str, reference: Reference) -> str | None:
    """The text with one more reference of a stream; None where there is no simple place."""
    return prepend_item(text, ("streams", stream, "references"), write_reference(reference))


def add_key(text: str, stream: str, key: tuple[str, ...]) -> str | None:
    """The text with one more key of a stream; None where there is no simple place."""
    return prepend_item(text, ("streams", stream, "keys"), list_key(key))


def set_lateness(text: str, stream: str, lateness: str) -> str | None:
    """The text with how late rows of a stream may come; None where there is no simple place."""
    path = ("streams", stream, "timestamp")
    return edit_toml(text, (*path, "lateness"), _toml(lateness))


def set_rate(text: str, stream: str, rows: int) -> str | None:
    """The text with how many rows of a stream share a timestamp at most; None where there is no
    simple place."""
    return edit_toml(text, ("streams", stream, "max_per_timestamp"), _toml(rows))


def add_cluster(
    text: str, stream: str, column: str, key: str, length: str | int, most: int | None = None
) -> str | None:
    """The text with one more rule on rows of one value (`write_cluster`); None where there is no
    simple place."""
    item = write_cluster(column, key, length, most)
    return prepend_item(text, ("streams", stream, "clustered"), item)


def set_few(text: str, stream: str, columns: Sequence[str], most: int) -> str | None:
    """The text with how many rows have the same values of columns until they are closed, in the
    rule that closes them; None where there is no simple place."""
    held = tomllib.loads(text).get("streams", {}).get(stream, {})
    for key in ("clustered", "closed_by", "ordered"):
        for number, rule in enumerate(held.get(key, [])):
            named = rule.get("columns", [rule.get("column")])
            if named == list(columns) and not {"within", "max_rows_per_value"} & rule.keys():
                path = ("streams", stream, key)
                return add_in_item(text, path, number, "max_rows_per_value", _toml(most))
    return None


def write_cluster(column: str, key: str, length: str | int, most: int | None = None) -> str:
    """A rule on rows of one value: they lie "within" a span, or consecutive ones within a "gap", or
    so many "rows"; at `most` so many have it (None: nothing is said)."""
    few = {} if most is None else {"max_rows_per_value": _toml(most)}
    return write_table({"columns": _toml((column,)), key: _toml(length), **few})


def add_lag(text: str, stream: str, rule: Lag) -> str | None:
    """The text with one more rule on how long rows come after those of another stream; None where
    there is no simple place."""
    written = {
        "behind": _toml(rule.behind),
        "columns": _toml(rule.columns),
        "to": _toml(rule.to),
        "within": _toml(show_duration(rule.within_us)),
    }
    return prepend_item(text, ("streams", stream, "lags"), write_table(written))


def write_order(column: str, slack: int | str, key: str = "slack") -> str:
    """A rule on values that come in their order, but for a "slack", or so many "rows", as an inline
    table."""
    return write_table({"column": _toml(column), key: _toml(slack)})


def add_order(
    text: str, stream: str, column: str, slack: int | str, key: str = "slack"
) -> str | None:
    """The text with one more rule on values that come in their order (`write_order`); None where
    there is no simple place."""
    return prepend_item(text, ("streams", stream, "ordered"), write_order(column, slack, key))


def list_key(key: tuple[str, ...]) -> str:
    """A key as a list of columns."""
    return _toml(key)


def write_domain(column: Column) -> str:
    """A column's declaration: `{ type = "int", min = 0, max = 999 }`."""
    return write_table(_entries(column))


def write_reference(reference: Reference) -> str:
    """A reference as an inline table."""
    columns, to = _toml(reference.columns), _toml(reference.to)
    return write_table({"columns": columns, "relation": _toml(reference.relation), "to": to})


def _entries(column: Column) -> dict[str, str]:
    entries = {"type": _toml(name_column_type(column.type))}
    if column.path is not None:
        entries["from"] = _toml(column.path)
    if column.minimum is not None:
        entries["min"] = _toml(column.minimum)
    if column.maximum is not None:
        entries["max"] = _toml(column.maximum)
    if column.enum is not None:
        entries["enum"] = _toml(column.enum)
    if column.nullable:
        entries["nullable"] = _toml(True)
    return entries


def _toml(value: Scalar | tuple[Scalar, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)
