"""Read messages that say how a table changes, Debezium's and upserts: the row, and whether it ends.

A message is a JSON object; a line of a file, or a message of Kafka, whose key is then beside it.
What is no change of a row is marked with the reason (FAULT), and has no columns.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from ontoweir.mappings.model.catalog import Envelope
from ontoweir.runtime.text.read_json import CORRUPT
from ontoweir.runtime.text.read_nested import (
    MISSING,
    find_member,
    open_lines,
    parse_members,
    show_member,
)

FAULT = "__fault"
"""The column that says why a message is no change of a row (NULL: it is one)."""
NO_OBJECT = "has what is not a JSON object"
_NO_CHANGE = "has an op other than c, u, d and r"
_NO_AFTER = "has a change without an object as after"
_NO_BEFORE = "has a deletion without an object as before"
_OLD_TIME = "has a deletion, whose time from after would be that of an earlier version"
_NO_KEY = "has a message without a key"
_NO_VALUE = "has a message without a value, where a deletion says null"
_ROWS = 20_000
"""So many rows are given at once."""


class _Fault(Exception):
    """A message is no change of a row, and why."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A row: its members, and what leads to them (`image`), beside the whole message (`whole`)."""

    image: Mapping[str, Any]
    whole: Any
    deleted: bool


@dataclass(frozen=True, slots=True)
class Message:
    """A message of Kafka: its key and value as text (None: null), and what Kafka says of it, by
    its name (`timestamp` in ms since 1970, `offset`, `partition`). `unread`: why it cannot be
    decoded (None: it is)."""

    key: str | None
    value: str | None
    marks: Mapping[str, int]
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class WantedMembers:
    """What is read of messages.

    `members`: by column, the names that lead to it, with dots: of the row where they begin with
    `after`, else of the message (Debezium); of the message (an upsert: `key`, `value`, …). None:
    the row's member of the column's name. `times`: those of the timestamp.
    """

    members: Mapping[str, str | None]
    times: frozenset[str] = frozenset()


_Row: TypeAlias = dict[str, str | None]


def read_envelope(path: str, wanted: WantedMembers, envelope: Envelope) -> Iterator[pa.Table]:
    """The columns wanted as the texts that they are written with, CORRUPT and FAULT.

    Args:
        path: a local file of JSON lines; a line `null` is a tombstone, and no row.
        wanted: what is read.
        envelope: what the messages are.

    Raises:
        OSError: it cannot be read.
    """
    rows: list[_Row] = []
    for line in open_lines(path):
        text = line.decode("utf-8", errors="replace").strip()
        row = _open(parse_members(text), text, wanted, envelope)
        if row is not None:
            rows.append(row)
        if len(rows) >= _ROWS:
            yield _table(rows, wanted)
            rows = []
    yield _table(rows, wanted)


def open_messages(
    messages: Iterator[Message], wanted: WantedMembers, envelope: Envelope
) -> tuple[pa.Table, list[int]]:
    """The rows of Kafka's messages, as read_envelope gives them, and of which messages they are: a
    tombstone of Debezium's, which repeats a deletion, is of none."""
    rows: list[_Row] = []
    places: list[int] = []
    for place, message in enumerate(messages):
        text = message.value or ""
        if message.unread is not None:
            rows.append({CORRUPT: text, FAULT: message.unread})
            places.append(place)
            continue
        value = None if message.value is None else parse_members(text)
        key = _read_key(message.key)
        if envelope.form == "upsert" and not isinstance(value, ValueError):
            value = {**message.marks, "key": key, "value": _unwrap(value)}
        row = _open(value, text, wanted, envelope, key)
        if row is not None:
            rows.append(row)
            places.append(place)
    return _table(rows, wanted), places


def _read_key(text: str | None) -> Any:
    """A message's key: JSON, or the text itself."""
    held = None if text is None else parse_members(text)
    return text if isinstance(held, ValueError) else _unwrap(held)


def _unwrap(held: Any) -> Any:
    """What is in Kafka Connect's wrapper of schema and payload, where there is one."""
    if isinstance(held, dict) and held.keys() == {"schema", "payload"}:
        return held["payload"]
    return held


def _open(
    held: Any, text: str, wanted: WantedMembers, envelope: Envelope, key: Any = None
) -> _Row | None:
    """The row that a message is (None: none)."""
    try:
        match envelope.form:
            case "debezium":
                change = _open_debezium(held, wanted, key)
            case "upsert":
                change = _open_upsert(held)
    except _Fault as fault:
        return {CORRUPT: text, FAULT: str(fault)}
    if change is None:
        return None
    row: _Row = {}
    for name, path in wanted.members.items():
        if name == envelope.delete:
            row[name] = "true" if change.deleted else "false"
        elif path is None:
            row[name] = show_member(change.image.get(name, MISSING))
        else:
            row[name] = show_member(find_member(change.whole, path))
    return row


def _open_debezium(held: Any, wanted: WantedMembers, key: Any) -> _Change | None:
    if isinstance(held, dict) and "payload" in held and "op" not in held:
        held = held["payload"]
    if held is None:
        return None
    if not isinstance(held, dict):
        raise _Fault(NO_OBJECT)
    match held.get("op"):
        case "c" | "u" | "r":
            if not isinstance(held.get("after"), dict):
                raise _Fault(_NO_AFTER)
            return _Change(held["after"], held, deleted=False)
        case "d":
            before = held.get("before")
            known = {**(key if isinstance(key, dict) else {})}
            known |= before if isinstance(before, dict) else {}
            if not known:
                raise _Fault(_NO_BEFORE)
            if any(path.partition(".")[0] == "after" for path in wanted.times):
                raise _Fault(_OLD_TIME)
            # what is read of the row is then of the row that was
            return _Change(known, {**held, "after": known}, deleted=True)
        case _:
            raise _Fault(_NO_CHANGE)


def _open_upsert(held: Any) -> _Change:
    if not isinstance(held, dict):
        raise _Fault(NO_OBJECT)
    key = _unwrap(held.get("key"))
    if key is None:
        raise _Fault(_NO_KEY)
    if "value" not in held:
        raise _Fault(_NO_VALUE)
    value = _unwrap(held["value"])
    image = {**(key if isinstance(key, dict) else {})}
    image |= value if isinstance(value, dict) else {}
    return _Change(image, {**held, "key": key, "value": value}, deleted=value is None)


def _table(rows: list[_Row], wanted: WantedMembers) -> pa.Table:
    names = (*wanted.members, CORRUPT, FAULT)
    return pa.table({n: pa.array([r.get(n) for r in rows], pa.string()) for n in names})
