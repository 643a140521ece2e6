"""`ontoweir init --from --ontology`: the words of an ontology for tables and columns."""

import io
import json
import re
import tomllib
from pathlib import Path

import pytest
from rdflib import RDF, Graph, Namespace, URIRef

from ontoweir.scaffold.terms.match_names import match_names
from ontoweir.scaffold.terms.name_terms import words_of
from tests.ontoweir.conftest import Run

NS = "http://rooms.example/ns#"
RR = Namespace("http://www.w3.org/ns/r2rml#")
HEAD = f"""\
@prefix : <{NS}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Reading a owl:Class . :Sensor a owl:Class . :Room a owl:Class .
:HotReading a owl:Class ; rdfs:subClassOf :Reading .
:madeBy a owl:ObjectProperty ; rdfs:domain :Reading ; rdfs:range :Sensor .
:standsIn a owl:ObjectProperty ; rdfs:domain :Sensor ; rdfs:range :Room .
"""
VALUES = """\
:temperature a owl:DatatypeProperty ; rdfs:domain :Reading ; rdfs:label "Celsius"@en .
:hasHeight a owl:DatatypeProperty ; rdfs:range xsd:decimal .
"""


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Readings of four sensors in two rooms."""
    rows = [
        f"s{s},2026-01-05T{8 + m // 60:02}:{m % 60:02}:00,{20 + (m + s) % 7}.5,OK"
        for m in range(0, 120, 5)
        for s in range(4)
    ]
    sensors = [f"s{n},room {n % 2},20.{n}" for n in range(4)]
    texts = {
        "readings": ["sensor_id,ts,celsius,state", *rows],
        "sensors": ["sensor_id,room,height", *sensors],
    }
    for name, lines in texts.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return [tmp_path / f"{name}.csv" for name in texts]


def _write(folder: Path, text: str) -> Path:
    (folder / "o.ttl").write_text(text)
    return folder / "o.ttl"


def _predicates(project: Path, table: str) -> dict[str, str]:
    """Of a table's map: by column or template, the predicate."""
    graph = Graph().parse(project / "mapping.r2rml.ttl")
    found = {}
    for part in graph.objects(_map_of(graph, table), RR.predicateObjectMap):
        (target,) = graph.objects(part, RR.objectMap)
        (value,) = [*graph.objects(target, RR.column), *graph.objects(target, RR.template)]
        (predicate,) = graph.objects(part, RR.predicate)
        found[str(value)] = str(predicate)
    return found


def _map_of(graph: Graph, table: str) -> URIRef:
    for one in graph.subjects(RDF.type, RR.TriplesMap):
        (source,) = graph.objects(one, RR.logicalTable)
        if str(graph.value(source, RR.tableName)) == table and isinstance(one, URIRef):
            return one
    raise AssertionError(table)


def test_the_ontology_s_terms_are_used(run: Run, tmp_path: Path, tables: list[Path]) -> None:
    ontology, project = _write(tmp_path, HEAD + VALUES), tmp_path / "p"
    ran = run("init", project, "--from", *tables, "--ontology", ontology, "--yes")
    assert ran.code == 0, ran.err
    assert "6 of 8 terms of o.ttl are used; no table or column for" in ran.out
    declared = tomllib.loads((project / "ontoweir.toml").read_text())
    assert declared["project"]["ontology"] == [str(ontology), "ontology.ttl"]
    readings = _predicates(project, "readings")
    assert readings["celsius"] == f"{NS}temperature"
    assert readings["http://p.example/sensors/{sensor_id}"] == f"{NS}madeBy"
    assert readings["state"] == "http://p.example/ns#state"  # the ontology has no such property
    sensors = _predicates(project, "sensors")
    assert sensors["http://p.example/room/{room}"] == f"{NS}standsIn"
    assert sensors["height"] == f"{NS}hasHeight"
    assert "room" not in sensors
    mapping = (project / "mapping.r2rml.ttl").read_text()
    assert re.search(r'ns:temperature .*# guessed: its label "Celsius" is that of celsius', mapping)
    assert re.search(r"ns:madeBy .*# guessed: it leads from ns:Reading to ns:Sensor", mapping)
    own = Graph().parse(project / "ontology.ttl")
    assert not [s for s in own.subjects() if str(s).startswith(NS)]
    # check, lint, replay
    checked = json.loads(run("check", project, "--format", "json", "--quiet").out)
    assert {q["verdict"] for q in checked} <= {"bounded", "conditionally-bounded"}
    assert len(checked) == 4
    assert run("check", project, "--mappings-only").code == 0
    query = (project / "queries" / "readings-above.rq").read_text()
    assert "?row a ns:Reading ; ns:madeBy ?it ; ns:temperature ?value" in query
    answers = tmp_path / "a.jsonl"
    ran = run("replay", project, "--query", "readings-above", "--output", answers, "-q")
    assert ran.code == 0, ran.err
    plain = tmp_path / "plain"
    assert run("init", plain, "--from", *tables).code == 0
    before = tmp_path / "b.jsonl"
    assert run("replay", plain, "--query", "readings-above", "--output", before, "-q").code == 0
    told = answers.read_text()
    assert told.replace("/p.example", "/plain.example") == before.read_text()
    assert len(told.splitlines()) == 28


def test_what_would_say_more_of_rows_is_left(run: Run, tmp_path: Path, tables: list[Path]) -> None:
    text = f"""{HEAD}
:state a owl:DatatypeProperty ; rdfs:domain :Room .
:height a owl:DatatypeProperty ; rdfs:range xsd:string .
:cels a owl:DatatypeProperty .
"""
    ontology, project = _write(tmp_path, text), tmp_path / "p"
    ran = run("init", project, "--from", *tables, "--ontology", ontology, "--yes")
    assert ran.code == 0, ran.err
    assert _predicates(project, "readings")["state"] == "http://p.example/ns#state"
    assert _predicates(project, "readings")["celsius"] == "http://p.example/ns#celsius"
    assert _predicates(project, "sensors")["height"] == "http://p.example/ns#height"
    mapping = (project / "mapping.r2rml.ttl").read_text()
    for term, why in (
        ("state for readings.state", "all rows of readings would be ns:Room"),
        ("height for sensors.height", "its values are xsd:string"),
        ("cels for readings.celsius", "it may mean something else"),
    ):
        assert re.search(f"# Not taken: ns:{term}: .*, but {why}[.]\n", mapping)


@pytest.mark.parametrize(
    ("more", "doubt"),
    [
        (":state a owl:DatatypeProperty . :hasState a owl:DatatypeProperty .", None),  # one is best
        (
            """:one a owl:DatatypeProperty ; rdfs:label "State" .
            :other a owl:DatatypeProperty ; rdfs:label "state" .""",
            "fit equally well",
        ),
    ],
)
def test_two_that_fit(
    run: Run, tmp_path: Path, tables: list[Path], more: str, doubt: str | None
) -> None:
    ontology, project = _write(tmp_path, HEAD + more), tmp_path / "p"
    assert run("init", project, "--from", *tables, "--ontology", ontology, "--yes").code == 0
    taken = _predicates(project, "readings")["state"]
    assert taken == ("http://p.example/ns#state" if doubt else f"{NS}state")
    assert ("fit equally well" in (project / "mapping.r2rml.ttl").read_text()) == bool(doubt)


def test_one_term_for_two_columns(run: Run, tmp_path: Path) -> None:
    rows = [f"a,2026-01-05T08:{m:02}:00,{m}.5,{m}.25" for m in range(60)]
    (tmp_path / "cars.csv").write_text("\n".join(["car,ts,speed_kmh,speed_mph", *rows]) + "\n")
    ontology = _write(tmp_path, f"{HEAD}:speed a owl:DatatypeProperty .\n")
    made = tmp_path / "p"
    ran = run("init", made, "--from", tmp_path / "cars.csv", "--ontology", ontology, "--yes")
    assert ran.code == 0, ran.err
    found = _predicates(made, "cars")
    assert (found["speed_kmh"], found["speed_mph"]) == (
        "http://p.example/ns#speedKmh",
        "http://p.example/ns#speedMph",
    )
    assert "it fits cars.speed_mph as well" in (made / "mapping.r2rml.ttl").read_text()


def test_one_by_one(
    run: Run, tmp_path: Path, tables: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ontology, project = _write(tmp_path, HEAD + VALUES), tmp_path / "p"
    # readings, sensors: yes; madeBy: no; temperature: what?, yes; the rest
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n\nn\nwhat\nYes\na\n"))
    ran = run("init", project, "--from", *tables, "--ontology", ontology, "--format", "json")
    assert ran.code == 0, ran.err
    assert ran.err.count("?") == 6
    asked = "ns:temperature for readings.celsius"
    assert ran.err.count(asked) == 2
    terms = json.loads(ran.out)["terms"]
    assert {(t["term"].removeprefix(NS), t["taken"]) for t in terms} == {
        ("Reading", True),
        ("Sensor", True),
        ("madeBy", False),
        ("temperature", True),
        ("standsIn", True),
        ("hasHeight", True),
    }
    readings = _predicates(project, "readings")
    assert readings["http://p.example/sensors/{sensor_id}"] == "http://p.example/ns#ofSensor"


def test_the_answers_end(
    run: Run, tmp_path: Path, tables: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    ontology = _write(tmp_path, HEAD)
    ran = run("init", tmp_path / "p", "--from", *tables, "--ontology", ontology)
    assert (ran.code, "the input ended" in ran.err.splitlines()[-1]) == (2, True)
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot read the ontology"),
        ("", "it has neither classes nor properties"),
        ("@prefix : <x> .\n", "it has neither classes nor properties"),
        ("<a> <b>", "broken Turtle"),
    ],
)
def test_wrong_ontologies(
    run: Run, tmp_path: Path, tables: list[Path], text: str | None, said: str
) -> None:
    if text is not None:
        _write(tmp_path, text)
    ontology = tmp_path / "o.ttl"
    ran = run("init", tmp_path / "p", "--from", *tables, "--ontology", ontology, "--yes")
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (tmp_path / "p").exists()


def test_options_that_need_others(run: Run, tmp_path: Path, tables: list[Path]) -> None:
    ontology = _write(tmp_path, HEAD)
    ran = run("init", tmp_path / "p", "--ontology", ontology)
    assert (ran.code, "--ontology without --from" in ran.err) == (2, True)
    ran = run("init", tmp_path / "p", "--from", *tables, "--yes")
    assert (ran.code, "--yes without --ontology" in ran.err) == (2, True)
    assert not (tmp_path / "p").exists()


def test_an_ontology_in_the_project_s_own_namespace(
    run: Run, tmp_path: Path, tables: list[Path]
) -> None:
    """What is not taken of it must not be called as its terms are."""
    ontology = _write(tmp_path, f"{HEAD}:state a owl:DatatypeProperty ; rdfs:domain :Room .\n")
    project = tmp_path / "rooms"
    assert run("init", project, "--from", *tables, "--ontology", ontology, "--yes").code == 0
    assert _predicates(project, "readings")["state"] == "http://rooms-data.example/ns#state"


def test_everything_is_the_ontology_s(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-01-05T08:{m:02}:00,{m}.5" for m in range(60)]
    (tmp_path / "levels.csv").write_text("\n".join(["ts,water_level", *rows]) + "\n")
    text = f"""{HEAD}:Level a owl:Class . :waterLevel a owl:DatatypeProperty .
<http://www.w3.org/ns/sosa/resultTime> a owl:DatatypeProperty .
"""
    ontology, made = _write(tmp_path, text), tmp_path / "p [1]"
    ran = run("init", made, "--from", tmp_path / "levels.csv", "--ontology", ontology, "--yes")
    assert ran.code == 0, ran.err
    declared = tomllib.loads((made / "ontoweir.toml").read_text())
    assert declared["project"]["ontology"] == [str(ontology)]
    assert not (made / "ontology.ttl").exists()
    assert run("check", made).code == 0


@pytest.mark.parametrize(
    ("properties", "taken"),
    [
        (":celsius a owl:DatatypeProperty ; rdfs:domain :Reading .", False),  # one alone
        (
            """:celsius a owl:DatatypeProperty ; rdfs:domain :HotReading .
            :state a owl:DatatypeProperty ; rdfs:domain :Reading .""",
            True,  # what is a hot reading is a reading
        ),
        (
            """:celsius a owl:DatatypeProperty ; rdfs:domain :Reading , :Room .
            :state a owl:DatatypeProperty ; rdfs:domain :Reading , :Room .""",
            False,  # it may be either
        ),
    ],
)
def test_a_class_by_its_properties(
    run: Run, tmp_path: Path, tables: list[Path], properties: str, taken: bool
) -> None:
    table = tables[0].rename(tmp_path / "log_2026.csv")
    ontology, project = _write(tmp_path, HEAD + properties), tmp_path / "p"
    ran = run("init", project, "--from", table, "--ontology", ontology, "--yes")
    assert ran.code == 0, ran.err
    mapping = (project / "mapping.r2rml.ttl").read_text()
    assert ("rr:class ns:Reading" in mapping) == taken
    assert ("# Not taken: ns:Reading for log_2026: its properties" in mapping) == (not taken)
    found = _predicates(project, "log_2026")
    # a hot reading is more than a reading: with :celsius, all rows would be
    assert found["celsius"] == "http://p.example/ns#celsius"
    assert found["state"] == (f"{NS}state" if taken else "http://p.example/ns#state")


def test_an_ontology_that_speaks_of_a_term_of_rdfs(
    run: Run, tmp_path: Path, tables: list[Path]
) -> None:
    """Brick does: the prefix rdfs of the project's own ontology is not lost to the other's."""
    ontology = _write(tmp_path, HEAD + VALUES + "rdfs:label a owl:DatatypeProperty .")
    project = tmp_path / "p"
    assert run("init", project, "--from", *tables, "--ontology", ontology, "--yes").code == 0
    assert "@prefix rdfs:" in (project / "ontology.ttl").read_text()
    ran = run("check", project)
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("iri", "name", "grade"),
    [
        ("http://x/ns#avgSpeed", "AVG_SPEED", 1),
        ("http://x/ns#timestamp", "time_stamp", 1),
        ("http://x/Sensor", "sensors", 1),
        ("urn:x:City", "cities", 1),
        ("http://x/ns#hasSpeed", "speed", 2),
        ("http://x/ns#speed", "speed_kmh", 2),
        ("http://x/ns#averageSpeed", "avg_speed", 2),
        ("http://x/ns#readingSpeed", "speed", 3),
        ("http://x/ns#temperature", "temp", 4),
        ("http://x/ns#speed", "speed_limit", None),
        ("http://x/ns#has", "state", None),
        ("http://x/ns#status", "state", None),
        ("http://x/ns#", "state", None),
        ("http://x/ns#température", "temp_c", None),
    ],
)
def test_how_names_agree(iri: str, name: str, grade: int | None) -> None:
    found = match_names(iri, (), name, ("readings",))
    assert (None if found is None else found.grade) == grade


def test_words() -> None:
    assert words_of("HTTPServer_idOf2") == ("http", "server", "id", "of2")
