"""`check --mappings-only`: what fires, and twins that do not."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run

PROJECT = """\
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]

[streams.reading]
source = { format = "parquet", path = "reading" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 10
[streams.reading.columns]
id = "int"
sensor = "int"
room = { type = "string", enum = ["hall", "yard"] }
heat = "int"
note = "string"

[relations.register]
source = { format = "csv", path = "register" }
keys = [["sensor"]]
columns = { sensor = "int", floor = "int" }
"""

ONTOLOGY = """\
@prefix : <http://x.example/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Reading a owl:Class ; rdfs:subClassOf :Event .
:by a owl:ObjectProperty ; rdfs:subPropertyOf :from ; rdfs:range :Sensor .
:Sensor a owl:Class .
"""

MAPPINGS = """\
@prefix : <http://x.example/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@base <http://x.example/m/> .
<Reading> a rr:TriplesMap ;
  rr:logicalTable [ rr:tableName "reading" ] ;
  rr:subjectMap [ rr:template "http://x.example/reading/{id}" ; rr:class :Reading ] ;
  rr:predicateObjectMap
    [ rr:predicate :by ; rr:objectMap [ rr:template "http://x.example/sensor/{sensor}" ] ] ,
    [ rr:predicate :heat ; rr:objectMap [ rr:column "heat" ] ] ,
    [ rr:predicate :note ; rr:objectMap [ rr:column "note" ] ] ROOM .
<Register> a rr:TriplesMap ;
  rr:logicalTable [ rr:tableName "register" ] ;
  rr:subjectMap [ rr:template "http://x.example/sensor/{sensor}" ; rr:class :Sensor ] ;
  rr:predicateObjectMap [ rr:predicate :floor ; rr:objectMap [ rr:column "floor" ] ] .
"""
ROOM = ', [ rr:predicate :in ; rr:objectMap [ rr:template "http://x.example/room/{room}" ] ]'
REFERENCE = (
    'streams.reading.references=[{ columns=["sensor"], relation="register", to=["sensor"] }]'
)
UNBOUNDED = {"latest": "bounded", "remembered": "unbounded", "joined by subject": "unbounded"}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    (tmp_path / "m.ttl").write_text(MAPPINGS.replace("ROOM", ""))
    return tmp_path


def lint(run: Run, *arguments: object) -> dict[tuple[str, str], dict[str, Any]]:
    """What is found of each (mapping, predicate), local names."""
    ran = run("check", *arguments, "--mappings-only", "--format", "json")
    assert ran.code == 0, ran.err
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in json.loads(ran.out):
        assert one.keys() == {"mapping", "source", "stream", "predicates"}
        assert one["source"].keys() == {"file", "line"}
        for predicate in one["predicates"]:
            name = predicate["iri"].removeprefix("http://x.example/")
            found.setdefault((one["mapping"], name), predicate)
    return found


def test_what_is_unbounded_and_what_to_declare(run: Run, made: Path) -> None:
    found = lint(run, made)
    reading = found["<Reading>", "Reading"]
    assert (reading["kind"], reading["probes"]) == ("class", UNBOUNDED)
    (column,) = reading["unbounded"]
    assert (column["table"], column["column"]) == ("reading", "id")
    assert Path(column["source"]["file"]).name == "ontoweir.toml"
    assert column["source"]["line"] == 10
    assert reading["declare"] == ['id = { type = "int", min = 0, max = 999 }']
    heat = found["<Reading>", "heat"]
    assert heat["probes"] == {**UNBOUNDED, "joined by object": "unbounded", "compared": "unbounded"}
    assert [c["column"] for c in heat["unbounded"]] == ["id", "heat"]


def test_it_is_closed_under_the_hierarchy(run: Run, made: Path) -> None:
    found = lint(run, made)
    assert found["<Reading>", "Event"]["probes"] == UNBOUNDED
    assert found["<Reading>", "from"]["probes"] == found["<Reading>", "by"]["probes"]
    assert found["<Reading>", "Sensor"]["subject"] == "http://x.example/sensor/{}"


def test_a_reference_bounds(run: Run, made: Path) -> None:
    """With it and without it."""
    before, after = lint(run, made), lint(run, made, "--set", REFERENCE)
    assert before["<Reading>", "by"]["probes"]["joined by object"] == "unbounded"
    assert any("references" in line for line in before["<Reading>", "by"]["declare"])
    assert after["<Reading>", "by"]["probes"]["joined by object"] == "conditionally-bounded"
    assert after["<Reading>", "by"]["probes"]["remembered"] == "unbounded"  # the reading itself
    assert not any("references" in line for line in after["<Reading>", "by"]["declare"])


def test_a_range_bounds_comparisons(run: Run, made: Path) -> None:
    limits = "streams.reading.columns.heat={ type='int', min=-50, max=60 }"
    heat = lint(run, made, "--set", limits)["<Reading>", "heat"]
    assert heat["probes"]["compared"] == "conditionally-bounded"
    assert [c["column"] for c in heat["unbounded"]] == ["id"]


def test_only_numbers_and_days_are_compared(run: Run, made: Path) -> None:
    assert "compared" not in lint(run, made)["<Reading>", "note"]["probes"]


def test_static_data_is_bounded(run: Run, made: Path) -> None:
    found = lint(run, made)["<Register>", "floor"]
    assert set(found["probes"].values()) == {"bounded"}
    assert found["unbounded"] == found["declare"] == []


def test_of_all_mappings_of_a_class_the_worst_counts(run: Run, made: Path) -> None:
    sensor = lint(run, made)["<Register>", "Sensor"]
    assert sensor["probes"]["remembered"] == "bounded"
    assert sensor["overall"]["remembered"] == "unbounded"


def test_what_sql_makes_distinct_is_probed_too(run: Run, made: Path) -> None:
    text = (made / "m.ttl").read_text()
    view = 'rr:sqlQuery "SELECT DISTINCT id, sensor, heat, note FROM reading"'
    (made / "m.ttl").write_text(text.replace('rr:tableName "reading"', view))
    reading = lint(run, made)["<Reading>", "Reading"]
    assert (reading["probes"], reading["refused"]) == (UNBOUNDED, {})


def test_results_with_their_time_are_asked_for(run: Run, made: Path) -> None:
    """A time is a value without an end, of which nothing is to declare."""
    text = (made / "m.ttl").read_text().replace("reading/{id}", "reading/{id}/{ts}")
    (made / "m.ttl").write_text(text)
    reading = lint(run, made)["<Reading>", "Reading"]
    assert reading["probes"]["latest"] == "bounded"
    assert reading["refused"] == {}
    assert "time of the row" not in {c["column"] for c in reading["unbounded"]}


def test_what_cannot_be_asked_is_told(run: Run, made: Path) -> None:
    """Results made from a double are refused, in whatever query."""
    text = (made / "m.ttl").read_text().replace("reading/{id}", "reading/{id}/{weight}")
    (made / "m.ttl").write_text(text)
    toml = (made / "ontoweir.toml").read_text()
    (made / "ontoweir.toml").write_text(
        toml.replace('id = "int"', 'id = "int"\nweight = "double"', 1)
    )
    reading = lint(run, made)["<Reading>", "Reading"]
    assert reading["probes"]["latest"] == "refused"
    assert "double" in reading["refused"]["latest"]
    ran = run("check", made, "--mappings-only")
    assert "refused, latest: ?s is a text made from" in ran.out


def test_exit_codes_tell_whether_anything_can_be_asked_over_time(run: Run, made: Path) -> None:
    """Readings have names without end; with a room they can still be related by it. Sensors have
    no reference, but the register names them."""

    def code(tier: str) -> int:
        return run("check", made, "--mappings-only", "--fail-on", tier).code

    assert code("unbounded") == 1
    (made / "m.ttl").write_text(MAPPINGS.replace("ROOM", ROOM))
    assert code("unbounded") == 0
    assert code("conditionally-bounded") == 1


def test_sarif(run: Run, made: Path) -> None:
    ran = run("check", made, "--mappings-only", "--format", "sarif")
    (result,) = json.loads(ran.out)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("OW232", "warning")
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("m.ttl", 4)
    assert "reading.id, reading.heat, reading.note" in result["message"]["text"].replace(
        "reading.sensor, ", ""
    )


def test_sarif_of_the_example_is_notes(run: Run, example: Path) -> None:
    ran = run("check", example, "--mappings-only", "--format", "sarif")
    levels = [r["level"] for r in json.loads(ran.out)["runs"][0]["results"]]
    assert levels == ["note"] * 8


def test_text_fits_into_100_columns(run: Run, example: Path) -> None:
    ran = run("check", example, "--mappings-only")
    table = ran.out[: ran.out.index("Unbounded columns")]
    assert max(map(len, table.splitlines())) <= 100
    assert "\x1b" not in ran.out


@pytest.mark.parametrize(
    "option", [("--query", "x"), ("--sql", "x"), ("--format", "html"), ("--model", "arrival")]
)
def test_what_does_not_go_together(option: tuple[str, str], run: Run, example: Path) -> None:
    ran = run("check", example, "--mappings-only", *option)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"--mappings-only does not go with {option[0]}")
