"""SQL as queries of a project: files that end in .sql, text on the command line, and in Python."""

import re
from pathlib import Path

import pytest

import ontoweir
from ontoweir.errors import OntoweirError
from ontoweir.project.language_of import language_of_text
from tests.ontoweir.conftest import Run

_HOT = "SELECT sensor, celsius FROM reading WHERE celsius > 26"
_GROWS = "SELECT x.celsius FROM reading x JOIN reading y ON x.sensor = y.sensor AND x.ts < y.ts"


@pytest.fixture
def rooms(run: Run, tmp_path: Path) -> Path:
    """The project of `init`, with a query of SQL."""
    folder = tmp_path / "rooms"
    assert run("init", folder, "-q").code == 0
    (folder / "queries" / "hot.sql").write_text(f"-- hot\n{_HOT}\n")
    toml = (folder / "ontoweir.toml").read_text()
    (folder / "ontoweir.toml").write_text(
        toml.replace('queries = ["queries/*.rq"]', 'queries = ["queries/*.rq", "queries/*.sql"]')
    )
    return folder


def test_every_command_takes_a_file_of_sql_for_a_query(run: Run, rooms: Path) -> None:
    checked = run("check", rooms)
    assert checked.code == 0, checked.err
    assert ["hot", "bag", "stateless"] in [line.split()[:3] for line in checked.out.splitlines()]
    for command in (
        ("check", rooms, "--query", "hot"),
        ("rewrite", rooms, "--query", "hot", "--show", "sql"),
        ("rewrite", rooms, "--query", "hot", "--show", "plan"),
        ("show", "hot", rooms),
        ("replay", rooms, "--query", "hot", "--output", "-", "-q"),
        ("measure", rooms, "--for", "hot"),
        ("register", rooms, "--query", "hot"),
    ):
        ran = run(*command)
        assert ran.code == 0, (command, ran.err)
    by_name = run("replay", rooms, "--query", "hot", "--output", "-", "-q").out
    by_file = run("replay", rooms, "--sql", rooms / "queries" / "hot.sql", "--output", "-", "-q")
    assert by_name == by_file.out
    assert len(by_name.splitlines()) > 100


def test_its_errors_are_those_of_sql(run: Run, rooms: Path) -> None:
    (rooms / "queries" / "hot.sql").write_text("SELECT sensor,\n warmth FROM reading")
    ran = run("check", rooms, "--query", "hot")
    assert ran.code == 2
    assert "hot.sql:2: unknown column 'warmth'" in ran.err
    shown = run("rewrite", rooms, "--query", "hot", "--show", "ucq")
    assert shown.code == 2


def test_the_unions_of_sql_are_not_rewritten(run: Run, rooms: Path) -> None:
    ran = run("rewrite", rooms, "--query", "hot", "--show", "ucq")
    assert ran.code == 2
    assert "hot is SQL" in ran.err


def test_text_on_the_command_line(run: Run, rooms: Path) -> None:
    ran = run("check", rooms, "--sql", _GROWS)
    assert ran.code == 0, ran.err
    assert re.match("query-[0-9a-f]{6}  bag  ", ran.out)
    shown = run("show", _HOT, rooms)
    assert shown.code == 0, shown.err
    assert shown.out == run("show", "hot", rooms).out
    assert run("show", rooms / "queries" / "hot.sql", rooms).out == shown.out
    wrong = run("check", rooms, "--sql", "select nothing from reading")
    assert re.match(r"query-[0-9a-f]{6}\.sql:1: unknown column", wrong.err)
    missing = run("check", rooms, "--sql", "selected.sql")
    assert (missing.code, "selected.sql" in missing.err) == (2, True)


def test_in_python(rooms: Path) -> None:
    project = ontoweir.open_project(rooms)
    assert "hot" in project.queries
    named, typed = project.replay("hot"), project.replay(_HOT)
    assert named.to_arrow().equals(typed.to_arrow())
    assert project.check(_HOT).tier == "stateless"
    assert "celsius" in project.rewrite(_HOT)
    assert "  bag  " in project.explain(_GROWS)
    with pytest.raises(OntoweirError, match=r"<query>:1: unknown column"):
        project.check("SELECT x FROM reading")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("SELECT ?s WHERE { ?s ?p ?o }", "sparql"),
        ("-- c\n/* d */ with a as (select 1) select * from a", "sql"),
        ("(SELECT a FROM t) UNION ALL (SELECT a FROM u)", "sql"),
        ("selected", None),
        ("hot-readings", None),
        ("select", None),
    ],
)
def test_what_is_a_text(text: str, language: str | None) -> None:
    assert language_of_text(text) == language
