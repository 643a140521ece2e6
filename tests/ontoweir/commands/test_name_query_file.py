"""A query's file in the place of the project."""

from argparse import _SubParsersAction
from pathlib import Path

import pytest

from ontoweir.cli import main, make_parser
from ontoweir.commands.common.arguments import FLAGS, OF_QUERIES, name_query_file

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
    assert name_query_file(["check", sql]) == ["check", "--sql", sql, *above]
    assert name_query_file(["replay", sparql]) == ["replay", "--query", "all", *above]
    assert name_query_file(["measure", sparql]) == ["measure", "--for", "all", *above]
    flagged = ["check", "--skip-refused", "--sql", sql, *above]
    assert name_query_file(["check", "--skip-refused", sql]) == flagged
    assert name_query_file(["check", ".", sql]) == ["check", ".", "--sql", sql]
    assert name_query_file(["check", sql, "--project=x"]) == ["check", "--sql", sql, "--project=x"]


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
    ],
)
def test_anything_else_stays(
    given: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert name_query_file(given) == given


def test_options_without_a_value_are_known() -> None:
    """A file after one of them stands alone."""
    found = set()
    for command in OF_QUERIES:
        (choices,) = (a for a in make_parser(command)._actions if isinstance(a, _SubParsersAction))
        actions = choices.choices[command]._actions
        found |= {name for a in actions if a.nargs == 0 for name in a.option_strings}
    assert found <= set(FLAGS)
