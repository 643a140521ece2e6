"""Values of files in their declared types, against Python's own numbers."""

from decimal import Decimal, localcontext
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.runtime.sources.conform_rows import RAW, conform_rows
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD

EDGES = [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 10**18]


def conform(values: "pa.Array | pa.ChunkedArray", kind: ColumnType) -> tuple[list[Any], list[Any]]:
    stream = Stream("s", DataSource("parquet", None), "ts", 1, None, (Column("v", kind),))
    rows = pa.table({"v": values, "ts": pa.array(range(len(values)), pa.int64())})
    found = conform_rows(History(stream, ("v",), (), staged=True), rows, "f")
    assert found.column_names == ["v", "ts", BAD, RAW]
    return found.column("v").to_pylist(), found.column(BAD).to_pylist()


def _as_decimal(value: float, kind: DecimalType) -> Decimal | None:
    """The decimal of the type that a double is the nearest one to."""
    if value != value or value in (float("inf"), float("-inf")):
        return None
    with localcontext() as context:
        context.prec = 400
        near = Decimal(repr(value))  # of those nearest to the double the one of fewest digits
        fits = abs(near.scaleb(kind.scale)) < 10**kind.precision and near == round(near, kind.scale)
        return near if fits and float(near) == value else None


@pytest.mark.parametrize("precision", [4, 9, 18, 38])
def test_doubles_as_decimals(precision: int) -> None:
    random = Random(precision)
    kind = DecimalType(precision, 2)
    values: list[float | None] = [None, float("nan"), float("inf"), float("-inf"), -0.0, 1e30, 0.05]
    values += [0.055, 1e-300, 99.99, -99.99, 99.995, 2.675, 1e15 + 0.25, 9007199254740993.0, 1e22]
    values += [random.randint(-(10**k), 10**k) / 100 for k in range(1, 17) for _ in range(40)]
    values += [random.uniform(-1, 1) * 10**k for k in range(-3, 20) for _ in range(10)]
    found, bad = conform(pa.array(values, pa.float64()), kind)
    for value, made, mark in zip(values, found, bad, strict=True):
        expected = None if value is None else _as_decimal(value, kind)
        assert made == expected, value
        assert (mark == "v") == (value is not None and expected is None), value


@pytest.mark.parametrize("scale", [0, 2, 18])
@pytest.mark.parametrize("source", [pa.int64(), pa.int32(), pa.uint64(), pa.decimal128(38, 3)])
def test_whole_numbers_as_decimals(scale: int, source: pa.DataType) -> None:
    kind = DecimalType(20, scale)
    values = [None, *(e for e in EDGES if source != pa.uint64() or e >= 0)]
    if source == pa.int32():
        values = [v for v in values if v is None or abs(v) < 2**31]
    typed = [None if v is None else Decimal(v) for v in values]
    array = pa.array(typed if pa.types.is_decimal(source) else values, source)
    found, bad = conform(array, kind)
    for value, made, mark in zip(values, found, bad, strict=True):
        fits = value is not None and abs(value) < 10 ** (20 - scale)
        assert made == (value if fits else None)
        assert (mark == "v") == (value is not None and not fits)


def test_doubles_and_text_as_whole_numbers() -> None:
    found, bad = conform(pa.array([1.0, 1.5, None, float("nan"), 2.0**63, -(2.0**63)]), IntType())
    assert found == [1, None, None, None, None, -(2**63)]
    assert bad == [None, "v", None, "v", "v", None]
    found, bad = conform(pa.array(["7", " 8 ", "x", "", None, "9223372036854775808"]), IntType())
    assert found == [7, 8, None, None, None, None]
    assert bad == [None, None, "v", "v", None, "v"]


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_every_kind_of_text_is_text(kind: pa.DataType) -> None:
    values = ["a", None, "é", "a", ""]
    assert conform(pa.array(values, pa.string()).cast(kind), StringType()) == (values, [None] * 5)


def test_text_that_is_no_utf_8_is_marked() -> None:
    raw = pa.array([b"a", b"\xff", None, b"\xc3\xa9"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    assert conform(broken, StringType()) == (["a", None, None, "é"], [None, "v", None, None])


def test_what_cannot_be_the_type_is_told() -> None:
    with pytest.raises(DataError, match="is of type list"):
        conform(pa.array([[1]]), IntType())


@pytest.mark.parametrize(
    "kind", [IntType(), FloatType(), StringType(), BooleanType(), DecimalType(9, 2)]
)
@pytest.mark.parametrize("source", [pa.null(), pa.float64(), pa.string(), pa.int8()])
def test_no_rows_and_nulls(kind: ColumnType, source: pa.DataType) -> None:
    if source == pa.float64() and isinstance(kind, StringType | BooleanType):
        with pytest.raises(DataError, match="is of type double"):
            conform(pa.array([], source), kind)
        return
    assert conform(pa.array([], source), kind) == ([], [])
    assert conform(pa.array([None, None], source), kind) == ([None, None], [None, None])
