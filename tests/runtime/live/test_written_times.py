"""Timestamps in formats: CSV, JSON lines and Parquet, replayed and live, are the same rows."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import CatalogError, DataError
from ontoweir.runtime.live.arrivals.find_horizon import find_horizon
from tests.runtime.harness import make_catalog, run
from tests.runtime.in_process import replay_here
from tests.runtime.live.test_one_rule import _jobs, _live

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second", %s }
[streams.s.columns]
i = { type = "int", min = 0, max = 9 }
"""
SQL = (
    "SELECT a.i AS i, b.i AS j FROM s a, s b "
    "WHERE a.ts < b.ts AND b.ts <= a.ts + INTERVAL 3 SECONDS"
)
START = datetime(2026, 7, 1, 10, tzinfo=UTC)
Cells = dict[str, Any]


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def _local(moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo("Europe/Copenhagen"))


FORMATS: dict[str, tuple[str, Callable[[datetime], Cells], Cells]] = {
    "seconds": ('format = "epoch_s"', lambda m: {"ts": _seconds(m)}, {"ts": 1 << 60}),
    "doubles": (
        'format = "epoch_s", align = "floor"',
        lambda m: {"ts": _seconds(m) + 0.25},
        {"ts": float("inf")},
    ),
    "milliseconds": (
        'format = "epoch_ms", from = ["t"]',
        lambda m: {"t": 1000 * _seconds(m)},
        {"t": 1 << 62},
    ),
    "texts": (
        'format = "%d/%m/%Y %H:%M:%S", zone = "Europe/Copenhagen"',
        lambda m: {"ts": _local(m).strftime("%d/%m/%Y %H:%M:%S")},
        {"ts": "29/03/2026 02:30:00"},
    ),
    "two columns": (
        'format = "%d.%m.%Y %H:%M:%S", from = ["day", "clock"]',
        lambda m: {"day": m.strftime("%d.%m.%Y"), "clock": m.strftime("%H:%M:%S")},
        {"day": "31.04.2026", "clock": "01:00:00"},
    ),
    "iso in a zone": (
        'zone = "Europe/Copenhagen"',
        lambda m: {"ts": _local(m).strftime("%Y-%m-%dT%H:%M:%S")},
        {"ts": "2026-03-29T02:30:00"},
    ),
}


def _write(folder: Path, form: str, make: Callable[[datetime], Cells], bad: Cells) -> list[Path]:
    """Three files of rows, with a bad one in each and one without a timestamp."""
    draw, number = Random(5), 0
    (folder / "s").mkdir(parents=True)
    files = []
    for part in range(3):
        rows: list[Cells] = []
        for _ in range(12):
            number += draw.choice((0, 1, 1, 2))
            rows.append({**make(START + timedelta(seconds=number)), "i": draw.randrange(10)})
        rows.insert(4, {**bad, "i": 1})
        rows.insert(7, {**dict.fromkeys(bad), "i": 2})
        files.append(folder / "s" / f"{part}.{form}")
        match form:
            case "parquet":
                pq.write_table(pa.Table.from_pylist(rows), files[-1], row_group_size=5)
            case "json":
                lines = [json.dumps(r).replace("Infinity", "1e999") for r in rows]
                files[-1].write_text("\n".join([*lines, ""]))
            case _:
                names = list(rows[0])
                lines = [",".join("" if r[n] is None else str(r[n]) for n in names) for r in rows]
                files[-1].write_text("\n".join([",".join(names), *lines, ""]))
    return files


def _toml(form: str, declared: str) -> str:
    toml = TOML % declared
    if form != "parquet":
        options = 'path = "s", options = { header = "true" }' if form == "csv" else 'path = "s"'
        toml = toml.replace('"parquet", path = "s"', f'"{form}", {options}')
    return toml


@pytest.mark.parametrize("form", ["parquet", "csv", "json"])
@pytest.mark.parametrize("name", FORMATS)
def test_the_same_rows_whoever_reads(
    name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, make, bad = FORMATS[name]
    files = _write(tmp_path, form, make, bad)
    catalog, job, live = _jobs(tmp_path, _toml(form, declared), SQL)
    whole, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    assert summary.rejected == {"ts is not of its type": 3, "s.ts is NULL": 3}
    plain = tmp_path / "plain"
    _write(plain, "parquet", lambda m: {"ts": m}, {"ts": None})
    _, plain_job, _ = _jobs(plain, TOML.replace(", %s", ""), SQL)
    wanted, _ = replay_here(monkeypatch, plain_job, plain / "out.parquet", ranges=1)
    assert whole == wanted
    assert whole
    answers, reasons, _ = _live(live, files)
    last = max(row["at"] for row in whole)
    assert [r for r in answers if r["at"] < last] == [r for r in whole if r["at"] < last]
    assert reasons == summary.rejected
    if form != "json":
        firsts = [row["at"] for row in [*wanted]]
        found = find_horizon(catalog.streams["s"], [str(files[0])], {})
        assert found is not None
        begun = _seconds(START) * 1_000_000
        assert begun <= found <= min(_seconds(f.replace(tzinfo=UTC)) for f in firsts) * 1_000_000


@pytest.mark.parametrize(
    ("declared", "what"),
    [
        ('format = "unix"', "the format 'unix' is none"),
        ('format = "%d/%m/%Y %Q"', "has %Q, which is not known"),
        ('format = "%d/%d/%Y"', "has %d twice"),
        ('format = "%H:%M"', "does not say a year"),
        ('format = "%Y %d"', "does not say a month"),
        ('format = "%Y-%m %H"', "does not say a day"),
        ('format = "%b %B %Y"', "says the month twice"),
        ('format = "%d/%m/%Y %I:%M"', "does not say the hour once"),
        ('format = "epoch_s", zone = "UTC"', "epoch_s with a zone"),
        ('format = "epoch_s", from = ["a", "b"]', "epoch_s with 2 columns"),
        ('format = "%Y-%m-%d %z", zone = "UTC"', "a zone, and %z"),
        ('zone = "Europe/Aarhus"', "there is no time zone 'Europe/Aarhus'"),
        ('zone = "../passwd"', "there is no time zone"),
        ('from = ["a", "b", "c"]', "from lists 3 columns"),
        ('from = ["i"]', "'i' is a column of 's', and in from"),
    ],
)
def test_what_is_declared_wrongly(declared: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as raised:
        make_catalog(tmp_path, TOML % declared)
    assert what in raised.value.what
    assert raised.value.source is not None
    assert raised.value.source.line == 4


@pytest.mark.parametrize(
    ("declared", "column"),
    [
        ('format = "epoch_s"', pa.array([START], pa.timestamp("us"))),
        ('format = "%d/%m/%Y"', pa.array([1.5])),
        ('zone = "UTC"', pa.array([5])),
    ],
)
def test_a_column_that_cannot_be_written_so(
    declared: str, column: pa.Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s").mkdir()
    file = tmp_path / "s" / "0.parquet"
    pq.write_table(pa.table({"ts": column, "i": pa.array([1])}), file)
    _, job, live = _jobs(tmp_path, TOML % declared, SQL)
    with pytest.raises(DataError, match="holds no timestamps"):
        replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    with pytest.raises(DataError, match="holds no timestamps"):
        _live(live, [file])


@pytest.mark.spark
def test_what_spark_would_read_is_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    orc.write_table(pa.table({"ts": [1], "i": [1]}), str(tmp_path / "s" / "0.orc"))
    toml = (TOML % 'format = "epoch_s"').replace('"parquet"', '"orc"')
    _, job, _ = _jobs(tmp_path, toml, SQL)
    with pytest.raises(DataError, match="Spark is to read s"):
        run(job, spark, tmp_path)
