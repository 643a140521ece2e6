"""Whose rows are read anew by each replay is told, once that takes its time."""

from pathlib import Path

import pytest

from ontoweir.run.suggest_keeping import suggest_keeping
from tests.runtime.harness import make_catalog

TOML = """
[streams.s]
source = { SOURCE }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = "int" }
"""


@pytest.mark.parametrize(
    ("source", "tuples", "told"),
    [
        ('format = "csv", path = "s.csv"', 1_000_000, ["s"]),
        ('format = "json", path = "s.json"', 1_000_000, ["s"]),
        ('format = "parquet", path = "s.parquet", sort = true', 1_000_000, ["s"]),
        ('format = "parquet", path = "s.parquet"', 1_000_000, []),
        ('format = "csv", path = "s.csv", keep = true', 1_000_000, []),
        ('format = "csv", path = "s3a://bucket/s.csv"', 1_000_000, []),
        ('format = "csv", path = "s.csv"', 999_999, []),
    ],
)
def test_what_is_told(tmp_path: Path, source: str, tuples: int, told: list[str]) -> None:
    catalog = make_catalog(tmp_path, TOML.replace("SOURCE", source))
    assert list(suggest_keeping(catalog, {"s", "r"}, tuples)) == told
