"""Why nothing can match a query is in its trace: what no mapping makes, which axiom or comparison
excludes all; and nothing is where something can."""

from pathlib import Path

import pytest

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.power]
source = { format = "csv", path = "power.csv" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["park", "no", "ts"]]
columns = { park = "string", no = "int", mw = { type = "int", min = 0, max = 5 } }
[relations.mast]
source = { format = "csv", path = "mast.csv" }
keys = [["mast"]]
columns = { mast = "string", name = "string" }
"""
ONTOLOGY = """
@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Calm owl:disjointWith :Windy . :Ghost a owl:Class .
"""
MAPPINGS = """
@prefix : <http://e/> . @prefix rr: <http://www.w3.org/ns/r2rml#> .
<#Power> rr:logicalTable [ rr:tableName "power" ] ;
    rr:subjectMap [ rr:template "http://e/p/{park}/{no}" ; rr:class :Calm , :Windy ] ;
    rr:predicateObjectMap [ rr:predicate :mw ; rr:objectMap [ rr:column "mw" ] ] ;
    rr:predicateObjectMap [ rr:predicate :in ; rr:objectMap [ rr:template "http://e/p/{park}" ] ] .
<#Mast> rr:logicalTable [ rr:tableName "mast" ] ;
    rr:subjectMap [ rr:template "http://e/m/{mast}" ; rr:class :Mast ] ;
    rr:predicateObjectMap [
        rr:predicate :name ; rr:objectMap [ rr:column "name" ; rr:language "en" ] ] .
"""
MADE = "they make http://e/p/{park}/{no} <http://e/mw> {mw}^^integer"


@pytest.mark.parametrize(
    ("patterns", "why"),
    [
        ('?x :mw "5"', f'no mappings make :mw(_, "5")@?t; {MADE}'),
        (
            "?x :in <http://e/p/%41>",
            (
                "no mappings make :in(_, <http://e/p/%41>)@?t; they make "
                "http://e/p/{park}/{no} <http://e/in> http://e/p/{park}"
            ),
        ),
        (
            "?x :mw ?w ; :in ?y . ?y :name ?n",
            (
                "no mappings make :in(_, ?y)@?t, :name(?y, _)@?t; they make http://e/p/{park}/{no} "
                "<http://e/in> http://e/p/{park} and http://e/m/{mast} <http://e/name> {name}@en"
            ),
        ),
        (
            "?x :mw ?w ; a :Mast",
            (
                f"no mappings make :mw(?x, _)@?t, :Mast(?x)@?t; {MADE} and "
                "http://e/m/{mast} a <http://e/Mast>"
            ),
        ),
        ("?x a :Calm , :Windy", "?x would be in http://e/Calm and http://e/Windy, which are"),
        ("?x :mw ?w FILTER(?w > 7)", "power_1.mw has no value that satisfies all"),
        ("{ ?x :mw 9 } UNION { ?x a :Ghost }", "power_1.mw has no value that satisfies all"),
    ],
)
def test_why_nothing_can_match(patterns: str, why: str, tmp_path: Path) -> None:
    (told,) = _say(patterns, tmp_path)
    assert told.startswith(why)


@pytest.mark.parametrize(
    "patterns",
    ["?x :mw 5", "?x :in <http://e/p/A>", "{ ?x :mw 9 } UNION { ?x :mw 5 }", "?x a ?c ; :mw ?w"],
)
def test_twin_something_can(patterns: str, tmp_path: Path) -> None:
    assert _say(patterns, tmp_path) == []


def _say(patterns: str, folder: Path) -> list[str]:
    query = f"PREFIX : <http://e/> SELECT DISTINCT ?x {{ GRAPH ?t {{ {patterns} }} }}"
    files = {"ontoweir.toml": TOML, "o.ttl": ONTOLOGY, "m.ttl": MAPPINGS, "q.rq": query}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    compiled = Workspace(load_project(folder, environ={})).compile("q")
    marks = ("can meet: ", "dropped: ")
    said = [step.did.partition(mark)[2] for step in compiled.trace for mark in marks]
    return [why for why in said if why] if not compiled.union.disjuncts else []
