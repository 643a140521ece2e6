"""Large static relations are mapped to memory from what tasks write: the rows are the same."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
from ontoweir.runtime import load_statics as module
from ontoweir.runtime.load_statics import load_statics
from tests.runtime.harness import make_catalog

TOML = """
[relations.place]
source = { format = "csv", path = "place", options = { header = "true" } }
keys = [["id"]]
[relations.place.columns]
id = "int"
name = "string"
since = "date"
checked = "timestamp"
size = "decimal(6,2)"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of a thousand rows, some of them NULL."""
    (tmp_path / "place").mkdir()
    for part in range(3):
        rows = [
            f"{i},{'' if i % 7 == 0 else f'n{i}'},2020-01-{1 + i % 28:02d},"
            f"2020-01-01 10:00:{i % 60:02d},{i}.25"
            for i in range(part * 1000, part * 1000 + 1000)
        ]
        text = "\n".join(["id,name,since,checked,size", *rows]) + "\n"
        (tmp_path / "place" / f"{part}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_same_rows_without_collecting_them(
    folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = make_catalog(folder, TOML)
    wanted = load_statics(spark, catalog, ["place"])["place"]
    assert wanted.num_rows == 3000
    collected: list[int] = []
    kind = type(spark.range(1))
    collect = kind.toArrow

    def counted(frame: Any) -> pa.Table:
        table = collect(frame)
        collected.append(table.num_rows)
        return table

    monkeypatch.setattr(kind, "toArrow", counted)
    monkeypatch.setattr(module, "LARGE", 0)
    before = set(os.listdir(tempfile.gettempdir()))
    found = load_statics(spark, catalog, ["place"])["place"]
    assert found.equals(wanted)
    assert collected == []
    left = set(os.listdir(tempfile.gettempdir())) - before
    assert not [name for name in left if name.startswith("ontoweir-static-")]


def test_what_is_broken_is_told_as_before(
    folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (folder / "place" / "2.csv").open("a", encoding="utf-8") as file:
        file.write("1,again,2020-01-01,2020-01-01 10:00:00,1\n")
    catalog = make_catalog(folder, TOML)
    said = []
    for large in (1 << 40, 0):
        monkeypatch.setattr(module, "LARGE", large)
        with pytest.raises(DataError, match="occurs 2 times") as caught:
            load_statics(spark, catalog, ["place"])
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_no_rows(folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (folder / "place").iterdir():
        file.write_text("id,name,since,checked,size\n", encoding="utf-8")
    monkeypatch.setattr(module, "LARGE", 0)
    assert load_statics(spark, make_catalog(folder, TOML), ["place"])["place"].num_rows == 0
