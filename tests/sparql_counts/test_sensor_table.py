"""The real table of sensors: a road has many of them, and its triples are one each."""

import csv
from pathlib import Path

import pytest

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.ask_rdflib import ask_rdflib, translate_query
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.replay_case import prepare_job, replay_case

CATALOG = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.visit]
source = { format = "csv", path = "visit.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "5 minutes" }
max_per_timestamp = 100
keys = [["id", "ts"]]
columns = { id = "int", street = "string" }
[relations.sensor]
source = { format = "csv", path = "sensor.csv", options = { header = "true" } }
keys = [["REPORT_ID"]]
max_rows = 449
columns = { REPORT_ID = "int", POINT_1_STREET = "string", POINT_1_CITY = "string" }
"""
ONTOLOGY = """
@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:on a owl:ObjectProperty . :city a owl:DatatypeProperty .
"""
MAPPING = """
@prefix : <http://e/> . @prefix rr: <http://www.w3.org/ns/r2rml#> .
<#Visit> rr:logicalTable [ rr:tableName "visit" ] ;
  rr:subjectMap [ rr:template "http://e/visit/{id}" ] ;
  rr:predicateObjectMap [
    rr:predicate :on ; rr:objectMap [ rr:template "http://e/road/{street}" ] ] .
<#Road> rr:logicalTable [ rr:tableName "sensor" ] ;
  rr:subjectMap [ rr:template "http://e/road/{POINT_1_STREET}" ] ;
  rr:predicateObjectMap [ rr:predicate :city ; rr:objectMap [ rr:column "POINT_1_CITY" ] ] .
"""
QUERY = """PREFIX : <http://e/>
SELECT ?visit ?city WHERE { GRAPH ?t { ?visit :on ?road } ?road :city ?city }
"""


@pytest.mark.shared
def test_a_road_is_in_a_city_once(shared: Path, tmp_path: Path) -> None:
    source = shared / "data" / "citybench" / "traffic_sensor_static.csv"
    with source.open(newline="", encoding="utf-8") as file:
        sensors = [
            (row["REPORT_ID"], row["POINT_1_STREET"], row["POINT_1_CITY"])
            for row in csv.DictReader(file)
        ]
    streets = sorted({street for _, street, _ in sensors if street})
    _write(tmp_path / "sensor.csv", ("REPORT_ID", "POINT_1_STREET", "POINT_1_CITY"), sensors)
    visits = [("2020-01-01 00:00:00", str(i), street) for i, street in enumerate(streets)]
    _write(tmp_path / "visit.csv", ("ts", "id", "street"), visits)
    files = {"ontoweir.toml": CATALOG, "o.ttl": ONTOLOGY, "m.ttl": MAPPING, "q.rq": QUERY}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = workspace.compile("q")
    job = prepare_job(workspace, compiled)
    (found,) = replay_case(workspace, compiled, job, ["visit", "city"]).values()
    ((_, wanted),) = ask_rdflib(translate_query(QUERY), Project(tmp_path).read_graphs())
    assert found == wanted
    assert len(sensors) == 449
    assert found.total() == len({(s, c) for _, s, c in sensors if s and c}) == 70


def _write(file: Path, head: tuple[str, ...], rows: list[tuple[str, str, str]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows([head, *rows])
