"""The rows of Kafka's messages that are in an envelope, or have columns from paths, or timestamps
in a format, or schemas in a registry: by the reader of files, in this process."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from ontoweir.mappings.model.catalog import Column, Stream
from ontoweir.runtime.framed.open_frames import needs_keys, open_frames
from ontoweir.runtime.live.arrivals.ingest import FAULT
from ontoweir.runtime.live.model.row_places import OFFSET, PARTITION
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.convert_table import list_faults
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.text.read_envelope import FAULT as NO_ROW
from ontoweir.runtime.text.read_envelope import Message, open_messages
from ontoweir.runtime.text.read_json import CORRUPT
from ontoweir.runtime.text.read_nested import MISSING, find_member, parse_members, show_member
from ontoweir.runtime.text.read_text import convert_rows, want_members

KEY, VALUE, SENT = "__key", "__value", "__sent"
"""The columns of what Spark gives of a message: key and value as text (where a registry has their
schemas: as base64), its timestamp in ms."""
UNREAD = "__unread"
"""The column that says why a message cannot be decoded (NULL: it is)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")


def is_opened_here(stream: Stream) -> bool:
    """Whether the messages of a stream of Kafka's are what open_changes takes; Spark parses those
    of others."""
    paths = any(c.path is not None for c in stream.columns)
    read = paths or stream.written is not None or stream.data.envelope is not None
    read = read or bool(stream.data.registry)
    return stream.data.format == "kafka" and read


def decode_frames(stream: Stream, messages: pa.Table) -> pa.Table:
    """Messages as open_changes takes them, of what Spark gives: decoded, and with UNREAD, where a
    registry has their schemas.

    Raises:
        RunError: the registry does not answer.
        DataError: fastavro is not installed.
    """
    if not stream.data.registry or VALUE not in messages.column_names:
        return messages
    names = messages.column_names
    values = messages.column(VALUE).to_pylist()
    keys = messages.column(KEY).to_pylist() if needs_keys(stream) else [None] * len(values)
    opened = open_frames(stream, keys, values)
    for name, texts in ((KEY, opened.keys), (VALUE, opened.values)):
        messages = messages.set_column(names.index(name), name, pa.array(texts, pa.string()))
    return messages.append_column(UNREAD, pa.array(opened.faults, pa.string()))


def open_changes(history: History, messages: pa.Table) -> pa.Table:
    """The columns in use in their declared types, the timestamp in µs, BAD, and marks (FAULT, RAW,
    PARTITION, OFFSET): of a stream whose messages are opened here.

    Args:
        history: the stream.
        messages: KEY, VALUE, SENT, PARTITION and OFFSET, and UNREAD where they had to be decoded.
    """
    stream = history.stream
    columns = [c for c in stream.columns if c.name in history.columns]
    if stream.data.envelope is None:
        rows, mine = _open_values(messages, stream, columns), messages
    else:
        wanted = want_members(columns, stream.written)
        rows, places = open_messages(_messages(messages), wanted, stream.data.envelope)
        mine = messages.take(pa.array(places, pa.int64()))
    made = convert_rows(rows, columns, stream.timestamp, stream.written)
    faults = list_faults(made.column(BAD), stream.name)
    raw = [
        None if bad is None else text if text is not None else key
        for bad, text, key in zip(
            made.column(BAD).to_pylist(),
            mine.column(VALUE).to_pylist(),
            mine.column(KEY).to_pylist(),
            strict=True,
        )
    ]
    made = made.drop_columns([CORRUPT]).append_column(FAULT, faults)
    made = made.append_column(RAW, pa.array(raw, pa.string()))
    for mark in (PARTITION, OFFSET):
        made = made.append_column(mark, mine.column(mark))
    return made


def _open_values(messages: pa.Table, stream: Stream, columns: Sequence[Column]) -> pa.Table:
    """A row for each value: that of a JSON object with all members but those of columns
    that may be NULL, or with those of the timestamp alone (a heartbeat); others say why they are no
    row."""
    members = {c.name: c.path or c.name for c in columns}
    optional = {c.name for c in columns if c.nullable}
    times = [stream.timestamp] if stream.written is None else list(stream.written.columns)
    rows: list[dict[str, str | None]] = []
    for text, unread in zip(messages.column(VALUE).to_pylist(), _unread(messages), strict=True):
        if unread is not None:
            rows.append({CORRUPT: text, NO_ROW: unread})
            continue
        held = None if text is None else parse_members(text)
        if not isinstance(held, dict):
            rows.append({CORRUPT: text, NO_ROW: "has what is not a JSON object"})
            continue
        found = {name: find_member(held, path) for name, path in members.items()}
        found |= {part: find_member(held, part) for part in times}
        alone = all(found[name] is MISSING for name in members)
        needed = times if alone else [n for n in found if n not in optional]
        lacking = next((name for name in needed if found[name] is MISSING), None)
        if lacking is not None:
            field = members.get(lacking, lacking)
            rows.append({CORRUPT: text, NO_ROW: f"lacks the field {field}"})
            continue
        row = {name: show_member(value) for name, value in found.items()}
        if stream.written is None:
            row[stream.timestamp] = read_micros(row[stream.timestamp])
        rows.append(row)
    names = (*members, *times, CORRUPT, NO_ROW)
    return pa.table({n: pa.array([row.get(n) for row in rows], pa.string()) for n in names})


def read_micros(text: str | None) -> str | None:
    """A timestamp as text, where it is a whole number of microseconds."""
    if text is None or _WHOLE.fullmatch(text) is None:
        return text
    try:
        return (_EPOCH + timedelta(microseconds=int(text))).isoformat()
    except OverflowError:
        return text


def _unread(messages: pa.Table) -> list[str | None]:
    if UNREAD not in messages.column_names:
        return [None] * messages.num_rows
    found: list[str | None] = messages.column(UNREAD).to_pylist()
    return found


def _messages(messages: pa.Table) -> Iterator[Message]:
    names = (KEY, VALUE, SENT, OFFSET, PARTITION)
    for key, value, sent, offset, partition, unread in zip(
        *(messages.column(n).to_pylist() for n in names), _unread(messages), strict=True
    ):
        number = int(partition.rpartition("/")[2])
        marks = {"timestamp": sent, "offset": offset, "partition": number}
        yield Message(key, value, marks, unread)
