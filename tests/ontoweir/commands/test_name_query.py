"""A query that stands by itself: its name, SQL, or a file, beside the project or in its place."""

import io
import re
from argparse import _SubParsersAction
from pathlib import Path

import pytest

from ontoweir.cli import main, make_parser
from ontoweir.commands.common.arguments import FLAGS, OF_QUERIES, name_query
from ontoweir.project.spell_queries import name_typed
from tests.ontoweir.conftest import Run

TOML = """[project]
queries = []
[streams.s]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
columns = { a = "int" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "s.csv").write_text("ts,a\n2026-01-01 00:00:00,7\n")
    (tmp_path / "asked").mkdir()
    (tmp_path / "asked" / "all.sql").write_text("SELECT a FROM s")
    (tmp_path / "asked" / "all.rq").write_text("SELECT ?a { ?s ?p ?a }")
    return tmp_path


def test_sql(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, output = folder / "asked" / "all.sql", folder / "out.csv"
    monkeypatch.chdir("/")
    assert main(["check", str(file)]) == 0
    assert main(["replay", str(file), "--output", str(output)]) == 0
    assert "7" in output.read_text()
    monkeypatch.chdir(folder / "asked")
    assert main(["check", "--verbose", "all.sql"]) == 0
    assert main(["check", str(folder), "all.sql"]) == 0


def test_what_is_meant(folder: Path) -> None:
    sql, sparql = str(folder / "asked" / "all.sql"), str(folder / "asked" / "all.rq")
    above = ["--project", str(folder.resolve())]
    assert name_query(["check", sql]) == ["check", "--sql", sql, *above]
    assert name_query(["replay", sparql]) == ["replay", "--query", "all", *above]
    assert name_query(["measure", sparql]) == ["measure", "--for", "all", *above]
    flagged = ["check", "--skip-refused", "--sql", sql, *above]
    assert name_query(["check", "--skip-refused", sql]) == flagged
    assert name_query(["check", ".", sql]) == ["check", ".", "--sql", sql]
    assert name_query(["check", sql, "--project=x"]) == ["check", "--sql", sql, "--project=x"]


def test_a_text_where_a_name_goes(folder: Path) -> None:
    text = "SELECT a FROM s"
    assert name_query(["check", str(folder), "--query", text]) == [
        *("check", str(folder), "--sql", text)
    ]
    assert name_query(["measure", "--for", text, str(folder)]) == [
        *("measure", "--sql", text, str(folder))
    ]
    assert main(["check", str(folder), "--query", "SELECT FROM"]) == 2
    file = str(folder / "asked" / "all.sql")
    assert main(["check", str(folder), "--query", file]) == 0


def test_names_and_texts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert name_query(["check", "a-b"]) == ["check", "--query", "a-b"]
    assert name_query(["measure", "a"]) == ["measure", "--for", "a"]
    assert name_query(["rewrite", "SELECT a FROM s"]) == ["rewrite", "--sql", "SELECT a FROM s"]
    assert name_query(["rewrite", "a", "--show", "sql"]) == [
        *("rewrite", "--query", "a", "--show", "sql")
    ]
    assert name_query(["run", "a", ".", "--once"]) == ["run", "--query", "a", ".", "--once"]
    assert name_query(["run", ".", "a"]) == ["run", ".", "--query", "a"]
    sql = " select a from s where a > 1"
    assert name_query(["check", sql]) == ["check", "--sql", sql]
    assert name_query(["replay", ".", sql]) == ["replay", ".", "--sql", sql]
    monkeypatch.chdir("/")  # where there is no project
    assert name_query(["check", "a"]) == ["check", "a"]
    assert name_query(["check", "a", str(folder)]) == ["check", "--query", "a", str(folder)]
    named = ["check", "a", f"--project={folder}"]
    assert name_query(named) == ["check", "--query", *named[1:]]


def test_a_folder_that_is_called_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert name_query(["check", "asked", "."]) == ["check", "--query", "asked", "."]
    assert name_query(["check", ".", "asked"]) == ["check", ".", "--query", "asked"]
    view = "/* of all */ CREATE VIEW v AS SELECT a FROM s; SELECT a FROM v"
    assert name_query(["check", view, "."]) == ["check", "--sql", view, "."]
    assert main(["check", view]) == 0


def test_what_is_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = folder / "asked"
    monkeypatch.chdir(inner)
    for given in (
        ["--sql", "SELECT a FROM s"],
        ["--sql", "all.sql"],
        ["--sql", "all.sql", ".."],
        ["--sql", "all.sql", "--project", ".."],
    ):
        assert main(["show", *given]) == 0
        assert "7" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT a FROM s"))
    assert main(["show", "--sql", "-"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("-- of all\nSELECT a FROM s"))
    assert main(["show", "--query", "-"]) == 0  # a comment is no option
    assert main(["show", "-- of all\nSELECT a FROM s"]) == 0
    assert capsys.readouterr().out.count("7") == 3
    assert main(["check", "-"]) == 2
    assert "write --query -, which reads a query" in capsys.readouterr().err
    assert main(["show", "--query", "nope", ".."]) == 2
    assert "nope" in capsys.readouterr().err
    for wrong in (["x", "..", "--query", "a"], ["--sql", "SELECT a FROM s", "--query", "a"], []):
        assert main(["show", *wrong]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.split(";")[0] for line in told] == [
        *["several things are to be shown"] * 2,
        "nothing is said that is to be shown",
    ]


@pytest.mark.parametrize(
    "given",
    [
        ["check"],
        ["check", "missing.sql"],
        ["check", "."],
        ["show", "asked/all.sql"],
        ["check", "--sql", "asked/all.sql"],
        ["replay", "--output", "asked/all.sql"],
        ["check", "asked/all.sql", "asked/all.rq"],
        ["check", "asked"],
        ["check", "--query", "a", "b"],
        ["check", "--for=a", "b"],
        ["check", "a/b"],
        ["check", "a", "b", "c"],
        ["init", "a"],
        ["report", "asked/all.sql"],
        ["replay", "--output", "a"],
    ],
)
def test_anything_else_stays(
    given: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert name_query(given) == given


def test_options_without_a_value_are_known() -> None:
    """A file after one of them stands alone."""
    found = set()
    for command in OF_QUERIES:
        (choices,) = (a for a in make_parser(command)._actions if isinstance(a, _SubParsersAction))
        actions = choices.choices[command]._actions
        found |= {name for a in actions if a.nargs == 0 for name in a.option_strings}
    assert found <= set(FLAGS)


def test_sparql_that_is_typed_or_in_any_file(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> . <#S> rr:logicalTable [ rr:tableName 's' ] ; "
        "rr:subjectMap [ rr:template 'http://e/{ts}' ; rr:class <http://e/S> ] ; "
        "rr:predicateObjectMap [ rr:predicate <http://e/a> ; rr:objectMap [ rr:column 'a' ] ] ."
    )
    declared = TOML.replace("queries = []", 'mappings = ["m.ttl"]\nqueries = ["*.rq"]')
    (folder / "ontoweir.toml").write_text(declared)
    (folder / "all.rq").write_text("SELECT ?r { GRAPH ?t { ?r a <http://e/S> } }")
    text = "# typed\nPREFIX : <http://e/> SELECT ?v WHERE { GRAPH ?t { ?r :a ?v } }"
    ran = run("check", folder, text)
    assert re.match("query-[0-9a-f]{6}  bag  stateless", ran.out), ran.err
    assert run("rewrite", text, folder, "--show", "sql").code == 0
    assert run("replay", text, folder, "--output", tmp_path / "out.csv").code == 0
    shown = run("show", text, folder, "--format", "csv").out
    assert shown.startswith("v,at,multiplicity\n7,2026-01-01")
    # a file that is called like a query of the project is what is in it
    other = tmp_path / "asked" / "all.rq"
    other.write_text(text)
    monkeypatch.chdir("/")
    assert run("show", other, "--format", "csv").out == shown
    assert "{v: " in run("rewrite", other, "--show", "spj").out
    assert run("show", folder / "all.rq", "--format", "csv").out.startswith("r,at")
    # nothing is left of the command before
    name = ran.out.split()[0]
    assert f"unknown query '{name}'" in run("check", name, folder).err


def test_queries_that_are_typed_run_apart(run: Run, folder: Path) -> None:
    """Their answers and states are in folders of their own, and are found again."""
    for text in ("SELECT a FROM s", "SELECT a + 1 AS b FROM s"):
        for given in ([text], ["--query", text]):  # the second goes on where the first ended
            ran = run("run", *given, "--project", folder, "--once")
            assert (ran.code, f"in {folder / 'out' / name_typed(text)}" in ran.out) == (0, True)
    assert len(list((folder / "out").iterdir())) == 2
    other = run("run", "SELECT a + 2 AS c FROM s", folder, "--once", "--output", folder / "x")
    assert f"in {folder / 'x'}" in other.out


@pytest.mark.parametrize("command", ["replay", "register"])
def test_without_a_project_that_is_what_is_said(
    command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    more = ("--output", "x.csv") if command == "replay" else ()
    ran = run(command, "hourly", *more)
    assert (ran.code, "there is no project file ontoweir.toml" in ran.err) == (2, True), ran.err
    (tmp_path / "rooms").mkdir()  # a folder is taken for a project, of which a query is missing
    ran = run(command, "rooms", *more)
    assert ran.code == 2
    assert "--query" in ran.err
