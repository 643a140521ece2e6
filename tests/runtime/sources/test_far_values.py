"""Values that are far out: counted in units, and dates beyond the years that all can speak of."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Column, DateType, IntType, TimestampType
from ontoweir.runtime.columnar.encode import encode_column
from ontoweir.runtime.ingest.prove_domains import prove_domains
from ontoweir.runtime.pool.string_pool import StringPool


def test_whole_numbers_beside_decimals() -> None:
    """A query's numbers are all in one unit: that is the reason, whatever it compares."""
    limit = (1 << 61) // 100
    near = encode_column(pa.array([limit, -limit]), IntType(), 100, StringPool(), "s.i")
    assert near.values.tolist() == [limit * 100, -limit * 100]
    with pytest.raises(DataError) as error:
        encode_column(pa.array([limit + 1]), IntType(), 100, StringPool(), "s.i")
    assert "beyond 23058430092136939" in error.value.what
    assert "all its numbers are counted in units of 1/100" in error.value.why
    far = encode_column(pa.array([-(2**63)]), IntType(), 1, StringPool(), "s.i")
    assert far.values.tolist() == [-(2**63)]


@pytest.mark.parametrize(
    ("days", "kind", "proven"),
    [
        ([0, 2_932_896, None], pa.date32(), {"d"}),
        ([0, 2_932_897], pa.date32(), set()),
        ([-719_163], pa.date32(), set()),
        ([0, 1], pa.timestamp("us"), {"w"}),
        ([0, 1], pa.timestamp("ns"), set()),
        ([0, 3_000_000], pa.timestamp("us"), set()),
        ([0, 1], pa.int64(), set()),
    ],
)
def test_dates_that_statistics_know_need_not_be_read(
    days: list[int | None], kind: pa.DataType, proven: set[str], tmp_path: Path
) -> None:
    values = pa.array(days, pa.int32())
    dates = values.cast(pa.date32())
    micros = pa.array([None if d is None else d * 86_400_000_000 for d in days])
    if pa.types.is_timestamp(kind):
        dates = micros.cast(pa.timestamp("us")).cast(kind)
    elif not pa.types.is_date(kind):
        dates = values.cast(kind)
    pq.write_table(pa.table({"d": dates, "w": dates}), tmp_path / "f.parquet")
    columns = [Column("d", DateType()), Column("w", TimestampType())]
    assert prove_domains([str(tmp_path / "f.parquet")], columns) == proven
