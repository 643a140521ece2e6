"""docs/semantics.md, Values that are closed: its rules, its query and its answer."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.cli import main
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.paths import ROOT

WHOLE, FEW = (
    (ROOT / "docs" / "semantics.md")
    .read_text(encoding="utf-8")
    .split("## Values that are closed\n")[1]
    .split("\n## ")[0]
    .split("\n### Few rows of a value\n")
)
SECTION, JOINED = WHOLE.split("\n### Rows joined while a value is open\n")
ROWS = """session,url,ts
a,/,2026-05-04T08:00:00
a,/buy,2026-05-04T08:20:00
a,/,2026-05-04T08:45:00
b,/,2026-05-04T10:00:00
"""


def block(language: str, section: str = SECTION) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return str(found)


def test_few_rows_of_a_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declared = 'clustered = [{ columns = ["session"], gap = "30 minutes" }]\n'
    few = block("toml").replace(declared, block("toml", FEW))
    assert few != block("toml")
    (tmp_path / "ontoweir.toml").write_text(few)
    (tmp_path / "asked.sql").write_text(block("sql", FEW))
    (tmp_path / "pages.csv").write_text(ROWS)
    output = tmp_path / "answers.parquet"
    command = ["replay", str(tmp_path), "--sql", str(tmp_path / "asked.sql"), "--output"]
    assert main([*command, str(output)]) == 0
    told = pq.read_table(output).select(["session", "url", "pages"]).to_pylist()
    assert [tuple(row.values()) for row in told] == [("a", "/", 2), ("a", "/buy", 1)]
    catalog = load_project(tmp_path, environ={}).catalog
    verdict = check_query(parse_sql(block("sql", FEW), catalog, name="q", file="q.sql"), catalog)
    assert verdict.bound is not None
    (counted,) = re.findall(r"`(\(R\(page\).*? rows)`", FEW)
    assert counted in verdict.bound.formula
    ended = 'closed_by = [{ columns = ["session"], column = "last", max_open = 1, '
    small = few.replace(block("toml", FEW), f"{ended}max_rows_per_value = 1 }}]\n")
    small = small.replace("max_per_timestamp = 10", "max_per_timestamp = 1") + 'last = "boolean"\n'
    (tmp_path / "ontoweir.toml").write_text(small)
    rows = [f"a,/{n},false,2026-05-04T08:{n:02}:00" for n in range(60)]
    (tmp_path / "pages.csv").write_text("\n".join(["session,url,last,ts", *rows]) + "\n")
    capsys.readouterr()
    assert main([*command, str(output), "-q"]) == 3
    assert "more than its bound of 4" in capsys.readouterr().err


def test_rows_joined_while_a_value_is_open(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(block("toml"))
    (tmp_path / "asked.sql").write_text(block("sql", JOINED))
    more = "a,/offer,2026-05-04T08:46:00\na,/pay,2026-05-04T09:00:00\na,/,2026-05-04T11:00:00\n"
    (tmp_path / "pages.csv").write_text("".join(sorted((ROWS + more).splitlines(True), key=_time)))
    output = tmp_path / "answers.parquet"
    command = ["replay", tmp_path, "--sql", tmp_path / "asked.sql", "--output", output]
    assert main([str(part) for part in command]) == 0
    assert pq.read_table(output).column("url").to_pylist() == ["/pay"]  # not at eleven
    catalog = load_project(tmp_path, environ={}).catalog
    verdict = check_query(parse_sql(block("sql", JOINED), catalog, name="q", file="q.sql"), catalog)
    assert verdict.bound is not None
    assert verdict.bound.rows == 2 * 310
    assert "at most 310 sessions are remembered, twice" in JOINED


def _time(line: str) -> str:
    return line.split(",")[2] if "2026" in line else ""


def test_the_answer_is_that_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(block("toml"))
    (tmp_path / "asked.sql").write_text(block("sql"))
    (tmp_path / "pages.csv").write_text(ROWS)
    output = tmp_path / "answers.parquet"
    command = ["replay", tmp_path, "--sql", tmp_path / "asked.sql", "--output", output]
    assert main([str(part) for part in command]) == 0
    names, *expected = (line.split(" ", 2) for line in block("text").splitlines())
    told = pq.read_table(output).select(names).to_pylist()
    assert [[str(row[n]) for n in names] for row in told] == expected


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        ("", "2 · R(page) · 31 steps of open session"),
        ("rows", "2 · ((500 + R(page)) open session)"),
        ("within", "2 · R(page) · 121 steps of open session"),
        ("closed_by", "2 · ((10000 + R(page)) open session)"),
    ],
)
def test_every_rule_bounds_the_query(rule: str, bound: str, tmp_path: Path) -> None:
    toml, declared = block("toml"), 'clustered = [{ columns = ["session"], gap = "30 minutes" }]'
    if rule == "rows":
        toml = toml.replace('gap = "30 minutes"', "rows = 500")
    if rule == "within":
        toml = toml.replace('gap = "30 minutes"', 'within = "2 hours"')
    if rule == "closed_by":
        (said,) = re.findall(r"`(closed_by = .*?)` \|", SECTION)
        toml = toml.replace(declared, said) + 'is_last = "boolean"\n'
    (tmp_path / "ontoweir.toml").write_text(toml)
    catalog = load_project(tmp_path, environ={}).catalog
    verdict = check_query(parse_sql(block("sql"), catalog, name="q", file="q.sql"), catalog)
    assert verdict.name == "conditionally-bounded"
    assert verdict.bound is not None
    assert verdict.bound.formula == bound


def test_what_is_said_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ontoweir.toml").write_text(block("toml"))
    (tmp_path / "asked.sql").write_text(block("sql"))
    (tmp_path / "pages.csv").write_text(ROWS)
    command = [str(tmp_path), "--sql", str(tmp_path / "asked.sql")]
    assert main(["check", *command, "--verbose"]) == 0
    said = capsys.readouterr().out
    assert "what is found of one session is kept until no more rows of page have it" in said
    assert "partitions by session" in said
    output = str(tmp_path / "answers.parquet")
    assert main(["replay", *command, "--output", output, "--emit", "changes", "-q"]) == 0
    assert pq.read_table(output).select(["session", "pages", "op"]).to_pylist() == [
        {"session": "a", "pages": 3, "op": "+"}
    ]
    assert main(["replay", *command, "--output", output, "--emit", "snapshots", "-q"]) == 2
    assert "each snapshot would repeat all that were found" in capsys.readouterr().err
