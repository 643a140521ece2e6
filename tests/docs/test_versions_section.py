"""docs/semantics.md, Relations that change: its tables, its query and its answers."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.cli import main
from ontoweir.project.project import load_project
from tests.paths import ROOT

SECTION = (
    (ROOT / "docs" / "semantics.md")
    .read_text(encoding="utf-8")
    .split("## Relations that change\n")[1]
    .split("\n## ")[0]
)
PROJECT = """
[project]
ontology = []

[streams.sale]
source = { format = "csv", path = "sale.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
columns = { id = "int", item = "string", amount = "int" }

[streams.price_update]
source = { format = "csv", path = "price_update.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
keys = [["item", "ts"]]
columns = { item = { type = "string", enum = ["pear", "plum"] }, price = "int", gone = "boolean" }

"""


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)
    return str(found)


def table(name: str) -> list[list[str]]:
    """The rows of a table of the section, its names first."""
    lines = SECTION.split(f"| {name} |")[1].split("\n\n")[0].splitlines()
    cells = [[c.strip() for c in line.strip(" |").split("|")] for line in lines]
    return [cells[0], *cells[2:]]


def test_the_answers_are_those_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(PROJECT + block("toml"))
    (tmp_path / "asked.sql").write_text(block("sql"))
    for name in ("sale", "price_update"):
        rows = "\n".join(",".join(row) for row in table(name))
        (tmp_path / f"{name}.csv").write_text(rows + "\n")
    output = tmp_path / "answers.parquet"
    command = ["replay", tmp_path, "--sql", tmp_path / "asked.sql", "--output", output]
    assert main([str(part) for part in command]) == 0
    names, *expected = table("answer")
    told = pq.read_table(output)
    seconds = told.column("at").cast(pa.timestamp("s"))
    found = told.set_column(told.schema.names.index("at"), "at", seconds).select(names).to_pylist()
    assert [[str(row[n]).replace(" ", "T") for n in names] for row in found] == expected


def test_the_relation_is_read_as_the_page_declares_it(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(PROJECT + block("toml"))
    relation = load_project(tmp_path, environ={}).catalog.streams["price"]
    assert [c.name for c in relation.columns] == ["item", "price"]
