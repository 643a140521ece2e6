"""Registered queries over files as people have them: times in a format, members by paths."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
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


def test_what_is_remote_is_refused(spark: SparkSession) -> None:
    """Twin: Spark would read these, and knows no formats of times."""
    written = TimeFormat("epoch_ms", ("ts",))
    data = DataSource("csv", "s3a://bucket/a.csv")
    columns = (Column("k", IntType()),)
    stream = Stream("s", data, "ts", 1_000_000, None, columns, written=written)
    with pytest.raises(DataError, match="whose timestamps have a format"):
        probe_source(spark, History(stream, ("k",), (), False))
