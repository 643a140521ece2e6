"""`ontoweir check` says which conditions of an unsatisfiable query exclude each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run

PREFIXES = "PREFIX : <http://rooms.example/ns#>\n"
QUERIES = {
    "two.sql": "SELECT r.sensor\nFROM reading r\nWHERE r.celsius > 5\n  AND r.celsius < 3\n"
    "  AND r.state = 'OK'",
    "domain.sql": "SELECT r.sensor\nFROM reading r\nWHERE r.state = 'OPEN'",
    "circle.rq": f"{PREFIXES}SELECT ?r ?q WHERE {{\n  GRAPH ?t {{ ?r :temperature ?c }}\n"
    "  GRAPH ?u { ?q :temperature ?d }\n  FILTER(?t < ?u)\n  FILTER(?u < ?t)\n}",
    "unmapped.rq": f"{PREFIXES}SELECT DISTINCT ?r WHERE {{\n"
    "  GRAPH ?t { ?r :temperature ?c }\n  ?r :madeBy ?s .\n  ?s :madeBy ?z\n}",
    "read.sql": "SELECT x.m FROM (SELECT sensor, MAX(celsius) AS m FROM reading\n"
    "WHERE celsius > 1\nAND celsius < 0 GROUP BY sensor) x WHERE x.m > 3",
    "with.sql": "WITH w AS (\n  SELECT sensor, celsius\n  FROM reading\n  WHERE celsius > 20\n)\n"
    "SELECT sensor FROM w\nWHERE celsius BETWEEN 5\n  AND 7",
    "twin.sql": "SELECT r.sensor\nFROM reading r\nWHERE r.celsius > 3\n  AND r.celsius < 5",
}
PLACES = {
    "two": [("r.celsius > 5", "two.sql", 3), ("r.celsius < 3", "two.sql", 4)],
    "domain": [
        ("r.state = 'OPEN'", "domain.sql", 3),
        ("reading.state is declared as one of OK, FAULT", "ontoweir.toml", 23),
    ],
    "with": [("w.celsius > 20", "with.sql", 4), ("w.celsius <= 7", "with.sql", 7)],
    "circle": [
        ("reading_1.ts < reading_2.ts", "circle.rq", 5),
        ("reading_2.ts < reading_1.ts", "circle.rq", 6),
    ],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that `init` makes, with queries that nothing answers."""
    from ontoweir.cli import main

    folder = tmp_path_factory.mktemp("never") / "rooms"
    assert main(["init", str(folder), "--quiet"]) == 0
    for file in (folder / "queries").iterdir():
        file.unlink()
    for name, text in QUERIES.items():
        (folder / "queries" / name).write_text(text)
    catalog = folder / "ontoweir.toml"
    given = '["queries/*.rq"]'
    catalog.write_text(catalog.read_text().replace(given, '["queries/*.rq", "queries/*.sql"]'))
    return folder


def _leaves(reason: dict[str, Any]) -> list[tuple[str, str, int]]:
    label = reason["label"]
    if reason["because"] or label is None:
        return [leaf for inner in reason["because"] for leaf in _leaves(inner)]
    return [(reason["message"], Path(label["file"]).name, label["line"])]


def test_the_conditions_are_named_with_their_places(project: Path, run: Run) -> None:
    ran = run("check", project, "--format", "json", "--cache", "off")
    assert ran.code == 0
    found = {q["query"]: q for q in json.loads(ran.out)}
    for name, places in PLACES.items():
        assert found[name]["verdict"] == "unsatisfiable"
        assert _leaves(found[name]["blame"]) == places, name
    assert (
        "no mappings make :madeBy(_, ?s), :madeBy(?s, _)" in found["unmapped"]["blame"]["message"]
    )
    assert [leaf[0] for leaf in _leaves(found["read"]["blame"])] == [
        "reading.celsius > 1",
        "reading.celsius < 0",
    ]
    assert found["twin"]["blame"] is None


def test_text_and_html_say_so_and_remembered_verdicts_too(
    project: Path, run: Run, tmp_path: Path
) -> None:
    chosen = ("--query", "two", "--query", "unmapped", "--cache", tmp_path / "cache")
    first, again = (run("check", project, *chosen).out for _ in range(2))
    assert first == again
    assert "no data gives an answer: r.celsius has no value" in first
    assert "two.sql:4)" in first
    assert "no mappings make" in first
    page = run("check", project, *chosen, "--format", "html").out
    assert "no data gives an answer: r.celsius has no value" in page
