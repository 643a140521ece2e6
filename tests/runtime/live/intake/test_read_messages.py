"""Messages that this process opens: the rows that Spark makes of them, or it says that it does not
know."""

import json
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.runtime.live.topics.open_topic import frame_topic, split_rows
from ontoweir.runtime.live.topics.read_messages import Messages, open_here
from ontoweir.runtime.sources.history import History

KINDS: dict[str, ColumnType] = {
    "i": IntType(),
    "f": FloatType(),
    "d": DecimalType(9, 2),
    "t": StringType(),
    "b": BooleanType(),
    "day": DateType(),
    "m": TimestampType(),
}
COLUMNS = tuple(Column(n, kind, nullable=n in "fd") for n, kind in KINDS.items())
OPTIONS = (("kafka.bootstrap.servers", "nowhere:1"), ("subscribe", "x"))
STREAM = Stream("s", DataSource("kafka", None, OPTIONS), "ts", 1, None, COLUMNS)
HISTORIES = {
    "all": History(STREAM, tuple(KINDS), (), False),
    "some": History(STREAM, ("t", "f"), (), False),
    "none": History(STREAM, (), (), False),
}
PLAIN: dict[str, list[str]] = {
    "i": ["0", "7", "-3", "123456789012345678", '"42"', "null"],
    "f": ["0.5", "1e3", "-2.25E-7", "7", '"1.5"', "0.1", "1.7976931348623157e+30", "null"],
    "d": ["1.25", "0.10", "-7", '"3.5"', "1234567.89", "null"],
    "t": ['"a"', '"é\\u00e9\\n"', '""', '" 1 "', "12", "true", "null", '"\\u0000x"'],
    "b": ["true", "false", '"true"', "null"],
    "day": ['"2024-02-29"', '"2023-02-29"', '"0000-01-01"', '"9999-12-31"', "null"],
    "m": ['"2024-01-01T00:00:00Z"', '"2024-01-01 10:00:00.25+05:30"', '"2024-13-01T00:00:00"'],
    "ts": [
        '"2024-01-01T00:00:00Z"',
        '"1970-01-01T00:00:01.5+01:00"',
        '"2024-01-01T24:00:00Z"',
        '"0001-01-01T00:00:00Z"',
        '"9999-12-31T23:59:59.999999"',
        "1000000",
        "-5",
        "999999999999999999",
        '"17"',
        "null",
    ],
    "more": ["1.5", "[1, {}]", '{"a": {"b": null}}', '"x"'],
}
ODD: dict[str, list[str]] = {
    "i": ["1.5", "-0", '" 7"', "1e2", "12345678901234567890", "[1]", '"x"', "true", '"+1"'],
    "f": ["NaN", '"Infinity"', '"1d"', "[]", '"x"', "1e999", "true"],
    "d": ["1.234", "12345678.5", "0.100", "1e1", '" 1"', '"1,5"', "{}"],
    "t": ["1.50", "[1, 2]", '{"a":  1}', '"\\ud800"', "-0"],
    "b": ['"yes"', "1", '"TRUE"'],
    "day": ['"2024-1-1"', '"2024-01-01T00:00:00"', "5"],
    "m": ['"2024"', "17", '"2024-01-01T00:00"'],
    "ts": ['"2024"', "1.5", '" 17"', "true", '"soon"', "{}"],
    "more": ["01", "'x'", "1" * 70],
}
BROKEN = [
    "",
    "{",
    "[1]",
    '"x"',
    "null",
    '{"ts": 1, "ts": 2}',
    '{"ts": 1} x',
    "\ufeff{}",
    "{'ts': 1}",
]


def message(random: Random, odd: float) -> str:
    if random.random() < odd / 4:
        return random.choice(BROKEN)
    chosen = [n for n in PLAIN if random.random() > (0.12 if random.random() < 0.9 else 0.9)]
    if random.random() < 0.1:
        chosen = ["ts"]
    random.shuffle(chosen)
    cells = []
    for name in chosen:
        texts = ODD if random.random() < odd / 8 else PLAIN
        cells.append(f"{json.dumps(name)}: {random.choice(texts[name])}")
    return f"{{{', '.join(cells)}}}"


def by_spark(spark: SparkSession, texts: list[str | None]) -> dict[str, pa.Table]:
    """As a source of Kafka's gives them."""
    rows = [(None, t, n, "x", 0, n) for n, t in enumerate(texts)]
    shape = "key STRING, value STRING, sent LONG, topic STRING, partition INT, offset LONG"
    frame = spark.createDataFrame(rows, shape).coalesce(1)
    frame = frame.selectExpr("*", "timestamp_millis(sent) AS timestamp")
    return split_rows(frame_topic(frame, STREAM, HISTORIES).toArrow(), HISTORIES)


def by_us(texts: list[str | None]) -> dict[str, pa.Table] | None:
    values = [None if t is None else t.encode() for t in texts]
    count = len(texts)
    messages = Messages([None] * count, values, [0] * count, ["x/0"] * count, list(range(count)))
    return open_here(STREAM, messages, HISTORIES)


def rows_of(tables: dict[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    return {key: table.to_pylist() for key, table in tables.items()}


def test_random_messages_are_as_spark_has_them(
    spark: SparkSession, pytestconfig: pytest.Config
) -> None:
    """All messages that are settled here by themselves, together; so many others are not."""
    random = Random(17)
    count = 20_000 if pytestconfig.getoption("--long") else 250
    texts = [message(random, odd) for odd in (0.0, 1.0) for _ in range(count)]
    settled: list[str | None] = [t for t in texts if by_us([t]) is not None]
    assert all(by_us([text]) is not None for text in texts[:count])
    assert count * 1.1 < len(settled) < 1.9 * count
    ours = by_us(settled)
    assert ours is not None
    theirs = by_spark(spark, settled)
    assert ours.keys() == theirs.keys()
    for key, found in rows_of(ours).items():
        for text, mine, wanted in zip(settled, found, theirs[key].to_pylist(), strict=True):
            assert mine == wanted, (key, text)
        assert set(ours[key].column_names) == set(theirs[key].column_names)


@pytest.mark.parametrize("text", [None, *BROKEN, '{"ts": 1, "t": 1.50}', '{"ts": 1, "i": [1]}'])
def test_what_is_not_settled_is_left_to_spark(text: str | None) -> None:
    assert by_us([text]) is None
    assert by_us(['{"ts": 1}', text]) is None
    assert by_us(['{"ts": 1}']) is not None


def test_text_that_is_not_utf8_is_left_to_spark() -> None:
    values: list[bytes | None] = [b'{"ts": 1, "t": "\xff"}']
    messages = Messages([None], values, [0], ["x/0"], [0])
    assert open_here(STREAM, messages, HISTORIES) is None


def test_partitions_are_apart_and_in_order() -> None:
    texts: list[bytes | None] = [f'{{"ts": {n}}}'.encode() for n in range(4)]
    parts = ["x/1", "x/0", "x/1", "x/0"]
    opened = open_here(STREAM, Messages([None] * 4, texts, [0] * 4, parts, [5, 6, 7, 8]), HISTORIES)
    assert opened is not None
    assert opened["none"].column("ts").to_pylist() == [1, 3, 0, 2]
    assert opened["none"].column("__offset").to_pylist() == [6, 8, 5, 7]
