"""`ontoweir init --from --mapping`: a mapping that the user has, over tables of data."""

import json
import tomllib
from pathlib import Path

import duckdb
import pytest

import ontoweir as ow
from tests.ontoweir.conftest import Run

NS = "http://plant.example/ns#"
OBDA = """\
[PrefixDeclaration]
p:\thttp://plant.example/ns#
d:\thttp://plant.example/data/
xsd:\thttp://www.w3.org/2001/XMLSchema#

[MappingDeclaration] @collection [[
mappingId\treadings
target\t\td:reading/{device}/{ts} a p:Reading ; p:of d:device/{device} ; p:celsius {temp} .
source\t\tSELECT device, ts, temp FROM readings
"""
R2RML = f"""\
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix p: <{NS}> .
@base <http://plant.example/mapping/> .
<Reading> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "readings" ] ;
    rr:subjectMap [ rr:template "http://plant.example/data/reading/{{device}}/{{ts}}" ;
        rr:class p:Reading ] ;
    rr:predicateObjectMap [ rr:predicate p:celsius ; rr:objectMap [ rr:column "temp" ] ] ,
        [ rr:predicate p:of ; rr:objectMap [ rr:parentTriplesMap <Device> ;
            rr:joinCondition [ rr:child "device" ; rr:parent "id" ] ] ] .
<Device> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "devices" ] ;
    rr:subjectMap [ rr:template "http://plant.example/data/device/{{id}}" ; rr:class p:Device ] .
"""
ONTOLOGY = f"""\
@prefix p: <{NS}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
p:Reading a owl:Class . p:Device a owl:Class .
p:of a owl:ObjectProperty ; rdfs:domain p:Reading ; rdfs:range p:Device .
p:celsius a owl:DatatypeProperty .
"""


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Readings of five devices, whose column is not called as numbers of things are."""
    rows = [
        f"{d},2026-03-01T{m // 60:02}:{m % 60:02}:00,{20 + (m * 7 + d) % 9}.5"
        for m in range(0, 24 * 60, 10)
        for d in range(1, 6)
    ]
    texts = {
        "readings": ["device,ts,temp", *rows],
        "devices": ["id,room", *(f"{d},room {d % 2}" for d in range(1, 6))],
    }
    for name, lines in texts.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return [tmp_path / f"{name}.csv" for name in texts]


def _write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("name", "text"), [("m.obda", OBDA + "]]\n"), ("m.ttl", R2RML)], ids=["obda", "r2rml"]
)
def test_the_queries_are_in_the_mapping_s_words(
    run: Run, tmp_path: Path, tables: list[Path], name: str, text: str
) -> None:
    mapping, project = _write(tmp_path, name, text), tmp_path / "p"
    ontology = _write(tmp_path, "o.ttl", ONTOLOGY)
    ran = run("init", project, "--from", *tables, "--mapping", mapping, "--ontology", ontology)
    assert ran.code == 0, ran.err
    made = tomllib.loads((project / "ontoweir.toml").read_text())["project"]
    assert made["mappings"] == [str(mapping)]
    assert made["ontology"] == [str(ontology)]
    assert not [*project.glob("*.ttl")]
    assert str(mapping) in (project / "README.md").read_text()
    assert "left out" not in ran.out
    texts = {f.stem: f.read_text() for f in (project / "queries").glob("*.rq")}
    assert {"readings-above", "readings-latest"} <= texts.keys()
    for query in texts.values():
        assert f"PREFIX p: <{NS}>" in query
        assert "a p:Reading ; p:of ?it ; p:celsius ?value" in query
    checked = run("check", project)
    assert checked.code == 0, checked.err


def test_the_answers_are_those_of_the_tables(run: Run, tmp_path: Path, tables: list[Path]) -> None:
    mapping, project = _write(tmp_path, "m.ttl", R2RML), tmp_path / "p"
    assert run("init", project, "--from", *tables, "--mapping", mapping).code == 0
    got = ow.open(project).replay("readings-by-hour", engine="driver").to_arrow().to_pylist()
    found = {(r["it"].rpartition("/")[2], r["hour"].hour): (r["rows"], r["average"]) for r in got}
    wanted = (
        duckdb.connect()
        .execute(f"SELECT device, hour(ts), count(*), avg(temp) FROM '{tables[0]}' GROUP BY ALL")
        .fetchall()
    )
    assert len(found) >= len(wanted) - 5  # the last hour is not over yet
    expected = {(str(d), h): (n, pytest.approx(mean)) for d, h, n, mean in wanted}
    assert found == {key: expected[key] for key in found}


def test_what_does_not_fit_is_named_by_its_place(
    run: Run, tmp_path: Path, tables: list[Path]
) -> None:
    more = """
mappingId\tcounts
target\t\td:device/{device} p:n {n} .
source\t\tSELECT device, count(*) AS n FROM readings GROUP BY device

mappingId\towners
target\t\td:device/{id} p:owner {name} .
source\t\tSELECT id, name FROM owners

mappingId\tschema
target\t\td:device/{id} a p:Device .
source\t\tSELECT id FROM plant."DEVICES"
]]
"""
    mapping, project = _write(tmp_path, "m.obda", OBDA + more), tmp_path / "p"
    ran = run("init", project, "--from", *tables, "--mapping", mapping)
    assert ran.code == 0, ran.err
    for line, said in (
        (13, "GROUP BY is outside the SQL read here"),
        (17, "there is no table 'owners' in the data"),
        (21, "write 'devices': tables have no schema here"),
    ):
        assert any(f"{mapping}:{line}: " in one and said in one for one in ran.out.splitlines())
    assert "check ends with 2 until they fit" in ran.out
    checked = run("check", project)
    assert checked.code == 2
    assert "readings-latest" in checked.out


def test_refused_triples_maps_are_in_json(run: Run, tmp_path: Path, tables: list[Path]) -> None:
    more = "\nmappingId\to\ntarget\t\td:o/{id} a p:O .\nsource\t\tSELECT id FROM owners\n]]\n"
    mapping = _write(tmp_path, "m.obda", OBDA + more)
    ran = run("init", tmp_path / "p", "--from", *tables, "--mapping", mapping, "--format", "json")
    (refused,) = json.loads(ran.out)["refused"]
    assert f"{mapping}:13: o: there is no table 'owners'" in refused


def test_where_none_fits_there_is_no_project(run: Run, tmp_path: Path, tables: list[Path]) -> None:
    mapping = _write(tmp_path, "m.ttl", R2RML.replace('"readings"', '"messwerte"'))
    ran = run("init", tmp_path / "p", "--from", tables[0], "--mapping", mapping)
    assert ran.code == 2
    assert f"{mapping}:5: no triples map fits the data" in ran.err
    assert "'messwerte'" in ran.err
    assert "messwerte.csv" in ran.err
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nowhere.ttl", "there is no file nowhere.ttl"),
        ("https://plant.example/m.ttl", "is a URL"),
        ("o.ttl", "the document has no triples map"),
        ("readings.csv", "not Turtle"),
    ],
)
def test_what_is_no_mapping_is_refused(
    run: Run,
    tmp_path: Path,
    tables: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    given: str,
    said: str,
) -> None:
    _write(tmp_path, "o.ttl", ONTOLOGY)
    monkeypatch.chdir(tmp_path)
    ran = run("init", "p", "--from", tables[0], "--mapping", given)
    assert ran.code == 2
    assert said in ran.err
    assert not Path("p").exists()


def test_without_data_it_is_refused(run: Run, tmp_path: Path) -> None:
    ran = run("init", tmp_path / "p", "--mapping", "m.ttl")
    assert ran.code == 2
    assert "--mapping without --from" in ran.err


def test_columns_that_it_makes_iris_of_name_things(
    run: Run, tmp_path: Path, tables: list[Path]
) -> None:
    """`device` does not end in `id`: only the mapping says that it is no measured number."""
    mapping = _write(tmp_path, "m.obda", OBDA + "]]\n")
    assert run("init", tmp_path / "with", "--from", tables[0], "--mapping", mapping).code == 0
    assert run("init", tmp_path / "without", "--from", tables[0]).code == 0
    columns = {
        name: tomllib.loads((tmp_path / name / "ontoweir.toml").read_text())["streams"]["readings"]
        for name in ("with", "without")
    }
    assert columns["with"]["columns"]["device"] == {"type": "int", "min": 1, "max": 5}
    assert columns["without"]["columns"]["device"] == "int"


def test_rows_without_a_class_are_asked_in_sql_alone(
    run: Run, tmp_path: Path, tables: list[Path]
) -> None:
    mapping, project = (
        _write(tmp_path, "m.obda", OBDA.replace("a p:Reading ; ", "") + "]]\n"),
        tmp_path / "p",
    )
    assert run("init", project, "--from", tables[0], "--mapping", mapping).code == 0
    assert not [*(project / "queries").glob("*.rq")]
    assert [*(project / "queries").glob("*.sql")]
    assert run("check", project).code == 0


SUBJECT = "d:reading/{device}/{ts}"
HEAD = OBDA[: OBDA.index("mappingId")]
APART = f"""\
mappingId\tone
target\t\t{SUBJECT} a p:Reading .
source\t\tSELECT r.device, r.ts FROM readings r

mappingId\ttwo
target\t\t{SUBJECT} p:of d:device/{{device}} .
source\t\tSELECT device, ts FROM readings

mappingId\tthree
target\t\t{SUBJECT} p:celsius {{temp}} .
source\t\tSELECT x.device, x.ts, x.temp FROM readings x
]]
"""


def test_a_triples_map_for_each_property_is_of_one_subject(
    run: Run, tmp_path: Path, tables: list[Path]
) -> None:
    """As programs write mappings, with aliases of their own."""
    mapping, project = _write(tmp_path, "m.obda", HEAD + APART), tmp_path / "p"
    assert run("init", project, "--from", *tables, "--mapping", mapping).code == 0
    text = (project / "queries" / "readings-above.rq").read_text()
    assert "a p:Reading ; p:of ?it ; p:celsius ?value" in text
    assert run("check", project).code == 0


def test_rows_that_the_subject_does_not_tell_apart_are_counted_in_sql(
    run: Run, tmp_path: Path, tables: list[Path]
) -> None:
    """Equal triples of several rows are one: in SPARQL a count of them is another."""
    text = (HEAD + APART).replace("d:reading/{device}/{ts}", "d:reading/{ts}")
    mapping, project = _write(tmp_path, "m.obda", text), tmp_path / "p"
    assert run("init", project, "--from", *tables, "--mapping", mapping).code == 0
    assert (project / "queries" / "readings-by-hour.sql").exists()
    assert not (project / "queries" / "readings-by-hour.rq").exists()
