"""`ontoweir rewrite`: what every stage made of a query."""

import json
from pathlib import Path

import pytest

from ontoweir.project.spell_queries import name_typed
from tests.ontoweir.conftest import Run

QUERY = "roads-congested-then-slow-within-30-minutes"
STAGES = ("ucq", "sql", "spj", "lto", "plan")


@pytest.mark.parametrize("stage", STAGES)
def test_text_and_json_tell_the_same(run: Run, example: Path, stage: str) -> None:
    text = run("rewrite", example, "--query", QUERY, "--show", stage)
    machine = run("rewrite", example, "--query", QUERY, "--show", stage, "--format", "json")
    assert (text.code, machine.code) == (0, 0), text.err
    found = json.loads(machine.out)
    assert found["query"] == QUERY
    assert found["size"] == len(found["disjuncts"]) > 0
    assert all(isinstance(d, str) for d in found["disjuncts"])
    for disjunct in found["disjuncts"]:
        assert disjunct.strip() in text.out


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("ucq", "CongestedReading"),
        ("sql", "SELECT DISTINCT"),
        ("spj", "traffic"),
        ("lto", "traffic_1.t < traffic_2.t"),
        ("plan", "dropped 6 steps after"),
    ],
)
def test_stage_shows(run: Run, example: Path, stage: str, told: str) -> None:
    assert told in run("rewrite", example, "--query", QUERY, "--show", stage).out


def test_the_ontology_is_compiled_into_the_ucq(run: Run, example: Path) -> None:
    ran = run("rewrite", example, "--query", QUERY, "--show", "ucq", "--format", "json")
    disjuncts = json.loads(ran.out)["disjuncts"]
    for name in ("DenseReading", "GridlockedReading", "CrawlingReading"):
        assert any(name in d for d in disjuncts)


def test_sql_in_another_dialect(run: Run, example: Path) -> None:
    command = ("rewrite", example, "--query", QUERY, "--show", "sql")
    assert "INTERVAL '30' MINUTE" in run(*command, "--dialect", "spark").out
    assert "INTERVAL '30 MINUTE'" in run(*command, "--dialect", "postgres").out
    unknown = run(*command, "--dialect", "klingon")
    assert unknown.code == 2
    assert unknown.err.startswith("--dialect: unknown SQL dialect 'klingon'; ")


def test_sql_is_rewritten_over_the_catalog(run: Run, example: Path, tmp_path: Path) -> None:
    sql = "SELECT report_id FROM traffic WHERE vehicle_count > 100"
    (tmp_path / "busy.sql").write_text(sql)
    told = run("rewrite", example, sql, "--show", "spj", "--format", "json")
    filed = run(
        "rewrite", example, "--sql", tmp_path / "busy.sql", "--show", "spj", "--format", "json"
    )
    one, other = json.loads(told.out), json.loads(filed.out)
    assert (one["query"], other["query"]) == (name_typed(sql), "busy")
    assert one["disjuncts"] == other["disjuncts"]
    assert "vehicle_count > 100" in one["disjuncts"][0]
    words = run("rewrite", "--ontology", "x.ttl", "--sql", sql, "--show", "ucq")
    assert words.code == 2
    assert "--ontology cannot rewrite SQL" in words.err


def test_lto_is_cut_off_and_says_so(run: Run, example: Path) -> None:
    command = ("rewrite", example, "--query", QUERY, "--show", "lto", "--limit", "1")
    ran = run(*command)
    assert len(ran.out.splitlines()) == 1
    assert "--limit" in ran.err
    found = json.loads(run(*command, "--format", "json").out)
    assert (found["size"], found["truncated"]) == (1, True)


def test_a_query_that_selects_nothing(run: Run, example: Path) -> None:
    query = "readings-both-fast-and-congested"
    for stage in ("lto", "plan"):
        assert run("rewrite", example, "--query", query, "--show", stage).code == 0


def test_an_unbounded_query_has_no_plan_but_a_reason(run: Run, example: Path) -> None:
    ran = run("rewrite", example, "--query", "how-often-congestion-got-worse", "--show", "plan")
    assert ran.code == 0
    assert "no plan" in ran.out
    assert "OW203" in ran.out


def test_ontology_and_query_alone(run: Run, tmp_path: Path) -> None:
    ontology, query = tmp_path / "a.ttl", tmp_path / "q.rq"
    ontology.write_text(
        "@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ":A a owl:Class . :B a owl:Class ; rdfs:subClassOf :A .\n"
    )
    query.write_text("PREFIX : <http://x/> SELECT DISTINCT ?x WHERE { ?x a :A }")
    command = ("rewrite", "--ontology", ontology, "--query", query, "--show", "ucq")
    ran = run(*command, "--format", "json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["query"], found["size"]) == ("q", 2)
    query.write_text("PREFIX : <http://x/> SELECT DISTINCT ?x WHERE { ?x a :Unknown }")
    ran = run(*command)
    assert ran.code == 0  # without mappings, an unknown term is a warning
    assert "warning" in ran.err
    assert "Unknown" in ran.err


def test_ontology_alone_shows_the_ucq_only(run: Run, example: Path) -> None:
    ran = run("rewrite", "--ontology", example / "traffic.ttl", "--query", "q.rq", "--show", "sql")
    assert ran.code == 2
    assert "--show ucq" in ran.err
