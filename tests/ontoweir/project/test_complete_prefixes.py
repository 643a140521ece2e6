"""Prefixes of typed queries."""

from pathlib import Path

import pytest

from ontoweir.project.complete_prefixes import complete_prefixes
from tests.ontoweir.conftest import Run

XSD = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("SELECT ?x { ?x :p 1 }", "PREFIX : <http://e/ns#> "),
        ("SELECT ?x { ?x :p|:q 1; a x:Y. }", "PREFIX : <http://e/ns#> PREFIX x: <http://e/x#> "),
        ('SELECT ?x { ?x <http://e/p> "1"^^xsd:int }', XSD),
        ("PREFIX : <urn:> SELECT ?x { ?x :p 1 }", ""),
        ("SELECT ?x { ?x <urn:p> 'a b:c', \"d:e\" } # f:g", ""),
        ("SELECT ?x { ?x two:p 1 }", ""),  # two documents differ
        ("SELECT ?x { ?x never:p 1 }", ""),
        ("SELECT ?x { ?x rdf:p 1 }", "PREFIX rdf: <http://e/rdf#> "),  # as the project has it
        ("SELECT ?x { ?x a xml:Y }", "PREFIX xml: <http://e/xml#> "),
        ("SELECT ?a { ?a :p ?b FILTER(?b>1?1:2) }", "PREFIX : <http://e/ns#> "),
    ],
)
def test_what_is_added(text: str, added: str, tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(
        "@prefix : <http://e/ns#> .\n@prefix two: <urn:1> .\n@prefix rdf: <http://e/rdf#> .\n"
    )
    (tmp_path / "q.rq").write_text("prefix x: <http://e/x#>\nPREFIX two: <urn:2>\nASK { ?x ?p 1 }")
    (tmp_path / "o.owl").write_text('<rdf:RDF xmlns:xml = "http://e/xml#"/>')
    documents = [tmp_path / name for name in ("o.ttl", "q.rq", "o.owl", "gone.ttl")]
    assert complete_prefixes(text, documents) == added + text


def test_a_typed_query_has_those_of_the_project(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path / "p").code == 0
    window = "FILTER(?t > NOW() - 'PT1H'^^xsd:dayTimeDuration)"
    text = f"SELECT ?s {{ GRAPH ?t {{ ?s a :Sensor }} {window} }}"
    ran = run("check", text, "--project", tmp_path / "p")
    assert "is not declared" not in ran.err
    (tmp_path / "typed.rq").write_text(text)  # a file is as it is
    ran = run("check", tmp_path / "typed.rq", "--project", tmp_path / "p")
    assert ran.code == 2
    assert "is not declared" in ran.err
