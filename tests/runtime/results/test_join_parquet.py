"""Parquet files put together are what their rows written at once would be."""

import io
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoweir.runtime.results.join_parquet import ParquetJoiner

SCHEMA = pa.schema(
    [
        ("i", pa.int64()),
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("f", pa.float64()),
        ("d", pa.decimal128(20, 3)),
        ("at", pa.timestamp("us")),
    ]
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.none() | st.integers(-(1 << 63), (1 << 63) - 1),
            "s": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
            "b": st.none() | st.booleans(),
            "f": st.none() | st.floats(allow_nan=False),
            "d": st.none() | st.decimals(-1000, 1000, places=3),
            "at": st.none() | st.datetimes(),
        }
    ),
    max_size=12,
)


def _join(tables: list[pa.Table], folder: Path, **options: object) -> Path:
    out = folder / "joined.parquet"
    with out.open("wb") as sink:
        joiner = ParquetJoiner(sink)
        for number, table in enumerate(tables):
            pq.write_table(table, folder / f"{number}.parquet", **options)
            assert joiner.add(folder / f"{number}.parquet") == table.num_rows
        joiner.finish()
    return out


@settings(max_examples=60, deadline=None)
@given(
    st.lists(ROWS, min_size=1, max_size=20),
    st.integers(1, 5),
    st.sampled_from(["zstd", "snappy", "none"]),
    st.booleans(),
)
def test_as_if_written_at_once(
    rows: list[list[dict[str, object]]], size: int, compression: str, index: bool
) -> None:
    tables = [pa.Table.from_pylist(r, SCHEMA) for r in rows]
    with tempfile.TemporaryDirectory() as name:
        out = _join(
            tables,
            Path(name),
            row_group_size=size,
            compression=compression,
            write_page_index=index,
            use_dictionary=["s"],
        )
        found = pq.read_table(out)
        whole = pa.concat_tables(tables)
        assert found.schema == SCHEMA
        assert found.equals(whole)
        theirs = duckdb.execute(f"SELECT * FROM read_parquet('{out}')").fetchall()
        assert theirs == [tuple(r.values()) for r in whole.to_pylist()]
        with pq.ParquetFile(out) as file:
            groups = file.metadata.num_row_groups
            assert groups == sum(max(-(-t.num_rows // size), 1) for t in tables)
            for number in range(groups):
                part = file.read_row_group(number, columns=["i"]).column("i").to_pylist()
                held = [i for i in part if i is not None]
                told = file.metadata.row_group(number).column(0).statistics
                if held:
                    assert (told.min, told.max) == (min(held), max(held))


def test_many_groups_and_large_values(tmp_path: Path) -> None:
    """Lists of more than 14, and places beyond 2^16."""
    tables = [
        pa.table({"x": pa.array(range(n * 7_000, n * 7_000 + 7_000)), "s": ["é" * 9] * 7_000})
        for n in range(40)
    ]
    out = _join(tables, tmp_path, row_group_size=1_000, compression="none")
    assert pq.read_table(out).equals(pa.concat_tables(tables))
    query = f"SELECT count(*), sum(x) FROM read_parquet('{out}') WHERE x >= 279000"
    assert duckdb.execute(query).fetchone() == (1_000, sum(range(279_000, 280_000)))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1PAR1", b"x" * 100])
def test_what_is_no_parquet(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match="not a Parquet"):
        ParquetJoiner(io.BytesIO()).add(tmp_path / "x")


def test_other_columns_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "0")
    pq.write_table(pa.table({"x": ["1"]}), tmp_path / "1")
    joiner = ParquetJoiner(io.BytesIO())
    joiner.add(tmp_path / "0")
    with pytest.raises(ValueError, match="other columns"):
        joiner.add(tmp_path / "1")


def test_one_file_stays_as_it_is(tmp_path: Path) -> None:
    out = _join([pa.table({"i": [1, 2]}).cast(pa.schema([("i", pa.int64())]))], tmp_path)
    assert out.read_bytes() == (tmp_path / "0.parquet").read_bytes()


@pytest.mark.parametrize("first", [0, 2])
def test_others_columns_are_told_of_a_second_file(first: int, tmp_path: Path) -> None:
    tables = [pa.table({"i": pa.array([1] * first, pa.int64())}), pa.table({"s": ["a"]})]
    with pytest.raises(ValueError, match="has other columns"):
        _join(tables, tmp_path)


def test_what_is_behind_an_empty_file(tmp_path: Path) -> None:
    tables = [pa.table({"i": pa.array(rows, pa.int64())}) for rows in ([], [7], [], [8, 9])]
    assert pq.read_table(_join(tables, tmp_path)).column("i").to_pylist() == [7, 8, 9]
