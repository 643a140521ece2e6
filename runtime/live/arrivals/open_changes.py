"""The rows of Kafka's messages that are in an envelope, or have columns from paths, or timestamps
in a format: by the reader of files, in this process."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from ontoweir.mappings.model.catalog import Column, Stream
from ontoweir.runtime.live.arrivals.ingest import FAULT, OFFSET, PARTITION
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
"""The columns of what Spark gives of a message: key and value as text, its timestamp in ms."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")


def is_opened_here(stream: Stream) -> bool:
    """Whether the messages of a stream of Kafka's are what open_changes takes; Spark parses those
    of others."""
    paths = any(c.path is not None for c in stream.columns)
    read = paths or stream.written is not None or stream.data.envelope is not None
    return stream.data.format == "kafka" and read


def open_changes(history: History, messages: pa.Table) -> pa.Table:
    """The columns in use in their declared types, the timestamp in µs, BAD, and marks (FAULT, RAW,
    PARTITION, OFFSET): of a stream whose messages are opened here.

    Args:
        history: the stream.
        messages: KEY, VALUE, SENT, PARTITION and OFFSET.
    """
    stream = history.stream
    columns = [c for c in stream.columns if c.name in history.columns]
    if stream.data.envelope is None:
        rows, mine = _open_values(messages.column(VALUE).to_pylist(), stream, columns), messages
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


def _open_values(
    values: Sequence[str | None], stream: Stream, columns: Sequence[Column]
) -> pa.Table:
    """A row for each value, as text: that of a JSON object with all members but those of columns
    that may be NULL, or with those of the timestamp alone (a heartbeat); others say why they are no
    row."""
    members = {c.name: c.path or c.name for c in columns}
    optional = {c.name for c in columns if c.nullable}
    times = [stream.timestamp] if stream.written is None else list(stream.written.columns)
    rows: list[dict[str, str | None]] = []
    for text in values:
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


def _messages(messages: pa.Table) -> Iterator[Message]:
    names = (KEY, VALUE, SENT, OFFSET, PARTITION)
    for key, value, sent, offset, partition in zip(
        *(messages.column(n).to_pylist() for n in names), strict=True
    ):
        number = int(partition.rpartition("/")[2])
        marks = {"timestamp": sent, "offset": offset, "partition": number}
        yield Message(key, value, marks)
