"""Columns that are read without levels, or with levels apart, are what Arrow reads of them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from ontoweir.runtime.chunks.portions import Portions
from ontoweir.runtime.chunks.read_chunk import read_chunk
from ontoweir.runtime.parquet import open_filled as module
from ontoweir.runtime.parquet.open_filled import find_leaves, open_filled
from ontoweir.runtime.parquet.page_headers import list_heads, list_pages
from ontoweir.runtime.sources.history import Cursor, History, Piece
from tests.oracle.budget import SEEDS, budget
from tests.runtime.harness import make_catalog

CODECS = ["none", "snappy", "gzip", "zstd", "brotli"]
_FIRST = datetime(2020, 1, 1, tzinfo=UTC)
KINDS: list[tuple[pa.DataType, Callable[[int], Any]]] = [
    (pa.int64(), lambda n: n),
    (pa.int64(), lambda n: n << 40),
    (pa.int64(), lambda n: -(1 << 31) + n % 2),
    (pa.int32(), lambda n: -n),
    (pa.float64(), lambda n: n / 7),
    (pa.date32(), lambda n: (_FIRST + timedelta(n % 10_000)).date()),
    (pa.timestamp("us"), lambda n: (_FIRST + timedelta(0, n)).replace(tzinfo=None)),
    (pa.timestamp("ms", "Europe/Berlin"), lambda n: _FIRST + timedelta(0, n)),
    (pa.timestamp("ns"), lambda n: (_FIRST + timedelta(0, n)).replace(tzinfo=None)),
    (pa.decimal128(9, 3), lambda n: Decimal(n % 1_000 - 500) / 8),
    (pa.string(), lambda n: f"é{n % 300}" * (n % 3)),
]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pages are read, too."""
    monkeypatch.setattr(module, "_FEWEST", 1)


def _never(_: int) -> pa.ChunkedArray:
    raise AssertionError("Arrow read it")


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


@budget(1.5)
@given(seed=SEEDS)
def test_all_kinds(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    random = Random(seed)
    kind, make = random.choice(KINDS)
    count, distinct = random.choice([1, 70, 3_000]), random.choice([1, 20, 100_000])
    values = [make(random.randrange(distinct)) for _ in range(count)]
    nulls = random.choice([0, 0, 0.001, 0.3, 0.95, 1])
    values = [None if random.random() < nulls else value for value in values]
    file = tmp_path_factory.mktemp("d") / "d.parquet"
    pq.write_table(
        pa.table({"a": pa.array(values, kind)}),
        file,
        compression=random.choice(CODECS),
        data_page_version=random.choice(["1.0", "2.0"]),
        data_page_size=random.choice([64, 1 << 20]),
        write_batch_size=random.choice([10, 1_000]),
        row_group_size=random.choice([500, 1 << 20]),
        dictionary_pagesize_limit=random.choice([20, 1 << 20]),
        write_statistics=random.random() < 0.5,
        write_page_checksum=random.random() < 0.2,
    )
    opened, footer = pq.ParquetFile(file), pq.read_metadata(file)
    leaf = find_leaves(footer, "a")["a"]
    every = [*range(footer.num_row_groups)]
    for groups in [every] if random.random() < 0.5 else [[group] for group in every]:
        wanted = opened.read_row_groups(groups).column("a")
        with pa.OSFile(str(file)) as source:
            column = open_filled(source, footer, groups, leaf, _never)
        given_up = pa.types.is_decimal(kind)  # where it has no dictionary
        assert column is not None or given_up
        first = 0
        while column is not None and first < len(wanted):
            rows = min(random.choice([1, 40, 2_000]), len(wanted) - first)
            found = _texts(column.take(rows))
            found.validate(full=True)
            assert found.cast(kind).equals(wanted.slice(first, rows))
            first += rows
        if column is not None:
            with pytest.raises(OSError, match="fewer rows"):
                column.take(1)


@budget(0.5)
@given(seed=SEEDS)
def test_bits_that_are_wrong_change_nothing_alone(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What Arrow reads of a damaged column, this reads, or leaves to it; what it refuses, too."""
    random = Random(seed)
    file = tmp_path_factory.mktemp("d") / "d.parquet"
    kind, make = random.choice(KINDS)
    nulls = random.choice([0, 0.1, 0.6])
    values = [None if random.random() < nulls else make(random.randrange(20)) for _ in range(300)]
    table = pa.table({"a": pa.array(values, kind)})
    codec, size = random.choice(["none", "snappy"]), random.choice([50, 1 << 20])
    pq.write_table(table, file, compression=codec, data_page_size=size, write_batch_size=50)
    footer = pq.read_metadata(file)
    chunk = footer.row_group(0).column(0)
    content = bytearray(file.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    content[start + random.randrange(chunk.total_compressed_size)] ^= 1 << random.randrange(8)
    source = pa.py_buffer(bytes(content))

    def read(group: int) -> pa.ChunkedArray:
        opened = pq.ParquetFile(pa.BufferReader(source), metadata=footer, read_dictionary=["a"])
        return opened.read_row_group(group).column("a")

    try:
        wanted = read(0)
    except (OSError, pa.ArrowInvalid):
        wanted = None
    column = open_filled(pa.BufferReader(source), footer, [0], find_leaves(footer, "a")["a"], read)
    if column is None:
        return
    try:
        found = column.take(300)
    except (OSError, pa.ArrowInvalid):
        found = None
    if found is None or wanted is None:
        assert found is wanted
        return
    try:
        wanted.validate(full=True)  # texts may be none
    except pa.ArrowInvalid:
        return
    assert _texts(found).cast(kind).equals(_texts(wanted))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_headers_are_those_of_list_pages(version: str, tmp_path: Path) -> None:
    """With the least and the greatest value in them or not, read by a pattern or by Thrift."""
    for kind, make in KINDS:
        for statistics in (True, False):
            column = pa.array([make(n) for n in range(3_000)], kind)
            pq.write_table(
                pa.table({"a": column}),
                tmp_path / "d.parquet",
                data_page_size=500,
                write_batch_size=50,
                write_statistics=statistics,
                data_page_version=version,
            )
            chunk = pq.read_metadata(tmp_path / "d.parquet").row_group(0).column(0)
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            with pa.OSFile(str(tmp_path / "d.parquet")) as source:
                size = chunk.total_compressed_size
                wanted = list(list_pages(source, start, size))
                found = list_heads(source.read_at(size, start))
            assert [(h.kind, h.packed, h.size, h.values) for h in found] == [
                (p.kind, p.packed, p.size, p.values) for p in wanted
            ]
            assert [h.begin for h in found] == [p.start + p.head - start for p in wanted]
            assert len(found) > 2


def test_what_is_left_to_arrow(tmp_path: Path) -> None:
    fields = [pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.list_(pa.int64()))]
    fields += [pa.field("c", pa.struct([("d", pa.int64())])), pa.field("e", pa.int16())]
    fields += [pa.field("f", pa.uint64()), pa.field("g", pa.bool_()), pa.field("h", pa.float32())]
    pq.write_table(
        pa.table([pa.array([], f.type) for f in fields], pa.schema(fields)), tmp_path / "d"
    )
    assert not find_leaves(pq.read_metadata(tmp_path / "d"), "abcdefgh")


TOML = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { a = "int", b = "int", c = "string", d = "double" }
"""


def test_a_history_is_the_same(tmp_path: Path) -> None:
    """Columns come in the order in which they are wanted; nothing tells of a NULL before its page
    is met."""
    rows, file = 20_000, tmp_path / "s.parquet"
    some = [None if n == 15_500 else n for n in range(rows)]
    table = pa.table(
        {"d": [n / 8 for n in range(rows)], "ts": [*range(rows)], "b": some, "a": some[:1] * rows}
    )
    table = table.append_column("c", pa.array([f"t{n % 9}" for n in range(rows)]))
    pq.write_table(table, file, data_page_size=2_000, write_batch_size=450, write_statistics=False)
    stream = make_catalog(tmp_path, TOML).streams["s"]
    pieces = (Piece(str(file), 0, rows, str(file), 1),)
    history = History(stream, ("a", "b", "c", "d"), pieces, staged=False)
    cursor = {"s": Cursor()}
    found: list[pa.Table] = []
    portions = Portions()
    while len(found) < 3:
        chunk = read_chunk(portions, [history], cursor, 7_000)
        found.append(chunk.slices["s"].table)
        cursor = dict(chunk.after)
    assert chunk.done
    for name in "abcd":
        values = [v for part in found for v in _texts(part.column(name)).to_pylist()]
        assert values == table.column(name).to_pylist()
