"""What Spark reads is cast by the same table as what is read here."""

from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ontoweir.mappings.model.catalog import (
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    TimestampType,
)
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.convert_column import convert_column
from ontoweir.runtime.sources.read_source import BAD, WantedColumns, cast_declared
from ontoweir.runtime.text.convert_text import NotPlain, convert_text

pytestmark = pytest.mark.spark

DECIMALS = [
    DecimalType(*d) for d in ((6, 2), (9, 0), (17, 2), (18, 6), (38, 10), (38, 0), (3, 3), (20, 5))
]


def _doubles() -> list[float]:
    """Around every edge: halves, neighbours of decimals, powers of ten and two, no numbers."""
    random = Random(3)
    known = [0.0, -0.0, 0.05, 0.1 + 0.2, 1e30, inf, -inf, nan, 5e-324, 1.7e308, 99.995, 0.5, 1.5]
    known += [sign * base**n for base in (2.0, 10.0) for n in range(-12, 64, 2) for sign in (1, -1)]
    known += [round(random.uniform(-(10**n), 10**n), d) for n in range(1, 18) for d in (0, 2, 5)]
    near = [float(np.nextafter(v, to)) for v in known for to in (-inf, inf)]
    return [*known, *near, 9007199254740993.0, 22517998136852.48, 2251799813685248.5]


def _told(values: "pa.ChunkedArray", bad: Any) -> list[object]:
    cells = values.to_pylist()
    return ["rejected" if bad is not None and bad[n] else cell for n, cell in enumerate(cells)]


def _here(column: "pa.Array", kind: ColumnType) -> list[object]:
    whole = pa.chunked_array([column])
    read = convert_text if pa.types.is_string(column.type) else convert_column
    values, bad = read(whole, kind)
    return _told(values.cast(arrow_type(kind)), bad)


def _by_spark(spark: SparkSession, column: "pa.Array", kind: ColumnType) -> list[object]:
    frame = spark.createDataFrame(pa.table({"v": column}))
    cast = cast_declared(frame, DataSource("orc", "f"), "f", WantedColumns([Column("v", kind)]))
    rows = cast.toArrow()
    values = rows.column("v").cast(arrow_type(kind), safe=False)
    return _told(values, [text is not None for text in rows.column(BAD).to_pylist()])


@pytest.mark.parametrize("width", [64, 32])
def test_decimals_over_doubles(width: int, spark: SparkSession) -> None:
    with np.errstate(over="ignore"):
        numbers = np.array(_doubles()).astype(f"f{width // 8}")
    column = pa.array(numbers)
    for kind in DECIMALS:
        here, there = _here(column, kind), _by_spark(spark, column, kind)
        apart = [c for c in zip(numbers, here, there, strict=True) if not _agree(*c, kind)]
        assert not apart, (kind, len(apart), apart[:5])


def _agree(number: Any, here: Any, there: Any, kind: DecimalType) -> bool:
    """Beyond 2^53 (2^24) units several decimals have the same nearest double (float): which of them
    Java writes depends on its version; it is one of them, if the type has room for it."""
    if here == there:
        return True
    far = abs(float(number)) * 10**kind.scale >= 1 << (53 if isinstance(number, np.float64) else 24)
    return far and all(v == "rejected" or type(number)(v) == number for v in (here, there))


def test_decimals_over_text(spark: SparkSession) -> None:
    texts = [repr(v) for v in _doubles()] + [str(Decimal(10) ** n + 1) for n in range(-50, 50)]
    texts += ["1e-999", "1.250000000000000000000000000", "0." + "0" * 40 + "1", "9" * 38, " 7 "]
    column = pa.array([t for t in texts if "e" not in t])
    for kind in DECIMALS:
        here, there = _here(column, kind), _by_spark(spark, column, kind)
        apart = [(n, h, t) for n, h, t in zip(column, here, there, strict=True) if h != t]
        assert not apart, (kind, len(apart), apart[:5])


@pytest.mark.parametrize("kind", [DateType(), TimestampType()])
def test_years(kind: ColumnType, spark: SparkSession) -> None:
    """Up to 9999, and from 1 on."""
    days = pa.array([0, -719_162, -719_163, 2_932_896, 2_932_897, None], pa.int32())
    column = days.cast(pa.date32())
    if isinstance(kind, TimestampType):
        column = column.cast(pa.timestamp("us", "UTC"))
    here = _here(column, kind)
    assert [h == "rejected" for h in here] == [False, False, True, False, True, False]
    assert here == _by_spark(spark, column, kind)


_WORDS = {"Total", "True", "TBD", "Tue", "12", "12 h", "2024-ab", "24-01-01", "3:x", "7"}
_PARTS = ("-", ":", ".", " ", "T", "Z", "+", "2", "24", "2024", "00", "31", "x", "UTC", "+01:00")
_WHOLE = ("2024-02-29 23:59:58.123456Z", "2024-2-9T3:4:5+05:30", "2024-01-31", "23:59:59", "T01:02")


def _times() -> list[str]:
    """Times with something in them changed, put in or left out; and words."""
    random, texts = Random(5), [*_WORDS]
    for _ in range(3_000):
        text = random.choice(_WHOLE)
        for _ in range(random.randint(1, 3)):
            at, rest = random.randrange(len(text) + 1), random.randint(0, 2)
            text = text[:at] + random.choice(("", *_PARTS)) + text[at + rest :]
        texts.append(text)
    return texts


@pytest.mark.parametrize("kind", [DateType(), TimestampType()])
def test_texts_that_are_hardly_times(kind: ColumnType, spark: SparkSession) -> None:
    """What is told of a text without asking Spark is what it says; of words it need not be."""
    texts, told, left = [], [], []
    for text in _times():
        try:
            told += _here(pa.array([text]), kind)
            texts.append(text)
        except NotPlain:
            left.append(text)
    there = _by_spark(spark, pa.array(texts), kind)
    apart = [(n, h, t) for n, h, t in zip(texts, told, there, strict=True) if h != t]
    assert not apart, (len(apart), apart[:5])
    assert not _WORDS & {*left}
    assert len(left) < len(texts)
