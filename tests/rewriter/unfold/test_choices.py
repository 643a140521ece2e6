"""Filters with || and IN whose cases would be many branches stay inside one."""

from pathlib import Path

import pytest

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import AnyFilter
from ontoweir.rewriter.model.spj import OneOf
from ontoweir.rewriter.ucq.find_homomorphism import contains_query
from ontoweir.rewriter.ucq.show_ucq import format_cq, show_ucq

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "5 minutes" }
max_per_timestamp = 10
[streams.s.columns]
id = "int"
v = { type = "int", min = 0, max = 100 }
w = { type = "int", min = 0, max = 100 }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .
<#S> rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://e/r{ts}/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [ rr:template "http://e/{id}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] ;
  rr:predicateObjectMap [ rr:predicate :w ; rr:objectMap [ rr:column "w" ] ] .
"""
ONTOLOGY = """
@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:C rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :by ; owl:someValuesFrom owl:Thing ] .
:by a owl:ObjectProperty . :C a owl:Class .
"""


def compile_query(folder: Path, where: str, select: str) -> tuple[Workspace, CompiledQuery]:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(MAPPING)
    (folder / "o.ttl").write_text(ONTOLOGY)
    (folder / "q.rq").write_text(f"PREFIX : <http://e/>\nSELECT {select}\nWHERE {{ {where} }}\n")
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, workspace.compile("q")


@pytest.mark.parametrize("select", ["DISTINCT ?v0", "?v0"])
def test_ranges_of_seven_stars_are_seven_views(select: str, tmp_path: Path) -> None:
    where = " ".join(
        f"GRAPH ?t{i} {{ ?r{i} :v ?v{i} }} FILTER(?v{i} < {i + 3} || ?v{i} > 50)" for i in range(7)
    )
    workspace, compiled = compile_query(tmp_path, where, select)
    (branch,) = compiled.branches
    assert len(branch.choices) == 7
    (query,) = compiled.union.disjuncts
    assert sorted(o.table for o in query.occurrences) == [f"r{i}_star" for i in range(7)]
    verdict = workspace.check(compiled)
    assert verdict.tier is Tier.CONDITIONALLY_BOUNDED
    assert verdict.bound is not None
    assert verdict.bound.rows == (208 if "DISTINCT" in select else 107)


def test_few_cases_are_branches_apart(tmp_path: Path) -> None:
    where = "GRAPH ?t { ?r :v ?v } FILTER(?v < 3 || ?v > 50)"
    _, compiled = compile_query(tmp_path, where, "?v")
    assert len(compiled.branches) == len(compiled.union.disjuncts) == 2


@pytest.mark.parametrize(
    ("where", "column", "count"),
    [
        ("?r :v ?x FILTER(?x IN (" + ", ".join(map(str, range(40))) + "))", "v", 40),
        ("?r :by ?x FILTER(?x IN (" + ", ".join(f":{i}" for i in range(40)) + "))", "id", 40),
        ("?r :v ?x FILTER(" + " || ".join(f"?x = {i % 20}" for i in range(40)) + ")", "v", 20),
    ],
)
def test_a_list_of_constants_is_a_list(where: str, column: str, count: int, tmp_path: Path) -> None:
    _, compiled = compile_query(tmp_path, f"GRAPH ?t {{ {where} }}", "DISTINCT ?x")
    (query,) = compiled.union.disjuncts
    (listed,) = (c for c in query.conditions if isinstance(c, OneOf))
    assert (listed.attribute.column, len(listed.values)) == (column, count)


def test_cases_over_several_stars_are_disjuncts(tmp_path: Path) -> None:
    """Less than 3 in one place excludes more than 50 there: all are the first, or the second."""
    where = " ".join(f"GRAPH ?t{i} {{ ?r{i} :v ?v{i} }}" for i in range(4))
    where += " ".join(f"FILTER(?v{i} < 3 || ?v{(i + 1) % 4} > 50)" for i in range(4))
    _, compiled = compile_query(tmp_path, where, "DISTINCT ?v0 ?v1 ?v2 ?v3")
    (branch,) = compiled.branches
    assert len(branch.choices) == 4
    assert not compiled.union.views
    assert len(compiled.union.disjuncts) == 2


def test_what_is_compared_is_an_individual_and_no_witness_of_an_axiom(tmp_path: Path) -> None:
    listed = ", ".join(f":{i}" for i in range(20))
    where = f"?x a :C ; :by ?y FILTER(?y IN ({listed}))"
    workspace, _ = compile_query(tmp_path, "GRAPH ?t { ?r :v ?v }", "?v")
    (tmp_path / "q.rq").write_text(f"PREFIX : <http://e/>\nSELECT DISTINCT ?x WHERE {{ {where} }}")
    (branch,) = Workspace(load_project(tmp_path, environ={})).parse("q")
    (rewritten,) = show_ucq(branch, workspace.tbox)
    assert len(rewritten.atoms) == 2
    assert "(?y = <http://e/0> || ?y = <http://e/1> || " in format_cq(rewritten)


def test_a_query_is_contained_in_one_with_the_same_choice(tmp_path: Path) -> None:
    where = "GRAPH ?t { ?r :v ?v ; :w ?w } FILTER(?v IN (" + ", ".join(map(str, range(20))) + "))"
    _, compiled = compile_query(tmp_path, where, "DISTINCT ?w")
    (one,) = compiled.branches
    _, compiled = compile_query(tmp_path, where.replace("?v", "?u"), "DISTINCT ?w")
    (same,) = compiled.branches
    _, compiled = compile_query(tmp_path, where.replace("19", "30"), "DISTINCT ?w")
    (other,) = compiled.branches
    assert isinstance(one.choices[0], AnyFilter)
    assert contains_query(one, same)
    assert not contains_query(one, other)
