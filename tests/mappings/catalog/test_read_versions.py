"""`versions` of a relation: what is wrong is said with its line."""

from pathlib import Path

import pytest

from ontoweir.errors import CatalogError
from ontoweir.mappings.model.catalog import VersionsOf
from ontoweir.project.project import load_project

PROJECT = """
[project]
ontology = []

[streams.update]
source = { format = "parquet", path = "u.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["item", "ts"], ["shelf", "seq", "ts"]]
columns = { item = "int", shelf = "int", price = "int", gone = "boolean", seq = "int" }

[relations.price]
"""


def read(folder: Path, line: str) -> Path:
    (folder / "ontoweir.toml").write_text(PROJECT + line)
    return folder


@pytest.mark.parametrize(
    ("line", "versions", "columns"),
    [
        ('{ stream = "update", key = ["item"] }', VersionsOf("update", ("item",)), 5),
        (
            '{ stream = "update", key = "shelf", delete = "gone", order = "seq" }',
            VersionsOf("update", ("shelf",), "gone", "seq"),
            4,
        ),
        ('{ stream = "update", key = ["seq", "item"] }', VersionsOf("update", ("seq", "item")), 5),
        (
            '{ stream = "update", key = ["item"], whole = true }',
            VersionsOf("update", ("item",), whole=True),
            5,
        ),
    ],
)
def test_read(line: str, versions: VersionsOf, columns: int, tmp_path: Path) -> None:
    catalog = load_project(read(tmp_path, f"versions = {line}"), environ={}).catalog
    relation = catalog.streams["price"]
    assert relation.versions == versions
    assert len(relation.columns) == columns
    assert relation.keys == ((*versions.key, "as_of"),)
    assert "price" not in catalog.relations


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{ stream = "updat", key = ["item"] }', "the unknown stream 'updat'"),
        ('{ key = ["item"] }', "has no stream"),
        ('{ stream = "update" }', "has no key"),
        ('{ stream = "update", key = [] }', "have no key"),
        ('{ stream = "update", key = ["itm"] }', "unknown column 'itm' of 'update' in key"),
        ('{ stream = "update", key = ["item"], deleted = "gone" }', "unknown key 'deleted'"),
        ('{ stream = "update", key = ["item"], delete = "seq" }', "update.seq is int"),
        ('{ stream = "update", key = ["item"], order = "gone" }', "update.gone is boolean"),
        ('{ stream = "update", key = ["item"], delete = "item" }', "named twice"),
        (
            '{ stream = "update", key = ["item"], delete = "gone", whole = true }',
            "the versions of 'price' are whole, and have delete",
        ),
        (
            '{ stream = "update", key = ["shelf"], order = "seq", whole = true }',
            "the versions of 'price' are whole, and have order",
        ),
        ('{ stream = "update", key = ["shelf"] }', "several versions of a key at one timestamp"),
    ],
)
def test_refused(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as caught:
        load_project(read(tmp_path, f"versions = {line}"), environ={})
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}/ontoweir.toml:1")


def test_versions_take_the_place_of_a_source(tmp_path: Path) -> None:
    line = 'versions = { stream = "update", key = ["item"] }\ncolumns = { item = "int" }'
    with pytest.raises(CatalogError, match="unknown key 'columns'"):
        load_project(read(tmp_path, line), environ={})
