"""Runs of rows on disk: what is written is found by its hash, also after runs were merged."""

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.spill import run_files
from ontoweir.runtime.spill.run_files import find_rows, list_names, merge_runs, read_rows, write_run


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_found_by_their_hash(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    monkeypatch.setattr(run_files, "GROUP", random.choice([1, 3, 8]))
    monkeypatch.setattr(run_files, "_AT_ONCE", random.choice([1, 2, 64]))
    wide = random.choice([1, 5, 60])
    runs, told = [], []
    for _ in range(random.randint(1, 4)):
        rows = [
            (random.randrange(wide), random.randrange(wide)) for _ in range(random.randint(1, 30))
        ]
        told += rows
        table = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
        hashes = [np.array(column, dtype=np.uint64) * 3 for column in zip(*rows, strict=True)]
        runs.append(write_run(tmp_path, table, hashes))
    while len(runs) > 1:
        runs.append(merge_runs(tmp_path, runs.pop(0), runs.pop(0), 2))
    (run,) = runs
    assert run.rows == len(told)
    assert Counter(map(_pair, read_rows(tmp_path, run).to_pylist())) == Counter(told)
    for order in (0, 1):
        wanted = sorted(random.sample(range(wide + 1), k=random.randint(1, wide)))
        found = find_rows(tmp_path, run, order, np.array(wanted, dtype=np.uint64) * 3)
        right = Counter(row for row in told if row[order] in wanted)
        assert Counter(map(_pair, [] if found is None else found.to_pylist())) == right


def _pair(row: dict[str, int]) -> tuple[int, int]:
    return row["a"], row["b"]


def test_a_look_up_reads_only_what_has_what_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = np.arange(100_000, dtype=np.uint64)
    run = write_run(tmp_path, pa.table({"a": hashes}), [hashes])
    read: list[int] = []
    groups = pq.ParquetFile.read_row_groups

    def count(file: pq.ParquetFile, some: list[int]) -> pa.Table:
        read.extend(some)
        return groups(file, some)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", count)
    assert find_rows(tmp_path, run, 0, np.array([200_000], dtype=np.uint64)) is None
    assert not read
    found = find_rows(tmp_path, run, 0, np.array([7, 99_999], dtype=np.uint64))
    assert found is not None
    assert found.column("a").to_pylist() == [7, 99_999]
    assert read == [0, 100_000 // run_files.GROUP]


def test_a_lost_file_is_said(tmp_path: Path) -> None:
    hashes = np.arange(3, dtype=np.uint64)
    run = write_run(tmp_path, pa.table({"a": hashes}), [hashes])
    for name in list_names(run, 1):
        (tmp_path / name).unlink()
    with pytest.raises(RunError, match="rows cannot be read"):
        find_rows(tmp_path, run, 0, hashes)
