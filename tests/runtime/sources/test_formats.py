"""One history in every format and layout that is read: the same answers, also of a part of it."""

from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.runtime.harness import Row, make_catalog, make_sql_job, run

pytestmark = pytest.mark.spark

START = datetime(2020, 1, 1)
TOML = """
[streams.a]
source = {{ {0} }}
timestamp = {{ column = "ts", unit = "1 minute" }}
[streams.a.columns]
k = {{ type = "int", min = 0, max = 2 }}
x = "int"
city = {{ type = "string", enum = ["Ålborg", "New York"] }}
"""
SQL = "SELECT f.x, e.k, f.city FROM a e, a f WHERE e.k = f.k AND e.ts < f.ts AND e.city = f.city"
CITIES = ("Ålborg", "New York", None)


def _table() -> pa.Table:
    rows = [
        {"ts": START + timedelta(minutes=n), "k": n % 3, "x": n, "city": CITIES[n // 20 % 3]}
        for n in range(120)
    ]
    kinds = [("ts", pa.timestamp("us")), ("k", pa.int64()), ("x", pa.int64())]
    return pa.Table.from_pylist(rows, pa.schema([*kinds, ("city", pa.string())]))


def _answers(folder: Path, source: str, spark: SparkSession, **options: datetime) -> list[Row]:
    job = make_sql_job(SQL, make_catalog(folder, TOML.format(source)))
    rows, summary = run(job, spark, folder, rows_per_chunk=17, **options)
    assert summary.rejected == {}
    return rows


@pytest.mark.parametrize("form", ["parquet", "csv", "json", "orc"])
@pytest.mark.parametrize("layout", ["file", "folder", "glob", "partitions"])
def test_formats_and_layouts(tmp_path: Path, spark: SparkSession, form: str, layout: str) -> None:
    table = _table()
    pq.write_table(table, tmp_path / "plain.parquet")
    span = {"start": START + timedelta(minutes=30), "stop": START + timedelta(minutes=90)}
    plain = 'format = "parquet", path = "plain.parquet"'
    wanted = _answers(tmp_path, plain, spark)
    part = _answers(tmp_path, plain, spark, **span)
    assert 0 < len(part) < len(wanted)

    parts = {"file": 1, "folder": 4, "glob": 4, "partitions": 3}[layout]
    size = 120 // parts
    for number in range(parts):
        rows = table.slice(number * size, size)
        frame = spark.createDataFrame(rows).coalesce(1)
        writer = frame.write.mode("overwrite").format(form).option("header", "true")
        target = tmp_path / "data" / f"d{number}"
        if layout == "partitions":
            target = tmp_path / "data" / f"part={number}"
            writer = writer.partitionBy("city")
        writer.save(str(target))
    header = ', options = { header = "true" }' if form == "csv" else ""
    if layout == "partitions":  # within a part, cities are not in the order of time
        header += ", sort = true"
    path = tmp_path / "data"
    if layout == "file":
        path = next((path / "d0").glob("part-*"))
    elif layout == "glob":
        path = path / "d*" / "part-*"
    source = f'format = "{form}", path = "{path}"{header}'
    assert _answers(tmp_path, source, spark) == wanted
    assert _answers(tmp_path, source, spark, **span) == part


@pytest.mark.parametrize("form", ["parquet", "csv", "orc"])
def test_folders_in_the_order_of_time_hold_columns(
    tmp_path: Path, spark: SparkSession, form: str
) -> None:
    table = _table()
    pq.write_table(table, tmp_path / "plain.parquet")
    wanted = _answers(tmp_path, 'format = "parquet", path = "plain.parquet"', spark)
    names = ("Ålborg", "New%20York", "__HIVE_DEFAULT_PARTITION__")
    for number in range(6):
        if form == "orc" and number % 3 == 2:
            continue  # Spark 4.3 cannot read an ORC file alone whose only folder says NULL
        rows = table.slice(number * 20, 20).drop_columns(["city"])
        target = tmp_path / "data" / f"n={number}" / f"city={names[number % 3]}"
        frame = spark.createDataFrame(rows).coalesce(1)
        frame.write.format(form).option("header", "true").save(str(target))
    header = ', options = { header = "true" }' if form == "csv" else ""
    assert _answers(tmp_path, f'format = "{form}", path = "data"{header}', spark) == wanted


def test_times_after_2262_that_spark_reads(tmp_path: Path, spark: SparkSession) -> None:
    """What Spark stages for us is read again, in microseconds: nanoseconds end there."""
    (tmp_path / "s.json").write_text(
        '{"ts": "2024-01-01 00:00:00", "id": 1, "m": "2300-01-01 00:00:00"}\n'
    )
    toml = (
        '[streams.s]\nsource = { format = "json", path = "s.json" }\n'
        'timestamp = { column = "ts", unit = "1 minute" }\n'
        'columns = { id = "int", m = "timestamp" }\n'
    )
    job = make_sql_job("SELECT id, m FROM s", make_catalog(tmp_path, toml))
    rows, summary = run(job, spark, tmp_path)
    assert summary.rejected == {}
    assert "2300-01-01" in str(rows)
