"""Messages of Kafka that are opened in this process, without an envelope."""

import json

import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import (
    Column,
    DataSource,
    Envelope,
    IntType,
    Stream,
    StringType,
    TimeFormat,
)
from ontoweir.runtime.live.arrivals.ingest import FAULT
from ontoweir.runtime.live.arrivals.open_changes import (
    KEY,
    SENT,
    VALUE,
    is_opened_here,
    open_changes,
)
from ontoweir.runtime.live.model.row_places import OFFSET, PARTITION
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.history import History

COLUMNS = (Column("id", StringType(), path="device.id"), Column("n", IntType()))
PLAIN = Stream("s", DataSource("kafka", None), "ts", 1_000_000, None, COLUMNS)
SECOND = 1_767_225_600


def opened(stream: Stream, values: list[object]) -> list[tuple[object, ...]]:
    texts = [v if isinstance(v, str | None) else json.dumps(v) for v in values]
    count = len(texts)
    messages = pa.table(
        {
            KEY: pa.nulls(count, pa.string()),
            VALUE: pa.array(texts, pa.string()),
            SENT: pa.array([0] * count),
            PARTITION: pa.array(["t/0"] * count),
            OFFSET: pa.array(range(count)),
        }
    )
    made = open_changes(History(stream, ("id", "n"), (), False), messages)
    assert made.column(OFFSET).to_pylist() == list(range(count))
    names = ("id", "n", "ts", FAULT, RAW)
    return [tuple(row[name] for name in names) for row in made.to_pylist()]


@pytest.mark.parametrize("time", [SECOND * 1_000_000, "2026-01-01T00:00:00Z", "2026-01-01"])
def test_times_are_text_or_microseconds(time: object) -> None:
    us = SECOND * 1_000_000
    assert opened(PLAIN, [{"device": {"id": 7}, "n": "3", "ts": time}]) == [
        ("7", 3, us, None, None)
    ]


def test_times_in_a_format_of_two_members() -> None:
    written = TimeFormat("epoch_s", ("at.s",))
    stream = Stream("s", PLAIN.data, "ts", 1_000_000, None, COLUMNS, written=written)
    row = {"device.id": "a", "n": 1, "at": {"s": SECOND}}
    assert opened(stream, [row]) == [("a", 1, SECOND * 1_000_000, None, None)]


def test_what_is_no_row_says_why() -> None:
    values: list[object] = [None, "[1]", "{", {"n": 1, "ts": 0}, {"device": {"id": "a"}, "ts": 0}]
    values += [{"device": {"id": "a"}, "n": 1}, {"n": None, "device": {"id": None}, "ts": 0}]
    values += [{"ts": 0}, {}, {"device": {"id": "a"}, "n": "x", "ts": 0}]
    assert [row[3] for row in opened(PLAIN, values)] == [
        *["s has what is not a JSON object"] * 3,
        "s lacks the field device.id",
        "s lacks the field n",
        "s lacks the field ts",
        None,
        None,  # a heartbeat
        "s lacks the field ts",
        None,  # that n is no number, BAD says
    ]
    assert opened(PLAIN, values)[1][4] == "[1]"
    assert opened(PLAIN, values)[7] == (None, None, 0, None, None)


def test_what_may_be_missing_is_null() -> None:
    columns = (COLUMNS[0], Column("n", IntType(), nullable=True))
    stream = Stream("s", PLAIN.data, "ts", 1_000_000, None, columns)
    values: list[object] = [{"device": {"id": "a"}, "ts": 0}, {"n": 1, "ts": 0}]
    assert [row[:4] for row in opened(stream, values)] == [
        ("a", None, 0, None),
        (None, None, None, "s lacks the field device.id"),
    ]


def test_spark_parses_the_rest() -> None:
    plain = Stream("s", PLAIN.data, "ts", 1, None, (Column("n", IntType()),))
    assert not is_opened_here(plain)
    assert is_opened_here(PLAIN)
    written = TimeFormat("epoch_ms", ("ts",))
    assert is_opened_here(Stream("s", PLAIN.data, "ts", 1, None, (), written=written))
    changes = DataSource("kafka", None, envelope=Envelope("upsert", "gone"))
    assert is_opened_here(Stream("s", changes, "ts", 1, None, ()))
    assert not is_opened_here(Stream("s", DataSource("json", "f"), "ts", 1, None, COLUMNS))
