"""`ontoweir init --from` of Parquet with times of which microseconds do not have all."""

import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

ROWS = 400
BEGIN = 1_767_225_600 * 10**9
KIND = pa.timestamp("ns", "UTC")


def write_rows(file: Path, times: list[int], received: list[int]) -> None:
    pq.write_table(
        pa.table(
            {
                "t": pa.array(times, KIND),
                "received": pa.array(received, KIND),
                "device": pa.array([f"d{n % 5}" for n in range(ROWS)]).dictionary_encode(),
                "v": [n / 2 for n in range(ROWS)],
            }
        ),
        file,
        row_group_size=100,
    )


@pytest.mark.parametrize(("first", "written"), [(0, "iso"), (200, "iso"), (ROWS, None)])
def test_all_rows_are_read(run: Run, tmp_path: Path, first: int, written: str | None) -> None:
    """From row `first` on times have nanoseconds; the sample that is looked at has 100 rows."""
    whole = [BEGIN + n * 2 * 10**9 for n in range(ROWS)]
    fine = [t + (7 if n >= first else 0) for n, t in enumerate(whole)]
    file = tmp_path / "lake" / "date=2026-01-01" / "part-0.parquet"
    file.parent.mkdir(parents=True)
    write_rows(file, fine, fine)
    project = tmp_path / "p"
    ran = run("init", project, "--from", tmp_path / "lake")
    assert ran.code == 0, ran.err
    left_out = "lake.received (finer than a microsecond)"
    assert (left_out in ran.out) is (written is not None)
    catalog = tomllib.loads((project / "ontoweir.toml").read_text())
    stream = catalog["streams"]["lake"]
    assert stream["timestamp"].get("format") == written
    assert ("received" in stream["columns"]) is (written is None)
    assert "is true of 400 rows" in run("check", project, "--data").out
    shown = run("show", "SELECT device, v FROM lake", "--project", project, "--limit", "1")
    assert f"1 of {ROWS} rows" in shown.out


def test_a_replay_that_rejects_them_says_how_they_are_read(run: Run, tmp_path: Path) -> None:
    write_rows(tmp_path / "r.parquet", [BEGIN + n * 10**9 + 1 for n in range(ROWS)], [0] * ROWS)
    (tmp_path / "ontoweir.toml").write_text(
        '[streams.r]\nsource = { format = "parquet", path = "r.parquet" }\n'
        'timestamp = { column = "t", unit = "1 second", align = "floor" }\n'
        'columns = { v = "double" }\n'
    )
    ran = run("show", "SELECT v FROM r", "--project", tmp_path)
    assert ran.code == 2
    assert 'declare timestamp = { column = "t", …, format = "iso" }' in ran.err
