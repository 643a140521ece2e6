"""A mapping means the same, with the same places, whoever parses it: pyoxigraph or rdflib."""

import re
from pathlib import Path

import pytest

from ontoweir.errors import OntoweirError
from ontoweir.mappings.r2rml import read_turtle as reading
from ontoweir.mappings.r2rml.read_r2rml import read_r2rml
from tests.paths import ROOT

HEAD = "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://e/> .\n"
MAP = '[ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://e/{a}" ; rr:class :C ] .\n'
PAIR = """rr:predicateObjectMap [ rr:predicate :p ;
  rr:object 1, 1.0, "x"@EN, "y"^^<http://www.w3.org/2001/XMLSchema#string>, "z" ] ."""
ODD = [
    "_:m rr:logicalTable " + MAP,
    "[] rr:logicalTable " + MAP + "[] rr:logicalTable " + MAP,
    "@base <http://b/> . <#M> rr:logicalTable " + MAP,
    '<M> rr:logicalTable [ rr:sqlQuery """a\n\nb""" ] ; rr:subject <s> ; ' + PAIR,
    "<M> rr:logicalTabel " + MAP,
    '<M> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:column "b" ] , [ ] .',
    "@prefix rr: <http://www.w3.org/ns/r2rml#> . rr:M rr:logicalTable " + MAP,
    "<a b> rr:logicalTable " + MAP,
    "<M> rr:logicalTable [ ",
    "",
]
"""Blank nodes, bases, relative IRIs, prefixes twice, kinds of literals, and what is wrong."""


def read(file: Path) -> list[str]:
    """What a file means, read strictly and not: blank nodes have no names of their own."""
    read = []
    for partial in (True, False):
        try:
            text = str(read_r2rml(file, partial=partial))
        except OntoweirError as error:
            text = str(error)
        read.append(re.sub(r"'(b\d{9}|n[0-9a-f]{32}b\d+)'", "BLANK", text))
    return read


def compare(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    fast = list(map(read, files))
    monkeypatch.setattr(reading, "parse_rdf", lambda *_, **__: None)
    for file, ours in zip(files, fast, strict=True):
        assert ours == read(file), file


def test_odd_mappings_mean_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / f"{n}.ttl" for n in range(len(ODD))]
    for file, text in zip(files, ODD, strict=True):
        file.write_text(HEAD + text)
    assert reading._parse_fast(HEAD + ODD[0]) is not None
    compare(files, monkeypatch)


def test_mappings_of_the_repository_mean_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(sorted((ROOT / "examples").rglob("*.ttl")), monkeypatch)


@pytest.mark.shared
def test_mappings_of_the_suites_mean_the_same(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = sorted((shared / "suites").rglob("*.ttl"))
    assert len(files) > 100
    compare(files, monkeypatch)
