"""docs/semantics.md, Rows that break a rule: its rule, its rows, and what is said of them."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from tests.docs.test_closed_section import ROWS, SECTION
from tests.paths import ROOT

BREACHES = (
    (ROOT / "docs" / "semantics.md")
    .read_text(encoding="utf-8")
    .split("## Rows that break a rule\n")[1]
    .split("\n## ")[0]
)
LATE = "a,/,2026-05-04T11:00:00\nb,/,2026-05-04T11:00:00\n"


def _block(text: str, language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return str(found)


def test_the_row_is_rejected_as_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ontoweir.toml").write_text(_block(BREACHES, "toml"))
    (tmp_path / "asked.sql").write_text(_block(SECTION, "sql"))
    (tmp_path / "pages.csv").write_text(ROWS + LATE.splitlines()[0] + "\n")
    output, rejects = tmp_path / "answers.parquet", tmp_path / "rejects"
    command = ["replay", tmp_path, "--sql", tmp_path / "asked.sql", "--output", output]
    assert main([str(part) for part in [*command, "--rejects", rejects]]) == 0
    said = capsys.readouterr().out
    expected = _block(BREACHES, "text").rstrip("\n").removesuffix(")")
    assert expected in said
    (row,) = pq.read_table(rejects / "rejects.parquet").to_pylist()
    assert (row["stream"], str(row["at"]), row["file"]) == ("page", "2026-05-04 11:00:00", None)
    assert (
        row["reason"] == "page comes more than 30 minutes after the last row with the same session"
    )
    answers = pq.read_table(output).to_pylist()
    assert [(a["session"], a["pages"]) for a in answers] == [("a", 3), ("b", 1)]


def test_rows_that_are_let_in_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = _block(BREACHES, "toml").replace('"reject", remember = "1 day"', '"count"')
    (tmp_path / "ontoweir.toml").write_text(toml)
    (tmp_path / "asked.sql").write_text(_block(SECTION, "sql"))
    (tmp_path / "pages.csv").write_text(ROWS + LATE)
    output = tmp_path / "answers.parquet"
    command = ["replay", tmp_path, "--sql", tmp_path / "asked.sql", "--output", output]
    assert main([str(part) for part in command]) == 0
    assert (
        "let in: 2 tuples that break a rule (page comes more than 30 m" in capsys.readouterr().out
    )


def test_a_purchase_a_day_later_is_answered(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    section = text.split("## Nothing is lost: rows on disk\n")[1].split("\n## ")[0]
    toml = _block(section, "toml")
    (tmp_path / "pages.csv").write_text(ROWS)
    (tmp_path / "buys.csv").write_text(
        "session,item,ts\na,tea,2026-05-04T08:45:00\na,cup,2026-05-05T09:00:00\n"
    )
    sql = "SELECT b.item FROM page p, buy b WHERE b.session = p.session AND p.ts <= b.ts"
    found = []
    for rule in (toml, toml.replace(', on_violation = "spill"', "")):
        (tmp_path / "ontoweir.toml").write_text(rule)
        output = tmp_path / "answers.parquet"
        command = ["replay", tmp_path, "--sql", sql, "--output", output]
        assert main([str(part) for part in command]) == 0
        found.append({a["item"]: a["multiplicity"] for a in pq.read_table(output).to_pylist()})
    assert found == [{"tea": 3, "cup": 3}, {"tea": 3}]
