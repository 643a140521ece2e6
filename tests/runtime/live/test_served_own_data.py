"""Registered queries over files as people have them: times in a format, members by paths."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ontoweir import open_project
from ontoweir.errors import DataError, OntoweirWarning
from ontoweir.mappings.model.catalog import Column, DataSource, IntType, Stream, TimeFormat
from ontoweir.runtime.live.topics.probe_source import probe_source
from ontoweir.runtime.sources.history import History
from tests.runtime.live.test_run_live import read_output
from tests.runtime.live.test_serving import register, serve

TOML = """
[streams.a]
source = { format = "csv", path = "a.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second", format = "%d.%m.%Y %H:%M:%S" }
max_per_timestamp = 5
columns = { k = { type = "int", min = 0, max = 9 } }
[streams.b]
source = { format = "json", path = "b.jsonl" }
timestamp = { column = "ts", unit = "1 second", format = "epoch_ms", from = ["meta.sent"] }
max_per_timestamp = 5
columns = { k = { type = "int", min = 0, max = 9, from = "device.k" } }
"""


def test_they_are_served(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    rows = [f"01.03.2026 10:00:{n:02d},{n}" for n in range(9)]
    (tmp_path / "a.csv").write_text("\n".join(["ts,k", *rows]) + "\n")
    lines = [{"device": {"k": n}, "meta": {"sent": 1772359200000 + 1000 * n}} for n in range(9)]
    (tmp_path / "b.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in lines))
    queries = {"one": "SELECT k FROM a", "two": "SELECT k FROM b WHERE k > 2"}
    for name, text in queries.items():
        register(tmp_path, name, text)
    summary = serve(tmp_path, spark)
    assert {n: (s["state"], s["tuples"]) for n, s in summary["queries"].items()} == {
        "one": ("stopped", 9),
        "two": ("stopped", 9),
    }
    assert len(read_output(tmp_path / "out", "one")) == 8  # the last second is not over
    assert len(read_output(tmp_path / "out", "two")) == 5


NAMED = """
[streams.m]
source = { format = "csv", path = "m", options = { header = "true", sep = ";" } }
timestamp = { column = "ts", unit = "1 second", from = ["Meßzeit"] }
max_per_timestamp = 9
references = [{ columns = ["sensor"], relation = "sensor", to = ["id"] }]
[streams.m.columns]
sensor = { type = "int", from = "Nr." }
celsius = { type = "double", from = "Temp. (°C)", max = 50.0 }
said = { type = "string", from = "Temp. (°C)" }
place = { type = "string", from = "site" }
[relations.sensor]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
keys = [["id"]]
max_rows = 9
columns = { id = { type = "int", from = "sensor" }, sensor = { type = "string", from = "id" } }
"""


def test_columns_that_the_header_calls_otherwise(spark: SparkSession, tmp_path: Path) -> None:
    """A column by its name in the header, two of one, one of a folder, and names exchanged: the
    rows that a replay has, too."""
    (tmp_path / "ontoweir.toml").write_text(NAMED)
    rows = [f"2026-03-01T10:00:{n:02d};{1 + n % 3};{46.5 + n}" for n in range(5)]
    (tmp_path / "m" / "site=ulm").mkdir(parents=True)
    head = "Meßzeit;Nr.;Temp. (°C)"
    (tmp_path / "m" / "site=ulm" / "a.csv").write_text("\n".join([head, *rows]) + "\n")
    (tmp_path / "s.csv").write_text("sensor,id\n1,one\n2,two\n3,three\n")
    sql = "SELECT m.celsius, m.said, m.place, s.sensor FROM m JOIN sensor s ON s.id = m.sensor"
    register(tmp_path, "named", sql)
    summary = serve(tmp_path, spark)
    assert summary["queries"]["named"]["tuples"] == 5
    said = zip(("46.5", "47.5", "48.5", "49.5"), ("one", "two", "three", "one"), strict=True)
    expected = [(float(n), n, "ulm", sensor) for n, sensor in said]
    live = read_output(tmp_path / "out", "named")
    with pytest.warns(OntoweirWarning, match="outside its declared domain"):
        again = open_project(tmp_path).replay(sql, progress=False).to_arrow().to_pylist()
    for found in (live, sorted(tuple(row.values()) for row in again)):
        assert [row[:4] for row in found] == expected


def test_what_is_remote_is_refused(spark: SparkSession) -> None:
    """Twin: Spark would read these, and knows no formats of times."""
    written = TimeFormat("epoch_ms", ("ts",))
    data = DataSource("csv", "s3a://bucket/a.csv")
    columns = (Column("k", IntType()),)
    stream = Stream("s", data, "ts", 1_000_000, None, columns, written=written)
    with pytest.raises(DataError, match="whose timestamps have a format"):
        probe_source(spark, History(stream, ("k",), (), False))
