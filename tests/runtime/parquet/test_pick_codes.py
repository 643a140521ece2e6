"""Values of some rows, picked out of pages of places in a dictionary, are what Arrow reads."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet import open_filled as opening
from ontoweir.runtime.parquet import pick_codes as module
from ontoweir.runtime.parquet.filled_column import FilledColumn
from ontoweir.runtime.parquet.open_filled import find_leaves, open_filled
from ontoweir.runtime.parquet.pick_codes import CodedPages, pick_places
from tests.oracle.budget import SEEDS, budget
from tests.runtime.parquet.test_open_filled import KINDS


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pages are read, too."""
    monkeypatch.setattr(opening, "_FEWEST", 1)


def _open(source: Any, footer: "pq.FileMetaData", group: int) -> CodedPages | None:
    """The column `a` of a row group (None: it is not of places in a dictionary)."""
    leaf = find_leaves(footer, "a").get("a")
    column = None if leaf is None else open_filled(source, footer, [group], leaf, lambda _: None)
    if not isinstance(column, FilledColumn) or not column.is_coded():
        return None
    return CodedPages(column)


def _draw(random: Random, rows: int, distinct: int) -> list[int]:
    """Numbers that hardly ever repeat one after the other, or do so in runs."""
    numbers = [random.randrange(distinct) for _ in range(rows)]
    if random.random() < 0.4:
        numbers = [numbers[n // random.choice([1, 1, 9, 40])] for n in range(rows)]
    return numbers


def _index(random: Random, first: int, stop: int) -> Array:
    share = random.choice([0.0, 0.01, 0.1, 0.5, 1.0])
    return np.array([n for n in range(first, stop) if random.random() < share], dtype=np.int64)


def _plain(column: pa.ChunkedArray) -> list[Any]:
    texts = pa.types.is_dictionary(column.type)
    found: list[Any] = (column.cast(pa.string()) if texts else column).to_pylist()
    return found


@budget(1.5)
@given(seed=SEEDS)
def test_all_kinds(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    random = Random(seed)
    kind, make = random.choice(KINDS)
    rows, distinct = random.choice([1, 70, 3_000]), random.choice([1, 2, 20, 100_000])
    nulls = random.choice([0, 0, 0.001, 0.3, 0.95, 1])
    drawn = _draw(random, rows, distinct)
    values = [None if random.random() < nulls else make(n) for n in drawn]
    file = tmp_path_factory.mktemp("d") / "d.parquet"
    pq.write_table(
        pa.table({"a": pa.array(values, kind)}),
        file,
        compression=random.choice(["none", "snappy", "gzip", "zstd", "brotli"]),
        data_page_version=random.choice(["1.0", "2.0"]),
        data_page_size=random.choice([64, 1 << 20]),
        write_batch_size=random.choice([10, 1_000]),
        row_group_size=random.choice([500, 1 << 20]),
        dictionary_pagesize_limit=random.choice([20, 1 << 20]),
        write_statistics=random.random() < 0.5,
    )
    opened, footer = pq.ParquetFile(file), pq.read_metadata(file)
    for group in range(footer.num_row_groups):
        wanted = opened.read_row_group(group).column("a")
        with pa.OSFile(str(file)) as source:
            pages = _open(source, footer, group)
        if pages is None:
            continue
        first = 0
        while first < len(wanted):
            stop = min(len(wanted), first + random.choice([1, 40, 2_000]))
            index = _index(random, first, stop)
            found = pages.pick(index)
            found.validate(full=True)
            assert _plain(found) == wanted.take(pa.array(index)).cast(found.type).to_pylist() or (
                _plain(found) == wanted.take(pa.array(index)).to_pylist()
            )
            first = stop
        with pytest.raises(ValueError, match="fewer rows"):
            pages.pick(np.array([len(wanted)]))


def _pack(places: list[int], bits: int, groups: int) -> bytes:
    """A page of runs of so many eights of places, the last one of those that are left."""
    body, each = bytearray([bits]), 8 * groups
    for first in range(0, len(places), each):
        run = places[first : first + each]
        run += [0] * (-len(run) % 8)
        number = sum(place << bits * n for n, place in enumerate(run))
        header = len(run) // 8 << 1 | 1
        while header > 127:
            body.append(header & 127 | 128)
            header >>= 7
        body.append(header)
        body += number.to_bytes(len(run) // 8 * bits, "little")
    return bytes(body)


@budget(0.5)
@given(seed=SEEDS)
def test_places_of_any_width(seed: int) -> None:
    """Pages as other writers have them, too: of one long run, or with many places in 32 bits."""
    random = Random(seed)
    several = random.random() < 0.7
    pages = []
    for _ in range(random.choice([1, 3])):
        bits, groups = random.choice([1, 3, 8, 9, 17, 31, 32]), random.choice([1, 7, 63])
        rows = random.choice([1, 8, 500, 1_200])
        groups = groups if several else -(-rows // 8)
        pages.append(([random.randrange(1 << bits) for _ in range(rows)], bits, groups))
    bodies = [memoryview(_pack(*page)) for page in pages]
    counts = np.array([len(places) for places, _, _ in pages])
    index = _index(random, 0, int(counts.sum()))
    ends = np.cumsum(counts)
    which = np.searchsorted(ends, index, "right")
    found = pick_places(bodies, counts, which, index - (ends - counts)[which])
    every = [place for places, _, _ in pages for place in places]
    assert found is not None
    assert found.tolist() == [every[n] for n in index]


def test_what_is_not_of_even_runs_is_left_to_arrow() -> None:
    """A run that is repeated, shorter or longer than the first one, cut off, or too short."""
    even = _pack([*range(200)] * 5, 8, 63)
    which, rows, counts = np.zeros(2, np.int64), np.array([0, 999]), np.array([1_000])
    found = pick_places([memoryview(even)], counts, which, rows)
    assert found is not None
    assert found.tolist() == [0, 199]
    middle, last = 1 + 505, 1 + 505 * 1
    others = [
        bytes([8, 127 & ~1]) + even[2:],
        even[:middle] + bytes([even[middle] & ~1]) + even[middle + 1 :],
        even[:middle] + bytes([even[middle] - 2]) + even[middle + 1 :],
        even[:last] + bytes([255]) + even[last + 1 :],
        even[:-1],
        bytes([0]) + even[1:],
        bytes([33]) + even[1:],
        b"",
    ]
    for body in others:
        assert pick_places([memoryview(body)], counts, which, rows) is None, body[:3]
    three = _pack([*range(200)] * 6, 8, 63)
    cut = three[:middle] + bytes([125]) + three[middle + 1 :]
    assert pick_places([memoryview(cut)], np.array([1_200]), which, rows) is None


def test_of_few_rows_the_places_alone_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And pages without one are not opened; of many rows, Arrow unpacks all."""
    rows = 20_000
    table = pa.table({"a": [f"t{n * 7919 % 300}" for n in range(rows)]})
    pq.write_table(table, tmp_path / "d.parquet", data_page_size=1_000, write_batch_size=1_000)
    opened, decoded = [0], [0]
    open_page, decode = FilledColumn.open_page, FilledColumn.decode

    def noted_page(column: FilledColumn, head: Any) -> Any:
        opened[0] += 1
        return open_page(column, head)

    def noted_decode(column: FilledColumn, *given: Any) -> Any:
        decoded[0] += 1
        return decode(column, *given)

    monkeypatch.setattr(FilledColumn, "open_page", noted_page)
    monkeypatch.setattr(FilledColumn, "decode", noted_decode)
    with pa.OSFile(str(tmp_path / "d.parquet")) as source:
        pages = _open(source, pq.read_metadata(tmp_path / "d.parquet"), 0)
    assert pages is not None
    few, again = np.array([5, 7, 19_990]), np.array([19_991, 19_999])
    for index in (few, again):
        assert _plain(pages.pick(index)) == [table["a"][n].as_py() for n in index.tolist()]
    assert opened[0] == 2
    assert decoded[0] == 0
    with pa.OSFile(str(tmp_path / "d.parquet")) as source:
        pages = _open(source, pq.read_metadata(tmp_path / "d.parquet"), 0)
    assert pages is not None
    assert _plain(pages.pick(np.arange(0, rows, module.FEW - 1)))[1] == f"t{7 * 7919 % 300}"
    assert decoded[0] == 1


@budget(0.5)
@given(seed=SEEDS)
def test_bits_that_are_wrong_change_nothing_alone(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is picked of a damaged column is what Arrow reads of it, where it reads it."""
    random = Random(seed)
    kind, make = random.choice(KINDS)
    file = tmp_path_factory.mktemp("d") / "d.parquet"
    nulls = random.choice([0, 0.1, 0.6])
    values = [None if random.random() < nulls else make(random.randrange(20)) for _ in range(600)]
    table = pa.table({"a": pa.array(values, kind)})
    codec, size = random.choice(["none", "snappy"]), random.choice([50, 1 << 20])
    pq.write_table(table, file, compression=codec, data_page_size=size, write_batch_size=50)
    footer = pq.read_metadata(file)
    chunk = footer.row_group(0).column(0)
    content = bytearray(file.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    content[start + random.randrange(chunk.total_compressed_size)] ^= 1 << random.randrange(8)
    source = pa.py_buffer(bytes(content))
    index = np.arange(random.randrange(50), 600, random.choice([1, 9, 50]))
    try:
        pages = _open(pa.BufferReader(source), footer, 0)
        found = None if pages is None else _plain(pages.pick(index))
        read = pq.ParquetFile(pa.BufferReader(source), metadata=footer).read_row_group(0)
        read.validate(full=True)
    except (OSError, ValueError, IndexError, OverflowError):  # Arrow's, or dates beyond Python's
        return
    if read.num_rows != len(values):  # Arrow stops where pages are fewer
        assert found is None
        return
    wanted = _plain(read.column("a").take(pa.array(index)))
    assert found is None or repr(found) == repr(wanted)  # NaN is not itself


def test_rows_of_several_pages_with_null(tmp_path: Path) -> None:
    """Of each page the values before a row that are there are counted by themselves; one page has
    none, and of another none is wanted that is there."""
    values = [None if n % 3 == 0 or 2_000 <= n < 3_000 else n * 7919 % 700 for n in range(9_000)]
    table = pa.table({"a": pa.array(values, pa.int64())})
    pq.write_table(table, tmp_path / "d.parquet", data_page_size=64, write_batch_size=1_000)
    footer = pq.read_metadata(tmp_path / "d.parquet")
    for index in ([1, 2_001, 4_000, 4_001, 8_999], [0, 2_000, 6_000], [5_000, 8_000]):
        with pa.OSFile(str(tmp_path / "d.parquet")) as source:
            pages = _open(source, footer, 0)
        assert pages is not None
        assert pages.pick(np.array(index)).to_pylist() == [values[n] for n in index]


@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_a_page_that_is_cut_off(codec: str, tmp_path: Path) -> None:
    table = pa.table({"a": [n * 7919 % 700 for n in range(3_000)]})
    pq.write_table(table, tmp_path / "d.parquet", compression=codec)
    leaf = find_leaves(pq.read_metadata(tmp_path / "d.parquet"), "a")["a"]
    with pa.OSFile(str(tmp_path / "d.parquet")) as source:
        footer = pq.read_metadata(tmp_path / "d.parquet")
        column = open_filled(source, footer, [0], leaf, lambda _: None)
    assert isinstance(column, FilledColumn)
    (head,) = column.list_left()
    assert column.open_page(head).full
    with pytest.raises(ValueError, match="cut off"):
        column.open_page(head._replace(packed=head.packed + 1))
