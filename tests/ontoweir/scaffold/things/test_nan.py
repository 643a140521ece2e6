"""`ontoweir init --from` of numbers that are NaN."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

ROWS = 200


@pytest.mark.parametrize("every", [10, 2, None])
def test_rows_that_are_rejected_are_told(run: Run, tmp_path: Path, every: int | None) -> None:
    values = [float("nan") if every and n % every == 0 else n / 2 for n in range(ROWS)]
    times = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(ROWS)]
    table = pa.table({"at": times, "v": pa.array(values, pa.float32()), "w": [1.5] * ROWS})
    pq.write_table(table, tmp_path / "r.parquet", row_group_size=50)
    ran = run("init", tmp_path / "p", "--from", tmp_path / "r.parquet")
    assert ran.code == 0, ran.err
    text = (tmp_path / "p" / "ontoweir.toml").read_text()
    assert ("# v is NaN in 20 of 200 rows, which are rejected" in text) is (every == 10)
    assert ("r.v (NaN)" in ran.out) is (every == 2)
    assert ('v = "double"' in text) is (every != 2)
    told = run("check", tmp_path / "p", "--data").out
    wrong = "20 of 200 rows break what is declared" if every == 10 else "is true of 200 rows"
    assert wrong in told
