"""An enumeration of decimals, written in TOML as whole numbers beside others."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.mappings.model.catalog import Column, DecimalType, FloatType
from ontoweir.runtime.columnar.check_domain import check_domain

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
a = { type = "decimal(8,2)", enum = [0.5, 2] }
"""


@pytest.mark.parametrize("kind", [pa.decimal128(8, 2), pa.decimal128(3, 1), pa.decimal256(40, 2)])
def test_whole_numbers_beside_others(kind: pa.DataType) -> None:
    enum = (2, Decimal("0.5"), Decimal("0.25"), 10**30)
    cells = [None if v is None else Decimal(v) for v in ("0.5", "2", "0.7", None, "-2")]
    values = pa.chunked_array([pa.array(cells, kind)])
    column = Column("a", DecimalType(8, 2), enum=enum)
    assert check_domain(values, column).to_pylist() == [True, True, False, True, False]


def test_a_replay_rejects_only_the_others(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    (tmp_path / "q.sql").write_text("SELECT a FROM s")
    cells = [Decimal("0.5"), Decimal("2"), Decimal("0.7"), None]
    times = pa.array(range(4), pa.int64()).cast(pa.timestamp("s"))
    table = {"ts": times, "a": pa.array(cells, pa.decimal128(8, 2))}
    pq.write_table(pa.table(table), tmp_path / "s.parquet")
    output = tmp_path / "out.parquet"
    call = ["replay", str(tmp_path), "--sql", str(tmp_path / "q.sql"), "--output", str(output)]
    assert main([*call, "-q"]) == 0
    assert pq.read_table(output)["a"].to_pylist() == [Decimal("0.50"), Decimal("2.00")]


def test_zero_has_no_sign_in_an_enumeration() -> None:
    values = pa.chunked_array([pa.array([-0.0, 0.0, 1.0, 0.5, None])])
    column = Column("a", FloatType(), enum=(0.0, 1.0))
    assert check_domain(values, column).to_pylist() == [True, True, True, False, True]


def test_times_of_no_year_are_no_internal_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python has no such dates: the rows are rejected, and the file's statistics not read."""
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    (tmp_path / "q.sql").write_text("SELECT a FROM s")
    times = pa.array([-(2**62), 2**62], pa.int64()).cast(pa.timestamp("us"))
    cells = pa.array([Decimal(2)] * 2, pa.decimal128(8, 2))
    pq.write_table(pa.table({"ts": times, "a": cells}), tmp_path / "s.parquet")
    output = tmp_path / "out.parquet"
    call = ["replay", str(tmp_path), "--sql", str(tmp_path / "q.sql"), "--output", str(output)]
    assert main(call) == 2
    assert "2 of the 2 rows of s are rejected" in capsys.readouterr().err
    assert not output.exists()
