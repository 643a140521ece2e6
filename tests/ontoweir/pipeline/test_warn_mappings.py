"""What mappings may say by mistake is warned of; its twin is not."""

from difflib import get_close_matches
from pathlib import Path
from random import Random

import pytest

from ontoweir.pipeline import warn_mappings as warnings
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


def test_templates_are_compared_as_by_their_definition() -> None:
    """Two are almost the same if they differ in one step, which is spelled almost the same."""

    def are_close(one: str, other: str) -> bool:
        pairs = [(a, b) for a, b in zip(one.split("/"), other.split("/"), strict=False) if a != b]
        return (
            one.count("/") == other.count("/")
            and len(pairs) == 1
            and bool(get_close_matches(pairs[0][0], [pairs[0][1]], cutoff=0.8))
        )

    draw = Random(7)
    words = ("room", "rooms", "road", "roomss", "sensor", "sensors", "senser", "{}", "{}a")
    for _ in range(200):
        templates = [
            "http://x/" + "/".join(draw.choice(words) for _ in range(draw.randint(1, 3)))
            for _ in range(draw.randint(1, 12))
        ]
        subjects, wanted = frozenset(templates[1:]), templates[0]
        expected = sorted(s for s in subjects if are_close(wanted, s))
        found = warnings._Almost(subjects).find(wanted)
        assert list(found) == ([] if wanted in subjects else expected)
