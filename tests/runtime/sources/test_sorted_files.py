"""A source that is sorted reads each of its files by that file's own columns, as any other does."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
from tests.runtime.harness import make_catalog, make_sql_job, run

SECOND = 1_000_000
QUERY = "SELECT k, a FROM S"
TYPES = {
    "narrow": pa.array([5, None], pa.int32()),
    "text": pa.array(["5", None]),
    "float": pa.array([5.0, None]),
    "decimal": pa.array([Decimal("5.0"), None], pa.decimal128(10, 1)),
    "NULL": pa.nulls(2),
    "wide": pa.array([5, None], pa.uint64()),
}


def _times(*seconds: int) -> pa.Array:
    return pa.array([s * SECOND for s in seconds], pa.timestamp("us"))


def _run(
    first: dict[str, Any], second: dict[str, Any], form: str, folder: Path, spark: SparkSession
) -> list[Any]:
    (folder / "s").mkdir(parents=True)
    write = pq.write_table if form == "parquet" else orc.write_table
    for name, columns in (("1", first), ("2", second)):
        write(pa.table(columns), str(folder / "s" / f"{name}.{form}"))
    source = (
        f'[streams.S]\nsource = {{ format = "{form}", path = "s", sort = true }}\n'
        'timestamp = { column = "ts", unit = "1 second" }\n'
        '[streams.S.columns]\nk = { type = "int", min = 0, max = 9 }\na = "int"\n'
    )
    rows, _ = run(make_sql_job(QUERY, make_catalog(folder, source)), spark, folder)
    return sorted(rows, key=str)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize("other", ["missing", "case"])
def test_missing_column_is_refused(
    other: str, form: str, turned: bool, tmp_path: Path, spark: SparkSession
) -> None:
    zone = pa.timestamp("us", "UTC")
    whole = {"k": [1, 2], "a": [3, 4], "ts": _times(0, 1).cast(zone)}
    bad = {"k": [1, 2], "A": [3, 4], "ts": _times(2, 3).cast(zone)}
    if other == "missing":
        del bad["A"]
    files = (bad, whole) if turned else (whole, bad)
    with pytest.raises(DataError, match="there is no column 'a'"):
        _run(*files, form, tmp_path, spark)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", list(TYPES))
def test_types_differ_between_files(
    kind: str, turned: bool, tmp_path: Path, spark: SparkSession
) -> None:
    one = {"k": [7, 8], "a": pa.array([3, None], pa.int64()), "ts": _times(3, 1)}
    other = {"a": TYPES[kind], "ts": _times(2, 0).cast(pa.timestamp("ns")), "k": [1, 2]}
    files = (other, one) if turned else (one, other)
    rows = _run(*files, "parquet", tmp_path, spark)
    same = dict(other, a=TYPES[kind].cast(pa.int64()), ts=_times(2, 0))
    assert rows == _run(one, same, "parquet", tmp_path / "same", spark)


def test_files_without_rows(tmp_path: Path, spark: SparkSession) -> None:
    none = {"k": pa.array([], pa.int8()), "a": pa.array([], pa.string()), "ts": _times()}
    assert _run(none, none, "parquet", tmp_path / "none", spark) == []
    some = {"k": [1], "a": [2], "ts": _times(5)}
    assert len(_run(none, some, "parquet", tmp_path / "some", spark)) == 1
