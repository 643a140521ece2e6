"""The place of a column in a Parquet file, of which nothing is left in memory."""

import gc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.sources.list_pieces import find_leaf


@pytest.mark.parametrize("rows", [0, 2])
def test_the_place_of_a_column(tmp_path: Path, rows: int) -> None:
    """Also behind a nested one, which has two leaves; and of an empty file."""
    nested = pa.array([{"x": 1, "y": 2}] * rows, pa.struct([("x", pa.int64()), ("y", pa.int64())]))
    table = pa.table({"at": nested, "ts": pa.array([1] * rows, pa.int64())})
    pq.write_table(table, tmp_path / "a.parquet")
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    found = [find_leaf(metadata, name) for name in ("at.y", "ts", "at", "none")]
    assert found == [1, 2, None, None]


def test_no_garbage_is_made(tmp_path: Path) -> None:
    """A live run reads many small files: what a file's metadata holds is given back at once."""
    pq.write_table(pa.table({"a": [1], "ts": [1]}), tmp_path / "a.parquet")

    def held() -> int:
        return sum(isinstance(one, pq.FileMetaData) for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = held()
        for _ in range(3):
            with pq.ParquetFile(tmp_path / "a.parquet") as file:
                assert find_leaf(file.metadata, "ts") == 1
            del file
        assert held() == before
    finally:
        gc.enable()
