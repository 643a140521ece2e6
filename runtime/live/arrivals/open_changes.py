"""The rows of Kafka's messages in an envelope, by the reader of files."""

from collections.abc import Iterator

import pyarrow as pa

from ontoweir.runtime.live.arrivals.ingest import FAULT, OFFSET, PARTITION
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.convert_table import list_faults
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.text.read_envelope import Message, open_messages
from ontoweir.runtime.text.read_json import CORRUPT
from ontoweir.runtime.text.read_text import convert_rows, want_members

KEY, VALUE, SENT = "__key", "__value", "__sent"
"""The columns of what Spark gives of a message: key and value as text, its timestamp in ms."""


def open_changes(history: History, messages: pa.Table) -> pa.Table:
    """The columns in use in their declared types, the timestamp in µs, BAD, and marks (FAULT, RAW,
    PARTITION, OFFSET): of a stream whose messages are in an envelope.

    Args:
        history: the stream.
        messages: KEY, VALUE, SENT, PARTITION and OFFSET.
    """
    stream = history.stream
    assert stream.data.envelope is not None
    columns = [c for c in stream.columns if c.name in history.columns]
    wanted = want_members(columns, stream.written)
    rows, places = open_messages(_messages(messages), wanted, stream.data.envelope)
    made = convert_rows(rows, columns, stream.timestamp, stream.written)
    faults = list_faults(made.column(BAD), stream.name)
    mine = messages.take(pa.array(places, pa.int64()))
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


def _messages(messages: pa.Table) -> Iterator[Message]:
    names = (KEY, VALUE, SENT, OFFSET, PARTITION)
    for key, value, sent, offset, partition in zip(
        *(messages.column(n).to_pylist() for n in names), strict=True
    ):
        number = int(partition.rpartition("/")[2])
        marks = {"timestamp": sent, "offset": offset, "partition": number}
        yield Message(key, value, marks)
