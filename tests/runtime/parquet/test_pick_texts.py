"""Texts of some rows are those that Arrow reads, whatever the pages are like."""

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from ontoweir.runtime.chunks.late_rows import LateColumns
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.ingest.select_candidates import find_rows
from ontoweir.runtime.parquet import pick_texts as module
from ontoweir.runtime.parquet.pick_texts import TextPages, are_texts
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.list_pieces import list_pieces
from tests.oracle.budget import SEEDS, budget
from tests.runtime.harness import make_catalog

CODECS = ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]


def _draw_texts(random: Random, rows: int) -> pa.Array:
    """Of one length or of many, with NULLs or without, that repeat or do not."""
    lengths = random.choice([[0], [1], [36], [3, 4], [0, 1, 200]])
    known = [
        "".join(random.choice("0123abcü") for _ in range(random.choice(lengths))) for _ in range(40)
    ]
    texts = [
        random.choice(known) if random.random() < 0.8 else "x" * random.choice(lengths)
        for _ in range(rows)
    ]
    nulls = random.choice([0, 0, 0.1, 1])
    return pa.array([None if random.random() < nulls else t for t in texts], pa.string())


def _open(file: Path, group: int) -> tuple["pa.NativeFile", TextPages]:
    footer = pq.read_metadata(file)
    assert are_texts(footer, 1)
    source = pa.OSFile(str(file))
    return source, TextPages(source, footer, group, 1)


@budget(1.0)
@given(seed=SEEDS)
def test_some_rows_are_what_arrow_reads(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    random = Random(seed)
    rows = random.choice([1, 30, 400])
    texts = _draw_texts(random, rows)
    field = pa.field("t", pa.string(), nullable=bool(texts.null_count) or random.random() < 0.7)
    table = pa.table([list(range(rows)), texts], pa.schema([("n", pa.int64()), field]))
    file = tmp_path_factory.mktemp("t") / "t.parquet"
    codec = random.choice(CODECS)
    pq.write_table(
        table,
        file,
        compression=codec,
        data_page_version=random.choice(["1.0", "2.0"]),
        data_page_size=random.choice([64, 1 << 20]),
        row_group_size=random.choice([57, 1 << 20]),
        use_dictionary=random.choice([True, False]),
        dictionary_pagesize_limit=random.choice([20, 1 << 20]),
        write_batch_size=random.choice([10, 1024]),
        write_page_checksum=random.random() < 0.3,
    )
    opened = pq.ParquetFile(file)
    if codec == "lz4":
        assert not are_texts(opened.metadata, 1)
        return
    for group in range(opened.metadata.num_row_groups):
        wanted = opened.read_row_group(group).column("t")
        source, pages = _open(file, group)
        first = 0
        with source:
            while first < len(wanted):
                stop = min(len(wanted), first + random.choice([1, 17, 1000]))
                part = random.choice([0.0, 0.05, 0.5, 1.0])
                index = np.array(
                    [n for n in range(first, stop) if random.random() < part], dtype=np.int64
                )
                found = pages.pick(index)
                found.validate(full=True)
                assert found.type == pa.string()
                assert found.to_pylist() == wanted.take(pa.array(index)).to_pylist()
                first = stop


@pytest.mark.parametrize("encoding", ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
def test_other_encodings_are_left_to_arrow(encoding: str, tmp_path: Path) -> None:
    texts = [f"text {n:05}" for n in range(5_000)]
    table = pa.table({"n": list(range(5_000)), "t": texts})
    pq.write_table(
        table,
        tmp_path / "t.parquet",
        use_dictionary=False,
        column_encoding={"t": encoding, "n": "PLAIN"},
        data_page_size=1_000,
    )
    source, pages = _open(tmp_path / "t.parquet", 0)
    with source:
        found = pages.pick(np.array([3, 4_000, 4_999])).to_pylist()
    assert found == [texts[n] for n in (3, 4_000, 4_999)]


@pytest.mark.parametrize("form", ["list", "struct", "bytes", "numbers", "large"])
def test_other_columns_are_none(form: str, tmp_path: Path) -> None:
    column = {
        "list": pa.array([["a"]]),
        "struct": pa.array([{"e": "a"}]),
        "bytes": pa.array([b"a"]),
        "numbers": pa.array([1]),
        "large": pa.array(["a"], pa.large_string()),
    }[form]
    pq.write_table(pa.table({"n": [1], "t": column}), tmp_path / "t.parquet")
    assert are_texts(pq.read_metadata(tmp_path / "t.parquet"), 1) == (form == "large")


def _write_long(file: Path, texts: list[str]) -> None:
    table = pa.table({"n": list(range(len(texts))), "t": texts})
    pq.write_table(table, file, use_dictionary=False, data_page_size=4_000, write_batch_size=50)


@pytest.mark.parametrize("even", [True, False])
def test_pages_without_a_wanted_row_are_not_unpacked(
    even: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{n:040}" if even else "x" * (n % 60) + str(n) for n in range(20_000)]
    _write_long(tmp_path / "t.parquet", texts)
    read: list[int] = []
    plain = TextPages._read_bytes

    def noted(pages: TextPages, start: int, size: int) -> bytes:
        read.append(size)
        return plain(pages, start, size)

    monkeypatch.setattr(TextPages, "_read_bytes", noted)
    source, pages = _open(tmp_path / "t.parquet", 0)
    with source:
        assert pages.pick(np.array([11_111])).to_pylist() == [texts[11_111]]
        assert pages.pick(np.array([], np.int64)).to_pylist() == []
        assert len(read) <= (1 if even else 2)
        with pytest.raises(ValueError, match="fewer rows"):
            pages.pick(np.array([20_000]))


def test_texts_of_one_length_are_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{n:036}" for n in range(20_000)]
    _write_long(tmp_path / "t.parquet", texts)
    monkeypatch.delattr(module, "write_column")
    source, pages = _open(tmp_path / "t.parquet", 0)
    index = np.arange(7, 20_000, 70)
    with source:
        assert pages.pick(index).to_pylist() == [texts[n] for n in index]


TOML = """
[streams.s]
source = { format = "parquet", path = "t.parquet" }
timestamp = { column = "n", unit = "1 second" }
columns = { k = "int", t = "string" }
"""


def _scan(
    folder: Path, rows: int, *, late: bool, again: bool = False
) -> list[tuple[int, str | None]]:
    """The texts with their numbers, of rows with k = 3."""
    stream = make_catalog(folder, TOML).streams["s"]
    files = [str(folder / "t.parquet")]
    pieces = list_pieces(files, stream, ["k", "t", "n"], start_us=None, stop_us=None)
    history = History(stream, ("k", "t"), pieces, staged=False)
    columns = LateColumns(frozenset({"t"}), lambda table: find_rows(table, [(("k", 3, 3),)]))
    groups, first = RowGroups(), 0
    found: list[tuple[int, str | None]] = []
    for piece in pieces:
        for part in groups.scan(history, piece, rows, late=columns if late else None, again=again):
            if part.late is None:
                index = np.flatnonzero(np.asarray(part.table.column("k")) == 3)
                texts = part.table.column("t").take(pa.array(index))
            else:
                assert "t" not in part.table.column_names
                index, texts = part.late.index, part.late.table.column("t")
            found += zip((index + first).tolist(), texts.to_pylist(), strict=True)
            first += part.num_rows
    groups.close()
    return found


@pytest.mark.parametrize("broken", ["", "head", "length", "text"])
def test_pages_that_are_not_understood_are_read_by_arrow(broken: str, tmp_path: Path) -> None:
    """Of a file whose pages another program wrote in a way of its own; and of one that is broken,
    the error is Arrow's."""
    rows = 3_000
    texts = [f"{n:036}" if n < 1_500 else "x" * (n % 9) for n in range(rows)]
    table = pa.table({"n": list(range(rows)), "k": [n % 10 for n in range(rows)], "t": texts})
    file = tmp_path / "t.parquet"
    pq.write_table(table, file, use_dictionary=False, data_page_size=9_000, row_group_size=1_000)
    whole = _scan(tmp_path, 700, late=False)
    if not broken:
        assert _scan(tmp_path, 700, late=True) == whole
        assert _scan(tmp_path, 700, late=True, again=True) == whole
        return
    chunk = pq.read_metadata(file).row_group(0).column(2)
    content = bytearray(file.read_bytes())
    at = chunk.data_page_offset + {"head": 1, "length": 40, "text": 90}[broken]
    content[at : at + 3] = b"\xff\xff\xff"
    file.write_bytes(bytes(content))
    told = []
    for late in (False, True):
        try:
            told.append(str(_scan(tmp_path, 700, late=late)))
        except Exception as error:
            told.append(type(error).__name__)
    assert told[0] == told[1]
