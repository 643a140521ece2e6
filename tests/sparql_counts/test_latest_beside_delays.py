"""The latest of each key beside windows that end before NOW(), and beside those that end at NOW(),
in all their phrasings: what holds at every time is what rdflib finds with that time as NOW()."""

from pathlib import Path
from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.test_computed_absence import PREFIXES, make_case
from tests.sparql_counts.test_joined_solutions import run_seed
from tests.sparql_counts.write_case import write_case

DURATION = '"PT{}M"^^xsd:dayTimeDuration'
TEN, TWENTY = DURATION.format(10), DURATION.format(20)
FLOOR = f"ow:floor(NOW(), {TEN})"
LATEST = "GRAPH ?u { ?x :p ?v } FILTER NOT EXISTS { GRAPH ?w { ?x :p ?o } FILTER(?w > ?u) }"
GREATEST_TIME = (
    "{ SELECT ?x (MAX(?w) AS ?u) { GRAPH ?w { ?x :p ?o } } GROUP BY ?x } GRAPH ?u { ?x :p ?v }"
)
WAITING = (
    f"FILTER(?t > NOW() - {TWENTY} && ?t <= NOW() - {TEN})",
    f"FILTER(?t > {FLOOR} - {TWENTY} && ?t <= {FLOOR})",
)
AT_ONCE = (f"FILTER(?t > NOW() - {TWENTY})", f"FILTER(?t > {FLOOR} - {TWENTY})")
ROWS = "GRAPH ?t {{ ?x :n ?n }} {}"
COUNTED = "{{ SELECT ?x (COUNT(*) AS ?n) {{ GRAPH ?t {{ ?x :n ?m }} {} }} GROUP BY ?x }}"


def _list_texts(windows: tuple[str, ...]) -> list[str]:
    latest = (LATEST, GREATEST_TIME, f"{{ {LATEST} }}", f"{{ SELECT ?x ?v {{ {LATEST} }} }}")
    beside = [
        f"{rows.format(w)} {one}" for rows in (ROWS, COUNTED) for w in windows for one in latest
    ]
    beside += [f"{COUNTED.format(w)} OPTIONAL {{ {LATEST} }}" for w in windows]
    return [*beside, *(f"{LATEST} OPTIONAL {{ {COUNTED.format(w)} }}" for w in windows)]


def _compile(where: str, folder: Path) -> str:
    write_case(make_case(Random(0)), folder)
    (folder / "q.rq").write_text(f"{PREFIXES}SELECT ?x ?v ?n {{ {where} }}", encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    compiled = workspace.compile("q")
    return str(check_query(compiled.union, workspace.project.catalog).tier)


@pytest.mark.parametrize("where", _list_texts(WAITING))
def test_what_is_known_later_is_read(where: str, tmp_path: Path) -> None:
    text = f"{PREFIXES}SELECT ?x ?v ?n {{ {where} }}"
    assert run_seed(3, tmp_path / "case", lambda _: (text, ("x", "v", "n"))).startswith("with")


@pytest.mark.parametrize("where", _list_texts(AT_ONCE))
def test_what_is_known_at_once_is_read(where: str, tmp_path: Path) -> None:
    assert "bounded" in _compile(where, tmp_path)
