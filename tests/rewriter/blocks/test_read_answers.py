"""SELECTs with groups within a SPARQL query: what is a stream, what follows for it, and what is
refused."""

from pathlib import Path

import pytest

from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import Attribute, Compare, SpjUnion

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.s]
source = { format = "csv", path = "s.csv" }
timestamp = { column = "ts", unit = "5 minutes" }
max_per_timestamp = 4
columns = { k = { type = "int", min = 0, max = 3 }, a = "int", p = "string" }
[relations.r]
source = { format = "csv", path = "r.csv" }
keys = [["k"]]
columns = { k = "int", z = "string" }
"""
MAPPING = """
@prefix : <http://e/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
<#S> rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://e/k/{k}" ; rr:class :K ] ;
  rr:predicateObjectMap [ rr:predicate :a ; rr:objectMap [ rr:column "a" ] ] ;
  rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:template "http://e/{k}-{p}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :two ; rr:objectMap [ rr:template "http://e/{p}{p}" ] ] .
<#R> rr:logicalTable [ rr:tableName "r" ] ;
  rr:subjectMap [ rr:template "http://e/k/{k}" ] ;
  rr:predicateObjectMap [ rr:predicate :z ; rr:objectMap [ rr:column "z" ] ] .
"""
NAMES = """PREFIX : <http://e/>
PREFIX ow: <urn:ontoweir:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
DAY = '"P1D"^^xsd:dayTimeDuration'
HOURLY = """{ SELECT ?x ?hour (COUNT(*) AS ?n) WHERE { GRAPH ?t { ?x :a ?v } }
  GROUP BY ?x (ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?hour) }"""


def compile_query(text: str, folder: Path) -> tuple[SpjUnion, Verdict]:
    for name, content in (
        ("ontoweir.toml", TOML),
        ("o.ttl", ""),
        ("m.ttl", MAPPING),
        ("q.rq", NAMES + text),
    ):
        (folder / name).write_text(content, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    compiled = workspace.compile("q")
    return compiled.union, workspace.check(compiled)


def test_groups_of_groups(tmp_path: Path) -> None:
    """The stream has the columns of the terms, which are its key; a bucket is a time of it."""
    day = f"(ow:tumble(?hour, {DAY}) AS ?day)"
    text = f"SELECT ?x ?day (MAX(?n) AS ?m) {{ {HOURLY} }} GROUP BY ?x {day}"
    union, verdict = compile_query(text, tmp_path)
    (block,) = union.blocks
    assert [c.name for c in block.stream.columns] == ["x_1", "n"]
    assert block.stream.keys == (("x_1", "at"),)
    assert block.stream.max_per_timestamp == 5  # four values; none is NULL, which is not known
    assert block.time == ("hour", 3_600_000_000)
    assert verdict.tier is Tier.WINDOW_BOUNDED
    assert verdict.bound is not None
    assert verdict.bound.rows == 2 * 4 + 2 * 4 + 5


def test_rows_are_joined_with_patterns(tmp_path: Path) -> None:
    text = f"""SELECT ?x ?z ?n ?hour {{ {HOURLY} ?x :z ?z GRAPH ?u {{ ?x a :K }}
        FILTER(?u >= ?hour && ?u - ?hour <= "PT2H"^^xsd:dayTimeDuration && ?n > 3) }}"""
    union, verdict = compile_query(text, tmp_path)
    assert {o.table for q in union.disjuncts for o in q.occurrences} == {"q_1", "r", "K_members"}
    assert union.variables == ("x", "z", "n", "hour")
    assert verdict.plans is not None


def test_one_time_of_two_subqueries(tmp_path: Path) -> None:
    other = HOURLY.replace("?n)", "?m)").replace(":a ?v", ":p ?w")
    union, verdict = compile_query(f"SELECT ?x ?hour ?n ?m {{ {HOURLY} {other} }}", tmp_path)
    assert len(union.blocks) == 2
    assert verdict.tier is Tier.WINDOW_BOUNDED
    (query,) = union.disjuncts
    times = {Attribute(o.alias, "at") for o in query.occurrences}
    assert any({c.left, c.right} == times for c in query.conditions if isinstance(c, Compare))


def test_a_subquery_of_a_subquery(tmp_path: Path) -> None:
    daily = f"""{{ SELECT ?x ?day (SUM(?n) AS ?s) {{ {HOURLY} }}
        GROUP BY ?x (ow:tumble(?hour, {DAY}) AS ?day) }}"""
    union, verdict = compile_query(f"SELECT ?x ?day ?s {{ {daily} FILTER(?s > 5) }}", tmp_path)
    assert [b.stream.name for b in union.blocks] == ["q_1"]
    assert [b.stream.name for b in union.blocks[0].union.blocks] == ["q_1_1"]
    assert verdict.plans is not None


def test_buckets_of_calendars_are_values(tmp_path: Path) -> None:
    monthly = HOURLY.replace('"PT1H"^^xsd:dayTimeDuration', '"P1M"^^xsd:yearMonthDuration')
    union, verdict = compile_query(f"SELECT ?x ?hour ?n {{ {monthly} }}", tmp_path)
    assert "hour" in [c.name for c in union.blocks[0].stream.columns]
    assert verdict.plans is not None


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        (
            "SELECT ?n {{ SELECT (COUNT(*) AS ?n) { GRAPH ?t { ?x a :K } } } GRAPH ?u { ?y a :K }}",
            "whose groups are not final",
            "ow:tumble",
        ),
        (f"SELECT ?x ?n {{ GRAPH ?t {{ {HOURLY} }} }}", "inside GRAPH", "outside GRAPH"),
        (f"SELECT ?n {{ {HOURLY.replace('?n)', '?at)')} ?x :z ?n }}", "called at", "otherwise"),
        (
            f"SELECT ?x {{ {HOURLY.replace('COUNT(*)', 'xsd:integer(xsd:string(COUNT(*)))')} }}",
            "may have no value",
            "COALESCE",
        ),
    ],
)
def test_refused(text: str, message: str, fix: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        compile_query(text, tmp_path)
    assert fix in caught.value.fix
