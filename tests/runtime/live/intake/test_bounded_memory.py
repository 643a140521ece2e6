"""A backlog takes the memory of a step, however long it is, and in however many files."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HERE = Path(__file__).parent.parent.parent
_GROUP = 25_000
"""Rows of a row group, and of a step."""
_ROW = 40
"""Bytes of a row, at least: two whole numbers, a time, and a text of three letters."""
_COPIES = 8
"""How often the rows of a step are there at once: as they are read, of both sides of its end, cut,
in order, admitted, encoded, and as what they are made of; at most."""
_FIXED = 32 << 20
"""Bytes more: what allocators keep, and what is made for the first time."""


def _write(folder: Path, rows: int, files: int) -> None:
    """A backlog in the order of time, fifty rows a second."""
    (folder / "s").mkdir(parents=True)
    schema = pa.schema(
        [("ts", pa.timestamp("us")), ("k", pa.int64()), ("a", pa.int64()), ("note", pa.string())]
    )
    each = rows // files
    for number in range(files):
        with pq.ParquetWriter(folder / "s" / f"{number:04d}.parquet", schema) as writer:
            for first in range(number * each, (number + 1) * each, _GROUP):
                places = np.arange(first, min(first + _GROUP, (number + 1) * each))
                times = pa.array(places // 50 * 1_000_000).view(pa.timestamp("us"))
                texts = pa.array(np.array(["xxx", "yyy", "zzz"])[places % 3])
                group = [times, pa.array(places % 5), pa.array(places % 97), texts]
                writer.write_table(pa.table(group, schema=schema))


def _take_in(folder: Path, rows: int, files: int, step: tuple[int, int]) -> dict[str, Any]:
    _write(folder, rows, files)
    command = [sys.executable, str(HERE / "backlog_driver.py"), str(folder), *map(str, step)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    assert told["tuples"] == rows
    return told


@pytest.mark.slow
def test_a_backlog_takes_the_memory_of_a_step(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    few = 500_000
    rows = 20_000_000 if pytestconfig.getoption("--long") else few
    step = (_GROUP, _GROUP * _ROW)
    short = _take_in(tmp_path / "short", 2 * _GROUP, 1, step)
    allowed = (_COPIES * _GROUP * _ROW + _FIXED) // 1024
    for files in (1, 10):
        long = _take_in(tmp_path / f"long-{files}", rows, files, step)
        assert long["peak"] <= short["peak"] + allowed, (files, short, long)
        assert long["commits"] >= rows // (2 * _GROUP)
        assert long["parts"] > 1  # answers come as it goes
    # twin: the same rows in one step take more
    whole = _take_in(tmp_path / "whole", few, 1, (few, 1 << 40))
    assert whole["peak"] > short["peak"] + allowed, (short, whole)
