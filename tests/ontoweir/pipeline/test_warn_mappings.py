"""What mappings may say by mistake is warned of; its twin is not."""

from pathlib import Path

import pytest

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
[relations.t]
source = { format = "csv", path = "t" }
columns = { id = "int", kind = { type = "string", enum = ["7", "b"] }, name = "string" }
"""
ONTOLOGY = """
@prefix : <http://x.example/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Room a owl:Class . :from a owl:DatatypeProperty . :status a owl:DatatypeProperty .
"""
MAPPING = """@prefix : <http://x.example/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<T> rr:logicalTable [ rr:tableName "t" ] ;
  rr:subjectMap [ rr:template "http://x.example/room/{id}" ; rr:class :Room ] ;
  rr:predicateObjectMap [ rr:predicate PREDICATE ; rr:objectMap [ OBJECT ] ] .
"""


@pytest.mark.parametrize(
    ("predicate", "value", "warning"),
    [
        (":statuss", 'rr:column "name"', "m.ttl:6: <T>: the ontology has no property"),
        (":floor", 'rr:column "name"', None),  # like :from, but not enough
        ("<http://y.example/statuss>", 'rr:column "name"', None),
        (":status", 'rr:column "name" ; rr:datatype xsd:dateTim', "#dateTime?"),
        (":status", 'rr:column "name" ; rr:datatype <http://y.example/dateTim>', None),
        (":status", 'rr:column "kind" ; rr:datatype xsd:integer', None),  # "7" is one
        (":status", 'rr:column "name" ; rr:datatype xsd:integer', None),
        (":status", 'rr:template "http://x.example/rooms/{id}"', "others make http://x.example/ro"),
        (":status", 'rr:template "http://x.example/room/{id}"', None),
        (":status", 'rr:template "http://x.example/road/{id}"', None),
        (":status", 'rr:template "http://x.example/room/{id}/a"', None),
        (":status", 'rr:template "http://x.example/a^b/{id}"', "'^' is not allowed in one"),
        (":status", 'rr:template "a ^ b {id}" ; rr:termType rr:Literal', None),
    ],
)
def test_warnings(predicate: str, value: str, warning: str | None, tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    text = MAPPING.replace("PREDICATE", predicate).replace("OBJECT", value)
    (tmp_path / "m.ttl").write_text(text)
    told: list[str] = []
    assert Workspace(load_project(tmp_path), on_warning=told.append).mappings.assertions
    if warning is None:
        assert told == []
    else:
        (message,) = told
        assert warning in message
        assert message.startswith(f"{tmp_path / 'm.ttl'}:6: ")
