"""`ontoweir ontology`: what was read, left out, and is empty; and the imports of a project."""

import json
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

TURTLE = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
TOP = """<http://e/top> a owl:Ontology ; owl:imports <http://e/units> .
:p a owl:ObjectProperty , owl:TransitiveProperty ; rdfs:domain :A .
:a a :A ; :p :b .
:A rdfs:subClassOf :B . :C rdfs:subClassOf :A , :D .
:r rdfs:domain :C ; rdfs:range :A .
"""
UNITS = ":D owl:disjointWith :B .\n"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "units.ttl").write_text(TURTLE + UNITS)
    (tmp_path / "catalog-v001.xml").write_text(
        '<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">'
        '<uri name="http://e/units" uri="units.ttl"/></catalog>'
    )
    (tmp_path / "top.ttl").write_text(TURTLE + TOP)
    return tmp_path / "top.ttl"


def test_the_report(run: Run, top: Path) -> None:
    ran = run("ontology", "--ontology", top)
    units = top.with_name("units.ttl")
    assert ran.code == 0
    assert ran.out == (
        f"{top} (Turtle)\n"
        "  axioms: 2 PropertyDomain, 1 PropertyRange, 3 SubClassOf\n"
        "  facts: 1 ClassAssertion, 1 ObjectPropertyAssertion\n"
        "  left out, 1: OWL 2 QL has no TransitiveObjectProperty\n"
        "    line 5: TransitiveObjectProperty(:p)\n"
        f"{units} (Turtle, imported by {top}:4)\n"
        "  axioms: 1 DisjointClasses\n"
        "  facts: none\n"
        "7 axioms and 2 facts used, 1 left out; 4 classes, 2 properties\n"
    )
    told = [
        f"warning: {top}:{line}: the {what} can have no member; its axioms put every member "
        "into disjoint classes or properties; remove one of these axioms; until then it has no "
        "answers"
        for line, what in ((7, "class http://e/C"), (8, "property http://e/r"))
    ]
    assert ran.err.splitlines() == told


def test_what_is_left_out_is_shown_by_rule_the_first_three_of_each(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "o.ttl"
    axioms = "".join(f":p{n} a owl:ObjectProperty , owl:TransitiveProperty .\n" for n in range(5))
    file.write_text(TURTLE + ":A owl:hasKey ( :p0 ) .\n" + axioms)
    rules = ["OWL 2 QL has no HasKey", "OWL 2 QL has no TransitiveObjectProperty"]
    shown = run("ontology", "--ontology", file).out.splitlines()[3:-1]
    transitive = [f"    line {n + 5}: TransitiveObjectProperty(:p{n})" for n in range(5)]
    assert shown[0] == f"  left out, 1: {rules[0]}"
    assert shown[2:] == [
        *(f"  left out, 5: {rules[1]}", *transitive[:3]),
        "    and 2 more; --verbose shows all",
    ]
    told = run("ontology", "--ontology", file, "--verbose").out.splitlines()[3:-1]
    assert told[2:] == [f"  left out, 5: {rules[1]}", *transitive]
    report = json.loads(run("ontology", "--ontology", file, "--format", "json").out)
    assert len(report["files"][0]["left_out"]) == 6


def test_the_report_as_json(run: Run, top: Path) -> None:
    ran = run("ontology", "--ontology", top, "--format", "json", "--quiet")
    assert ran.err == ""
    found = json.loads(ran.out)
    assert [f["file"] for f in found["files"]] == [str(top), str(top.with_name("units.ttl"))]
    assert found["files"][1]["imported_by"] == {"file": str(top), "line": 4}
    assert found["files"][0]["left_out"] == [
        {
            "axiom": "TransitiveObjectProperty(:p)",
            "rule": "OWL 2 QL has no TransitiveObjectProperty",
            "file": str(top),
            "line": 5,
        }
    ]
    assert (found["axioms"], found["facts"], found["left_out"]) == (7, 2, 1)
    assert found["unsatisfiable"] == ["http://e/C", "http://e/r"]


def test_strictly_what_is_left_out_is_an_error(run: Run, top: Path) -> None:
    ran = run("ontology", "--ontology", top, "--strict")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"{top}:5: TransitiveObjectProperty(:p) is outside OWL 2 QL")


def test_a_satisfiable_ontology_gives_no_warning(run: Run, example: Path) -> None:
    ran = run("ontology", example, "--strict")
    assert (ran.code, ran.err) == (0, "")


def test_a_rewriting_without_a_project_follows_the_catalog(run: Run, top: Path) -> None:
    query = top.with_name("q.rq")
    query.write_text("PREFIX : <http://e/> SELECT DISTINCT ?x { ?x a :B }")
    (top.parent / "units.ttl").write_text(TURTLE + ":E rdfs:subClassOf :B .")
    ran = run("rewrite", "--ontology", top, "--query", query, "--show", "ucq", "-q")
    assert ":E(?x)" in ran.out


IMPORTS = '[project.imports]\n"http://e/units" = "%s"\n[streams.'


def project_with(project: Path, target: str) -> Path:
    toml = project / "ontoweir.toml"
    toml.write_text(toml.read_text().replace("[streams.", IMPORTS % target, 1))
    ontology = project / "traffic.ttl"
    ontology.write_text(
        ontology.read_text()
        + "\n<http://e/top> <http://www.w3.org/2002/07/owl#imports> <http://e/units> .\n"
    )
    return project


def test_a_project_names_the_file_of_an_import(run: Run, project: Path) -> None:
    (project / "u.ttl").write_text(TURTLE + ":New rdfs:subClassOf :Old .")
    project_with(project, "u.ttl")
    ran = run("ontology", project, "--strict", "--format", "json")
    assert ran.code == 0, ran.err
    names = [Path(f["file"]).name for f in json.loads(ran.out)["files"]]
    assert names == ["traffic.ttl", "u.ttl"]


def test_another_file_can_be_set(run: Run, project: Path, tmp_path: Path) -> None:
    (project / "u.ttl").write_text(TURTLE)
    other = tmp_path / "other.ttl"
    other.write_text(TURTLE)
    project_with(project, "u.ttl")
    option = f'project.imports."http://e/units"={other}'
    ran = run("ontology", project, "--set", option, "--format", "json")
    assert [f["file"] for f in json.loads(ran.out)["files"]][1] == str(other)


@pytest.mark.parametrize(
    ("target", "told"),
    [("none.ttl", "there is no file 'none.ttl'"), (5, "it must be a string")],
)
def test_a_wrong_entry_is_located(run: Run, project: Path, target: str | int, told: str) -> None:
    project_with(project, str(target))
    toml = project / "ontoweir.toml"
    if target == 5:
        toml.write_text(toml.read_text().replace('= "5"', "= 5"))
    ran = run("check", project)
    line = toml.read_text().split('"http://e/units"')[0].count("\n") + 1
    assert ran.code == 2
    assert ran.err.startswith(f"{toml}:{line}: ")
    assert told in ran.err
