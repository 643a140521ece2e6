"""All Arrow types against all declared types: held, or refused by name; and what values become."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.errors import DataError
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
from ontoweir.runtime.columnar.convert_column import convert_column, holds_times, holds_type
from ontoweir.runtime.columnar.encode import encode_column
from ontoweir.runtime.located.locate_source import locate_source
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.sources.check_columns import check_columns

_INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
_INTS += [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
_FLOATS = [pa.float16(), pa.float32(), pa.float64()]
_DECIMALS = [pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(38, 2), pa.decimal256(76, 2)]
_TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
_BYTES = [pa.binary(), pa.large_binary(), pa.binary_view()]
_DATES = [pa.date32(), pa.date64()]
_MOMENTS = [
    pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC", "Asia/Tokyo")
]
_NEVER: list[pa.DataType] = [
    *(pa.time32(u) for u in ("s", "ms")),
    *(pa.time64(u) for u in ("us", "ns")),
    *(pa.duration(u) for u in ("s", "ms", "us", "ns")),
    pa.month_day_nano_interval(),
    pa.binary(4),
    pa.list_(pa.int64()),
    pa.large_list(pa.int64()),
    pa.list_(pa.int64(), 2),
    pa.list_view(pa.int64()),
    pa.struct([("a", pa.int64())]),
    pa.map_(pa.string(), pa.int64()),
    pa.dense_union([pa.field("a", pa.int64())]),
    pa.run_end_encoded(pa.int32(), pa.int64()),
    pa.uuid(),
    pa.dictionary(pa.int32(), pa.time32("s")),
]
_NUMBERS = [*_INTS, *_FLOATS, *_DECIMALS, *_TEXTS]
_HOLD: dict[ColumnType, list[pa.DataType]] = {
    IntType(): _NUMBERS,
    DecimalType(9, 2): _NUMBERS,
    FloatType(): _NUMBERS,
    StringType(): [*_TEXTS, *_BYTES, *_INTS, pa.bool_(), *_DATES],
    BooleanType(): [pa.bool_(), *_INTS, *_TEXTS],
    DateType(): [*_DATES, *_MOMENTS, *_TEXTS],
    TimestampType(): [*_DATES, *_MOMENTS, *_TEXTS],
}
_ALL = [*_NUMBERS, *_BYTES, pa.bool_(), *_DATES, *_MOMENTS]


@pytest.mark.parametrize("declared", _HOLD, ids=lambda t: type(t).__name__)
def test_every_type_is_held_or_refused(declared: ColumnType) -> None:
    held = _HOLD[declared]
    for kind in (*_ALL, *_NEVER):
        for there in (kind, pa.dictionary(pa.int16(), kind)):
            if kind in _NEVER and pa.types.is_dictionary(kind):
                there = kind
            assert holds_type(there, declared) == (kind in held), there
    assert holds_type(pa.null(), declared)


@pytest.mark.parametrize("declared", _HOLD, ids=lambda t: type(t).__name__)
def test_what_is_held_is_converted_and_encoded(declared: ColumnType) -> None:
    """Also where all is NULL, there are no rows, or a file has it in pieces."""
    for kind in [*_HOLD[declared], pa.null(), pa.dictionary(pa.int8(), pa.string())]:
        for cells in ([], [None], [None, None]):
            values = pa.chunked_array([pa.array(cells, kind), pa.array(cells, kind)])
            found, bad = convert_column(values, declared)
            assert bad is None
            assert len(found) == found.null_count == 2 * len(cells)
            if not pa.types.is_null(found.type):
                encoded = encode_column(found, declared, 100, StringPool(), "s.a")
                assert not encoded.valid.any()


@pytest.mark.parametrize("kind", [*_NEVER, pa.float64(), pa.bool_(), pa.binary()], ids=str)
def test_a_type_that_holds_nothing_is_refused_before_anything_is_read(kind: pa.DataType) -> None:
    stream = Stream("s", DataSource("parquet", None), "ts", 1, None, (Column("d", DateType()),))
    for name, others in (("d", "date values"), ("ts", "timestamps")):
        schema = pa.schema([("d", pa.date32()), ("ts", pa.timestamp("us"))])
        schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
        assert not holds_times(kind)
        with pytest.raises(DataError) as caught:
            check_columns(schema, stream, ["d", "ts"], "f.parquet")
        assert (
            caught.value.what == f"the column s.{name} is of type {kind}, which holds no {others}"
        )
        assert str(caught.value.source) == "f.parquet"


def test_a_column_that_is_there_twice_or_not_is_named() -> None:
    stream = Stream("s", DataSource("parquet", None), "ts", 1, None, (Column("a", IntType()),))
    for names, message in (
        (["ts", "a", "a"], "there are 2 columns 'a'"),
        (["ts", "b"], "there is no column 'a'"),
        (["ts", "A"], "there is no column 'a'"),
    ):
        schema = pa.schema([(n, pa.int64()) for n in names])
        with pytest.raises(DataError, match=message) as caught:
            check_columns(schema, stream, ["a", "ts"], "f.parquet")
        assert ("write 'A'" in caught.value.fix) == ("A" in names)
    check_columns(
        pa.schema([("ts", pa.int64()), ("b", pa.int64()), ("b", pa.int64())]), stream, ["ts"], ""
    )


_D, _DAY = Decimal, date(2020, 1, 2)
_CASES: list[tuple[ColumnType, pa.DataType, list[Any], list[Any]]] = [
    (IntType(), pa.float64(), [1.0, 1.5, nan, inf, 2.0**63, None], [1, 0, 0, 0, 0, None]),
    (IntType(), pa.float64(), [-(2.0**63)], [-(2**63)]),
    (IntType(), pa.uint64(), [1, 2**63 - 1, 2**63, 2**64 - 1], [1, 2**63 - 1, 0, 0]),
    (IntType(), pa.uint8(), [255, None], [255, None]),
    (IntType(), pa.decimal128(20, 2), [_D("1.00"), _D("1.50"), _D(10**17)], [1, 0, 10**17]),
    (IntType(), pa.string(), ["1", " 2", "x", "9223372036854775808", "1_0"], [1, 2, 0, 0, 0]),
    (BooleanType(), pa.int8(), [0, 1, 2, None], [False, True, 0, None]),
    (BooleanType(), pa.string(), ["true", "FALSE", "maybe"], [True, False, 0]),
    (FloatType(), pa.float16(), [np.float16(0.5), None], [0.5, None]),
    (FloatType(), pa.int64(), [2**53 + 1], [2.0**53]),
    (DecimalType(4, 2), pa.int32(), [99, 100, -99, None], [99, 0, -99, None]),
    (
        DecimalType(4, 2),
        pa.decimal128(9, 3),
        [_D("1.230"), _D("1.234"), _D(123)],
        [_D("1.23"), 0, 0],
    ),
    (DecimalType(4, 2), pa.decimal256(60, 2), [_D("1.23"), _D(10**40)], [_D("1.23"), 0]),
    (DecimalType(4, 2), pa.string(), ["1.23", "1.234", "1e1", "NaN"], [_D("1.23"), 0, 10, 0]),
    (StringType(), pa.binary(), [b"a", b"\xff", None], ["a", 0, None]),
    (StringType(), pa.dictionary(pa.int8(), pa.large_string()), ["a", None, "a"], ["a", None, "a"]),
    (StringType(), pa.int64(), [1, None], ["1", None]),
    (DateType(), pa.timestamp("us"), [datetime(2020, 1, 2), datetime(2020, 1, 2, 1)], [_DAY, 0]),
    (DateType(), pa.timestamp("ns", "Asia/Tokyo"), [86_400 * 10**9, 1], [date(1970, 1, 2), 0]),
    (DateType(), pa.string(), ["2020-01-02", "2020-13-01", None], [_DAY, 0, None]),
]


@pytest.mark.parametrize(("declared", "kind", "cells", "wanted"), _CASES)
def test_what_values_become(
    declared: ColumnType, kind: pa.DataType, cells: list[Any], wanted: list[Any]
) -> None:
    """0 where a value is not of the type."""
    found, bad = convert_column(pa.chunked_array([pa.array(cells, kind)]), declared)
    mask = [False] * len(cells) if bad is None else bad.tolist()
    got = [0 if wrong else v for wrong, v in zip(mask, found.to_pylist(), strict=True)]
    assert got == wanted
    for wrong, value in zip(mask, found.to_pylist(), strict=True):
        assert not wrong or value is None


def test_times_between_two_microseconds_are_none() -> None:
    nanos = pa.chunked_array([pa.array([1_000, 1_001, None], pa.timestamp("ns", "UTC"))])
    found, bad = convert_column(nanos, TimestampType())
    assert bad is not None
    assert bad.tolist() == [False, True, False]
    assert found.to_pylist() == [datetime(1970, 1, 1, 0, 0, 0, 1, UTC), None, None]
    far = pa.chunked_array([pa.array([0, 1 << 60], pa.timestamp("s"))])
    found, bad = convert_column(far, TimestampType())
    assert bad is not None
    assert bad.tolist() == [False, True]


def test_text_that_is_no_utf8_is_found() -> None:
    buffers = pa.array([b"a", b"\xff\xfe", None, b"b"], pa.binary()).buffers()
    text = pa.Array.from_buffers(pa.string(), 4, buffers)
    found, bad = convert_column(pa.chunked_array([text]), StringType())
    assert bad is not None
    assert (found.to_pylist(), bad.tolist()) == (
        ["a", None, None, "b"],
        [False, True, False, False],
    )


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize(
    ("precision", "scale"), [(4, 2), (9, 0), (10, 6), (15, 3), (18, 4), (38, 2)]
)
def test_a_double_is_the_decimal_that_it_is_nearest_to(
    bits: int, precision: int, scale: int
) -> None:
    """By exact fractions: within half a unit in the last place of the double, and in range."""
    random = Random(precision * scale + bits)
    dtype = np.dtype(f"f{bits // 8}").type
    numbers = [0.0, -0.0, 0.05, 0.1 + 0.2, 1e30, -1e30, inf, -inf, nan, 0.005, 99.99, 99.995, 1e15]
    for _ in range(400):
        units = random.randrange(-(10 ** min(precision, 17)), 10 ** min(precision, 17))
        numbers.append(float(Fraction(units, 10**scale)))
        numbers.append(float(np.nextafter(numbers[-1], random.choice([-inf, inf]))))
        numbers.append(random.uniform(-1, 1) * 10 ** random.randint(-3, 12))
    own = np.array(numbers).astype(dtype)
    values = pa.chunked_array([pa.array(own, from_pandas=False)])
    found, bad = convert_column(values, DecimalType(precision, scale))
    assert bad is not None
    for number, wrong, exact in zip(own, bad.tolist(), found.to_pylist(), strict=True):
        if wrong:
            assert exact is None
            if np.isfinite(number):
                units = round(Fraction(float(number)) * 10**scale)
                near = {dtype(Fraction(n, 10**scale)) for n in (units - 1, units, units + 1)}
                assert number not in near or abs(units) >= 10**precision - 1, number
        else:
            assert dtype(Fraction(exact)) == number
            assert abs(exact) < 10 ** (precision - scale)


def test_the_folder_says_which_files_are_data(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet.tmp", "000000_0", "_c.parquet", ".d.parquet", "e.pq"):
        (tmp_path / name).write_bytes(b"")
    found = locate_source(DataSource("parquet", str(tmp_path)), "s", "t").files
    assert found is not None
    assert [Path(f).name for f in found] == ["a.parquet", "e.pq"]  # beside those no other is
    one = str(tmp_path / "b.parquet.tmp")  # what is named is meant
    assert locate_source(DataSource("parquet", one), "s", "t").files == (one,)


def test_a_folder_without_endings_is_all_data(tmp_path: Path) -> None:
    for name in ("000000_0", "_SUCCESS"):
        (tmp_path / name).write_bytes(b"")
    found = locate_source(DataSource("parquet", str(tmp_path)), "s", "t").files
    assert found is not None
    assert [Path(f).name for f in found] == ["000000_0"]
