"""Decimals by way of their dictionary are what Arrow reads, or are left to Arrow."""

from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.errors import DataError
from ontoweir.runtime.chunks.portions import Portions
from ontoweir.runtime.chunks.read_chunk import read_chunk
from ontoweir.runtime.parquet.compact_thrift import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    read_struct,
    write_struct,
)
from ontoweir.runtime.parquet.read_decimals import are_coded, read_decimals
from ontoweir.runtime.sources.history import Cursor, History, Piece
from tests.oracle.budget import SEEDS, budget
from tests.runtime.harness import make_catalog

CODECS = ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]


def _read(file: Path) -> list[pa.ChunkedArray | None]:
    """The second column of every row group."""
    footer = pq.read_metadata(file)
    with pa.OSFile(str(file)) as source:
        if not are_coded(footer, 1):
            return [None] * footer.num_row_groups
        groups = range(footer.num_row_groups)
        return [read_decimals(source, footer, group, 1) for group in groups]


def _numbers(values: list[Decimal | None], kind: pa.DataType) -> pa.Table:
    return pa.table({"n": list(range(len(values))), "d": pa.array(values, kind)})


@budget(1.0)
@given(seed=SEEDS, precision=st.integers(1, 18), data=st.data())
def test_all_decimals(
    seed: int, precision: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    random = Random(seed)
    scale, most = random.randint(0, precision), 10**precision - 1
    ends = [most, -most, most - 1, 0, 1, -1]
    units = data.draw(st.lists(st.sampled_from(ends) | st.integers(-most, most), max_size=60))
    values: list[Decimal | None] = [Decimal(n).scaleb(-scale) for n in units]
    if random.random() < 0.5:
        values = [None if random.random() < random.choice([0.2, 1]) else v for v in values]
    values *= random.choice([1, 7, 300])
    random.shuffle(values)
    table = _numbers(values, pa.decimal128(precision, scale))
    if random.random() < 0.3 and not table.column("d").null_count:
        fields = [table.schema.field(0), table.schema.field(1).with_nullable(False)]
        table = table.cast(pa.schema(fields))
    file = tmp_path_factory.mktemp("d") / "d.parquet"
    codec = random.choice(CODECS)
    pq.write_table(
        table,
        file,
        compression=codec,
        data_page_version=random.choice(["1.0", "2.0"]),
        data_page_size=random.choice([64, 1 << 20]),
        row_group_size=random.choice([17, 1 << 20]),
        write_page_checksum=random.random() < 0.3,
    )
    opened = pq.ParquetFile(file)
    for group, found in enumerate(_read(file)):
        wanted = opened.read_row_group(group).column("d")
        assert (found is None) == (codec == "lz4")
        if found is not None:
            assert found.type == pa.decimal64(precision, scale)
            assert found.cast(wanted.type).equals(wanted)
            found.validate(full=True)


@pytest.mark.parametrize(
    "form", ["plain", "given up", "of 8 bytes", "whole numbers", "long", "list", "struct"]
)
def test_what_is_left_to_arrow(form: str, tmp_path: Path) -> None:
    kind = pa.decimal128({"long": 30, "of 8 bytes": 18}.get(form, 10), 2)
    table = _numbers([Decimal(n) / 4 for n in range(5_000)], kind)
    if form == "list":
        table = table.set_column(1, "d", pa.array([[Decimal("1.25")]] * 5_000, pa.list_(kind)))
    if form == "struct":
        inner = table.column("d").combine_chunks()
        table = table.set_column(1, "d", pa.StructArray.from_arrays([inner], ["e"]))
    pq.write_table(
        table,
        tmp_path / "d.parquet",
        use_dictionary=form != "plain",
        dictionary_pagesize_limit=2_000 if form in ("given up", "of 8 bytes") else 1 << 20,
        write_batch_size=100,
        store_decimal_as_integer=form == "whole numbers",
    )
    assert _read(tmp_path / "d.parquet") == [None]


TOML = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { d = "decimal(12, 3)", e = "decimal(10, 2)" }
"""


def _history(file: Path, rows: int) -> History:
    stream = make_catalog(file.parent, TOML).streams["s"]
    return History(stream, ("d", "e"), (Piece(str(file), 0, rows, str(file), 1),), staged=False)


def _write(file: Path, rows: int, limit: int = 1 << 20) -> pa.Table:
    numbers = [None if n % 7 == 0 else Decimal(n % 500 - 250) / 4 for n in range(rows)]
    column = pa.array(numbers, pa.decimal128(10, 2))
    table = pa.table({"d": column, "ts": [*range(rows)], "e": column[::-1]})
    pq.write_table(table, file, dictionary_pagesize_limit=limit, write_batch_size=100)
    return table


@pytest.mark.parametrize("limit", [1 << 20, 1_000])
def test_a_history_is_the_same(limit: int, tmp_path: Path) -> None:
    """Columns come in the order in which they are wanted, whoever reads them."""
    table = _write(tmp_path / "s.parquet", 2_000, limit)
    history = _history(tmp_path / "s.parquet", 2_000)
    chunk = read_chunk(Portions(), [history], {"s": Cursor()}, 10_000)
    found = chunk.slices["s"].table
    assert found.column_names == ["d", "e"]
    assert found.column("e").equals(table.column("e"))
    assert (
        found.column("d")
        .cast(pa.decimal128(12, 3))
        .equals(table.column("d").cast(pa.decimal128(12, 3)))
    )


def test_bytes_that_are_wrong_are_an_error(tmp_path: Path) -> None:
    """Arrow says it, as of every other column."""
    file = tmp_path / "s.parquet"
    _write(file, 2_000)
    chunk = pq.read_metadata(file).row_group(0).column(0)
    content = bytearray(file.read_bytes())
    for place in range(chunk.dictionary_page_offset, chunk.dictionary_page_offset + 40):
        content[place] ^= 0x5A
    file.write_bytes(content)
    assert _read_first(file) is None
    with pytest.raises(DataError, match="cannot be read"):
        read_chunk(Portions(), [_history(file, 2_000)], {"s": Cursor()}, 10_000)


@budget(0.3)
@given(seed=SEEDS)
def test_bits_that_are_wrong_change_nothing_alone(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What Arrow reads of a damaged column, this reads, or leaves to it; what it refuses, too."""
    random = Random(seed)
    file = tmp_path_factory.mktemp("d") / "d.parquet"
    units = [random.choice([None, *range(20)]) for _ in range(300)]
    values = [None if n is None else Decimal(n - 10) / 8 for n in units]
    codec, size = random.choice(["none", "snappy"]), random.choice([50, 1 << 20])
    table = _numbers(values, pa.decimal128(9, 3))
    pq.write_table(table, file, compression=codec, data_page_size=size)
    footer = pq.read_metadata(file)
    chunk = footer.row_group(0).column(1)
    content = bytearray(file.read_bytes())
    place = chunk.dictionary_page_offset + random.randrange(chunk.total_compressed_size)
    content[place] ^= 1 << random.randrange(8)
    source = pa.py_buffer(bytes(content))
    try:
        wanted = pq.ParquetFile(pa.BufferReader(source), metadata=footer).read(columns=["d"])
    except (OSError, pa.ArrowInvalid):
        wanted = None
    found = read_decimals(pa.BufferReader(source), footer, 0, 1)
    assert found is None or (
        wanted is not None and found.cast(pa.decimal128(9, 3)).equals(wanted.column("d"))
    )


def _read_first(file: Path) -> pa.ChunkedArray | None:
    with pa.OSFile(str(file)) as source:
        return read_decimals(source, pq.read_metadata(file), 0, 0)


@pytest.mark.parametrize(
    "data", [b"", b"\x15", b"\x1c" * 5_000, b"\x18\x7f", b"\x1d\x00", b"\x15" + b"\x80" * 9]
)
def test_what_is_no_structure(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"structure|type"):
        read_struct(data)


def test_long_lists_and_far_fields() -> None:
    inner: Struct = {200: (BINARY, b"x" * 300), 2_000: (I32, -(1 << 31))}
    fields: Struct = {
        1: (LIST, (I64, [*range(40)])),
        20: (STRUCT, inner),
        21: (I64, -(1 << 63)),
    }
    found, end = read_struct(b"__" + write_struct(fields) + b"__", 2)
    assert found == fields
    assert end == 2 + len(write_struct(fields))
