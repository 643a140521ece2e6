"""Patterns beside which there is no later one of their key, and what is none of it."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.errors import QueryError
from ontoweir.pipeline.compiling.compile_text import compile_text
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.aggregation import Standing
from tests.paths import ROOT
from tests.rewriter.versions.test_versions_in_sparql import write

SALE = "GRAPH ?t { ?s :item ?i ; :amount ?n }"
LATER = "FILTER NOT EXISTS { GRAPH ?u { ?r :item ?i ; :amount ?m } FILTER(?u > ?t) }"


def test_later_ones_replace_earlier_ones(tmp_path: Path) -> None:
    write(tmp_path, f"SELECT ?i ?n WHERE {{ {SALE} {LATER} }}")
    mapped = (tmp_path / "ontoweir.toml").read_text()
    limited = mapped.replace('item = "string"', 'item = { type = "string", enum = ["a", "b"] }')
    (tmp_path / "ontoweir.toml").write_text(limited)
    output = tmp_path / "answers.parquet"
    assert main(["replay", str(tmp_path), "--query", "asked", "--output", str(output)]) == 0
    rows = [
        (r["i"][-1], r["n"], r["op"], r["at"].second) for r in pq.read_table(output).to_pylist()
    ]
    assert rows == [
        ("a", 2, "+", 0),
        ("a", 2, "-", 5),
        ("a", 3, "+", 5),
        ("b", 4, "+", 6),
        ("a", 3, "-", 9),
        ("a", 1, "+", 9),  # the next one is equal, which changes nothing
    ]


def test_something_else(tmp_path: Path) -> None:
    later = LATER.replace("?u > ?t", "?u > ?t && ?m > ?n")
    write(tmp_path, f"SELECT ?i ?n WHERE {{ {SALE} {later} }}")
    with pytest.raises(QueryError) as caught:
        Workspace(load_project(tmp_path, environ={})).compile("asked")
    assert "is never final" in str(caught.value)


def test_the_query_of_the_page() -> None:
    page = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    section = page.split("## The latest of each\n")[1].split("\n## ")[0]
    text, beside = re.findall(r"```sparql\n(.*?)```", section, re.DOTALL)
    workspace = Workspace(load_project(ROOT / "examples" / "traffic", environ={}))
    prefixed = f"PREFIX : <http://traffic.example/ns#>\n{text}"
    union = compile_text(workspace, prefixed, "q", "q.rq").union
    assert union.standing == Standing(("s",))
    assert workspace.check(compile_text(workspace, prefixed, "q", "q.rq")).bound is not None
    prefixed = f"PREFIX : <http://traffic.example/ns#>\n{beside}"
    union = compile_text(workspace, prefixed, "q", "q.rq").union
    assert union.standing is not None
    assert union.standing.first is not None
