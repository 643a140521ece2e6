"""Ontop's .obda: the same assertions and triples as R2RML, and refusals at their line."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.materialize.materialize_triples import materialize_triples
from ontoweir.mappings.model.assertion import MappingAssertion, TemplateMap
from ontoweir.mappings.r2rml.r2rml_document import RDF_TYPE
from ontoweir.project.project import load_project

HERE = Path(__file__).parent
HEAD = """\
[PrefixDeclaration]
: http://ex.org/

[MappingDeclaration] @collection [[
"""
ONE = """\
mappingId one
target :sensor/{REPORT_ID} a :Sensor .
source SELECT * FROM sensor
"""


def bare(assertions: tuple[MappingAssertion, ...]) -> set[MappingAssertion]:
    return {replace(a, id="", place=Source("")) for a in assertions}


def test_same_assertions_as_r2rml(root: Path) -> None:
    project = load_project(root / "examples/traffic", environ={})
    wanted = load_mappings(project.mappings, project.catalog)
    found = load_mappings([HERE / "traffic.obda"], project.catalog)
    assert bare(found.assertions) == bare(wanted.assertions)
    places = {a.id: a.place.line for a in found.assertions}
    assert (places["Reading"], places["MinorRoad"]) == (7, 68)


def load(folder: Path, root: Path, text: str) -> tuple[MappingAssertion, ...]:
    (folder / "m.obda").write_text(text)
    project = load_project(root / "examples/traffic", environ={})
    return load_mappings([folder / "m.obda"], project.catalog).assertions


def test_terms_without_prefix_declarations(root: Path, tmp_path: Path) -> None:
    target = 'target <{POINT_1_CITY}> <http://p> "a {REPORT_ID}"@en, _:b{REPORT_ID}, {ROAD_TYPE} .'
    text = HEAD + ONE.replace("target :sensor/{REPORT_ID} a :Sensor .", target) + "]]\n"
    found = load(tmp_path, root, text.replace(": http://ex.org/\n", ""))
    objects = [a.object for a in found]
    assert {type(a.subject) for a in found} == {TemplateMap}
    kinds = {(o.kind, o.language) for o in objects if isinstance(o, TemplateMap)}
    assert kinds == {("literal", "en"), ("blank", None)}


def test_materialize(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "d.db")
    connection.executescript("CREATE TABLE s (id INT, n TEXT); INSERT INTO s VALUES (1, 'a b')")
    connection.close()
    (tmp_path / "m.obda").write_text(
        HEAD + 'mappingId m\ntarget :s/{n} :p {id} , "x" , "{id}"^^xsd:double , 5 , true ;\n'
        ' a :S ; :q "{id}: {n}"@en .\nsource SELECT id,\n  n FROM s\n]]\n'
    )
    found = materialize_triples(tmp_path / "m.obda", tmp_path / "d.db")
    s, xsd = "<http://ex.org/s/a%20b>", "http://www.w3.org/2001/XMLSchema#"
    assert set(found) == {
        f"{s} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/S> .",
        f'{s} <http://ex.org/p> "1"^^<{xsd}integer> .',
        f'{s} <http://ex.org/p> "1.0E0"^^<{xsd}double> .',
        f'{s} <http://ex.org/p> "5"^^<{xsd}integer> .',
        f'{s} <http://ex.org/p> "true"^^<{xsd}boolean> .',
        f'{s} <http://ex.org/p> "x" .',
        f'{s} <http://ex.org/q> "1: a b"@en .',
    }


def test_graphs(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "d.db")
    connection.executescript("CREATE TABLE s (id INT); INSERT INTO s VALUES (1)")
    connection.close()
    (tmp_path / "m.obda").write_text(
        HEAD + "mappingId m\ntarget GRAPH :g/{id} { :s/{id} a :S ; :p 5 . :t/{id} :p 6 } .\n"
        " :s/{id} :p 7 . GRAPH <http://ex.org/h> { :a :b :c }\nsource SELECT id FROM s\n]]\n"
    )
    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    s, p = "<http://ex.org/s/1>", "<http://ex.org/p>"
    assert set(materialize_triples(tmp_path / "m.obda", tmp_path / "d.db")) == {
        f"{s} <{RDF_TYPE}> <http://ex.org/S> <http://ex.org/g/1> .",
        f'{s} {p} "5"{integer} <http://ex.org/g/1> .',
        f'<http://ex.org/t/1> {p} "6"{integer} <http://ex.org/g/1> .',
        f'{s} {p} "7"{integer} .',
        "<http://ex.org/a> <http://ex.org/b> <http://ex.org/c> <http://ex.org/h> .",
    }


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("{REPORT_ID}", "{REPORT}", 6, "unknown column 'REPORT'"),
        ("SELECT * FROM sensor", "SELECT *\n  FROM senser", 8, "unknown table 'senser'"),
        (":Sensor", "ex:Sensor", 6, "unknown prefix ex:"),
        ("a :Sensor", "a :Sensor ;\n  :p [ :q 1 ]", 7, "blank node property list"),
        ("a :Sensor", "a\n\n :Sensor :p", 8, "':p' in a target"),
        (":sensor/{REPORT_ID} a :Sensor", "GRAPH :g { :a a :b", 6, "end of the target"),
        (":sensor/{REPORT_ID} a :Sensor", "GRAPH _:g { :a a :b }", 6, "unknown prefix _:"),
        (":sensor/{REPORT_ID} a :Sensor", "GRAPH :g :a a :b", 6, "'{' after GRAPH"),
        ("a :Sensor", ':p "x"^^<http://x/{>', 6, "in a target"),
        (":sensor/{REPORT_ID}", ":sensor/{REPORT_ID", 6, "in a target"),
        (":Sensor", ":C{REPORT_ID}", 5, "class made from data"),
        ("a :Sensor", ":p{REPORT_ID} 1", 6, "predicate made from data"),
        ("source", "sauce", 5, "without source"),
        ("mappingId one", "mappingId", 5, "without mappingId"),
        ("mappingId one", "", 6, "target before mappingId"),
        ("@collection [[", "", 4, "after [MappingDeclaration]"),
        ("]]", "", 8, "not closed"),
        (": http", "http", 2, "declares no prefix"),
        (": http", ": {http", 2, "is not an IRI"),
        (HEAD, "x\n" + HEAD, 1, "outside of all sections"),
        ("]]", ONE + "]]", 8, "occurs twice"),
        (ONE, "", 1, "no mapping"),
    ],
)
def test_wrong_files_are_refused_at_their_line(
    old: str, new: str, line: int, message: str, root: Path, tmp_path: Path
) -> None:
    text = HEAD + ONE + "]]\n"
    assert old in text
    with pytest.raises(MappingError) as caught:
        load(tmp_path, root, text.replace(old, new, 1))
    assert message in str(caught.value)
    assert caught.value.source is not None
    assert (Path(caught.value.source.file).name, caught.value.source.line) == ("m.obda", line)


def test_a_section_that_there_is_not(root: Path, tmp_path: Path) -> None:
    text = HEAD.replace("[MappingDeclaration]", "[MapingDeclaration]") + ONE + "]]\n"
    with pytest.raises(MappingError) as caught:
        load(tmp_path, root, text)
    assert str(caught.value).startswith(f"{tmp_path / 'm.obda'}:4: unknown section [MapingDec")
    assert "'MappingDeclaration'" in caught.value.fix
