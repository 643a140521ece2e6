"""The rows of Kafka's messages that this process read: exactly those that Spark makes of them.

What the rules here do not settle (a message that is no JSON object, twice the same member, a value
that is not written plainly) is left to Spark, with all that came together.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.runtime.framed.open_frames import wrap_bytes
from ontoweir.runtime.live.arrivals.ingest import FAULT
from ontoweir.runtime.live.arrivals.open_changes import (
    KEY,
    SENT,
    VALUE,
    is_opened_here,
    read_micros,
)
from ontoweir.runtime.live.arrivals.read_batch import name_marks
from ontoweir.runtime.live.arrivals.read_stream import STREAM
from ontoweir.runtime.live.model.row_places import OFFSET, PARTITION
from ontoweir.runtime.live.topics.open_topic import Histories, split_rows
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.text.read_text import convert_rows

_LONG, _DEEP, _DIGITS = 100_000, 200, 60
"""Characters of a message, objects and arrays in it, and characters of a number, up to which Spark
has no limit that this process has not, and the other way round."""
_WHOLE = r"-?(?:0|[1-9][0-9]{0,17})"
_MOMENT = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
)
_DECIMAL = r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?"


@dataclass(slots=True)
class Messages:
    """Messages of a stream, each at the same place of all lists: keys and values as bytes, when
    they were sent (ms; None: not known), topic/partition, offset."""

    keys: list[bytes | None] = field(default_factory=list)
    values: list[bytes | None] = field(default_factory=list)
    sent: list[int | None] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Came:
    """What this process read of topics in a micro-batch, by stream."""

    messages: Mapping[str, Messages]

    def rows(self, histories: Histories) -> dict[str, pa.Table] | None:
        """The rows by what is read of one stream (None: Spark is to read them)."""
        stream = next(iter(histories.values())).stream
        return open_here(stream, self.messages.get(stream.name, Messages()), histories)


class _Unsettled(Exception):
    """Spark is to say what a message is."""


def open_here(
    stream: Stream, messages: Messages, histories: Histories
) -> dict[str, pa.Table] | None:
    """Messages by what is read of their stream, as ingest wants them (None: Spark is to open them,
    as the rules here do not settle one of them).

    Args:
        stream: the stream.
        messages: of each partition in the order of their offsets.
        histories: what is read of it.
    """
    try:
        order = np.argsort(np.array(messages.parts, dtype=np.str_), kind="stable").tolist()
        framed = bool(stream.data.registry)
        texts = [_decode(messages.values[n], framed) for n in order]
        marks = {
            PARTITION: pa.array([messages.parts[n] for n in order], pa.string()),
            OFFSET: pa.array([messages.offsets[n] for n in order], pa.int64()),
        }
        if is_opened_here(stream):
            sent = [messages.sent[n] for n in order]
            if None in sent:
                return None
            rows: dict[str, Any] = {
                STREAM: pa.array([stream.name] * len(order), pa.string()),
                KEY: pa.array([_decode(messages.keys[n], framed) for n in order], pa.string()),
                VALUE: pa.array(texts, pa.string()),
                SENT: pa.array(sent, pa.int64()),
            }
            return split_rows(pa.table({**rows, **marks}), histories)
        opened = _Values(stream, texts)
        named = name_marks(pa.table(marks), stream)
        return {key: opened.read(history, named) for key, history in histories.items()}
    except _Unsettled:
        return None


def _decode(text: bytes | None, framed: bool) -> str | None:
    """Text as Spark gives it: of what a registry describes, base64."""
    if framed:
        return wrap_bytes(text)
    try:
        return None if text is None else text.decode("utf-8")
    except UnicodeDecodeError:
        raise _Unsettled from None


class _Values:
    """The values of messages as JSON objects, each parsed once."""

    def __init__(self, stream: Stream, texts: Sequence[str | None]) -> None:
        self.stream, self.texts = stream, texts
        self.held = [_parse(text) for text in texts]
        self.types = {c.name: c.type for c in stream.columns}
        self.members: dict[str, tuple[pa.Array, Any]] = {}

    def read(self, history: History, marks: pa.Table) -> pa.Table:
        """The rows of a history. `marks`: PARTITION and OFFSET."""
        columns = [c for c in self.stream.columns if c.name in history.columns]
        time = self.stream.timestamp
        names = [*(c.name for c in columns), time]
        found = {name: self._find(name) for name in names}
        table = pa.table({name: text for name, (text, _) in found.items()})
        made = convert_rows(table, columns, time, None)
        optional = frozenset(c.name for c in columns if c.nullable)
        faults, raw = self._list_faults({n: lacking for n, (_, lacking) in found.items()}, optional)
        made = made.append_column(FAULT, faults).append_column(RAW, raw)
        for mark in (PARTITION, OFFSET):
            made = made.append_column(mark, marks.column(mark))
        return made

    def _find(self, name: str) -> tuple[pa.Array, Any]:
        """A member of all as text, and of which it is missing."""
        if name in self.members:
            return self.members[name]
        kind, is_time = self.types.get(name), name == self.stream.timestamp
        exact = isinstance(kind, StringType) and not is_time
        texts = [_show(held[name], exact) if name in held else None for held in self.held]
        lacking = np.array([name not in held for held in self.held], dtype=bool)
        try:
            array = pa.array(texts, pa.string())
        except UnicodeEncodeError:  # half a surrogate pair
            raise _Unsettled from None
        pattern = f"{_WHOLE}|{_MOMENT}" if is_time or kind is None else _plain(kind)
        if pattern is not None:
            plain = pc.match_substring_regex(array, f"^(?:{pattern})$")
            if pc.all(plain, skip_nulls=True).as_py() is False:
                raise _Unsettled
        if is_time:
            array = pa.array([read_micros(text) for text in texts], pa.string())
        self.members[name] = array, lacking
        return array, lacking

    def _list_faults(
        self, lacking: Mapping[str, Any], optional: frozenset[str]
    ) -> tuple[pa.Array, pa.Array]:
        """Of each message why it is no row (NULL: it is one), and then its text: it lacks a field,
        unless it has the timestamp alone, as a heartbeat has."""
        *others, time = lacking
        none = pa.nulls(len(self.texts), pa.string())
        if not any(lacking[n].any() for n in lacking if n not in optional):
            return none, none
        faults = np.full(len(self.texts), None, dtype=object)
        alone = np.logical_and.reduce([lacking[n] for n in others], initial=True)
        for name in (time, *reversed(others)):  # the first one is told
            if name in optional:
                continue
            needed = lacking[name] if name == time else lacking[name] & ~alone
            faults[needed] = f"{self.stream.name} lacks the field {name}"
        raw = [None if f is None else t for f, t in zip(faults, self.texts, strict=True)]
        return pa.array(faults, pa.string()), pa.array(raw, pa.string())


def _plain(kind: ColumnType) -> str | None:
    """The texts whose value is beyond doubt (None: all)."""
    match kind:
        case IntType():
            return _WHOLE
        case DecimalType(precision, scale):
            # of what does not fit, Spark rejects what is left of it
            whole = f"-?(?:0|[1-9][0-9]{{0,{max(precision - scale - 1, 0)}}})"
            return whole if scale == 0 else rf"{whole}(?:\.[0-9]{{1,{scale}}})?"
        case FloatType():
            return rf"{_DECIMAL}(?:[eE][+-]?[0-9]{{1,2}})?"
        case StringType():
            return None
        case BooleanType():
            return "true|false"
        case DateType():
            return "[0-9]{4}-[0-9]{2}-[0-9]{2}"
        case TimestampType():
            return _MOMENT
    assert_never(kind)


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _parse(text: str | None) -> Mapping[str, Any]:
    """The members of a JSON object."""
    if text is None or len(text) > _LONG or text.count("{") + text.count("[") > _DEEP:
        raise _Unsettled
    try:
        held = json.loads(
            text,
            object_pairs_hook=_gather,
            parse_int=_keep,
            parse_float=_keep,
            parse_constant=_refuse,
        )
    except ValueError:
        raise _Unsettled from None
    if not isinstance(held, dict):
        raise _Unsettled
    return held


def _gather(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Unsettled
    return members


def _keep(text: str) -> _Number:
    if len(text) > _DIGITS:
        raise _Unsettled
    return _Number(text)


def _refuse(text: str) -> NoReturn:
    raise _Unsettled


def _show(value: Any, exact: bool) -> str | None:
    """A value as text. `exact`: the text itself is what is wanted."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case _Number() if exact and not (value.isdigit()):
            raise _Unsettled  # 1.50 and 1.5 are different texts
        case str():
            return str(value)
        case _:
            raise _Unsettled
