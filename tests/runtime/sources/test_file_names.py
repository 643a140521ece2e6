"""Files whose names look like patterns, or whose folders hold values, are read once."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.runtime.harness import make_catalog, make_sql_job, run

NAMES = (
    "11", "1[1]", "a{x,y}", "ax", "c*", "cc", "d?", "de", "e\\x", "p[1]/f", "p1/f", "z #%20",
)  # fmt: skip
Rows = list[tuple[int, int]]


def _write(file: Path, form: str, rows: Rows) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    times = [datetime.fromtimestamp(t, UTC).replace(tzinfo=None) for t, _ in rows]
    numbers = [a for _, a in rows]
    table = pa.table({"ts": pa.array(times, pa.timestamp("us")), "a": numbers})
    match form:
        case "parquet":
            pq.write_table(table, file)
        case "orc":
            # what has no zone is UTC, as Spark reads it there
            table = table.set_column(0, "ts", table.column(0).cast(pa.timestamp("us", "UTC")))
            orc.write_table(table, str(file))
        case "csv":
            lines = [f"{t.isoformat()},{a}\n" for t, a in zip(times, numbers, strict=True)]
            file.write_text("ts,a\n" + "".join(lines))
        case _:
            cells = [{"ts": t.isoformat(), "a": a} for t, a in zip(times, numbers, strict=True)]
            file.write_text("".join(json.dumps(c) + "\n" for c in cells))


def _source(form: str, sort: bool) -> str:
    options = ', options = { header = "true" }' if form == "csv" else ""
    return (
        f'[streams.S]\nsource = {{ format = "{form}", path = "s"{options}, '
        f'sort = {str(sort).lower()} }}\ntimestamp = {{ column = "ts", unit = "1 second" }}\n'
        '[streams.S.columns]\na = "int"\n'
    )


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("form", ["parquet", "orc", "csv", "json"])
def test_names_are_no_patterns(form: str, sort: bool, tmp_path: Path, spark: SparkSession) -> None:
    paths = sorted(tmp_path / "s" / f"{name}.{form}" for name in NAMES)
    for i, path in enumerate(paths):
        _write(path, form, [(2 * i, 2 * i), (2 * i + 1, 2 * i + 1)])
    job = make_sql_job("SELECT a FROM S WHERE a >= 0", make_catalog(tmp_path, _source(form, sort)))
    rows, summary = run(job, spark, tmp_path)
    assert sorted(r[0] for r in rows) == list(range(2 * len(NAMES)))
    assert summary.rejected == {}


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("form", ["parquet", "orc", "csv", "json"])
@pytest.mark.parametrize("values", [["[1]", "1"], [None], [None, "a*", "ab"]])
def test_values_in_the_names_of_folders(
    values: list[str | None], form: str, sort: bool, tmp_path: Path, spark: SparkSession
) -> None:
    wanted = []
    held = sorted(values, key=lambda v: "__HIVE" if v is None else v)
    for i, value in enumerate(held):
        folder = "__HIVE_DEFAULT_PARTITION__" if value is None else value.replace("*", "%2A")
        _write(tmp_path / "s" / f"k={folder}" / f"f.{form}", form, [(i, i)])
        if value is not None:
            wanted.append((value, i))
    catalog = make_catalog(tmp_path, _source(form, sort) + 'k = "string"\n')
    rows, summary = run(make_sql_job("SELECT k, a FROM S WHERE a >= 0", catalog), spark, tmp_path)
    # NULL is not an answer
    assert sorted(r[:2] for r in rows) == sorted(wanted)
    assert summary.tuples == len(values)


def test_csv_files_with_columns_in_another_order_are_sorted_by_their_names(
    tmp_path: Path, spark: SparkSession
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "1.csv").write_text("ts,a\n1970-01-01T00:00:05,5\n")
    (tmp_path / "s" / "2.csv").write_text("a,ts\n2,1970-01-01T00:00:02\n")
    catalog = make_catalog(tmp_path, _source("csv", True))
    rows, summary = run(make_sql_job("SELECT a FROM S", catalog), spark, tmp_path)
    assert [r[0] for r in rows] == [2, 5]
    assert summary.rejected == {}


def test_a_relation_whose_name_looks_like_a_pattern(tmp_path: Path, spark: SparkSession) -> None:
    _write(tmp_path / "s" / "f.parquet", "parquet", [(0, 1), (1, 2)])
    for name, n in (("r[1].json", 1), ("r1.json", 2)):
        # two lines for an object: Spark reads it, not we
        (tmp_path / name).write_text(f'{{"b":\n{n}}}')
    toml = _source("parquet", False) + (
        '[relations.R]\nsource = { format = "json", path = "r[1].json", '
        'options = { multiLine = "true" } }\n[relations.R.columns]\nb = "int"\n'
    )
    job = make_sql_job("SELECT a FROM S, R WHERE S.a = R.b", make_catalog(tmp_path, toml))
    rows, _ = run(job, spark, tmp_path)
    assert [r[0] for r in rows] == [1]
