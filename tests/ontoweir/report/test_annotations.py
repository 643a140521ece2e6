"""`check --format github`: one workflow command a result, at its line, whatever its text has."""

import io
import re
from pathlib import Path

import pytest

from ontoweir.report.scanning.print_log import print_log
from tests.ontoweir.conftest import Run
from tests.ontoweir.report.test_sarif import CONDITIONAL, UNBOUNDED, sarif

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.+)")


def read(out: str) -> list[tuple[str, dict[str, str], str]]:
    found = []
    for line in out.splitlines():
        command = COMMAND.fullmatch(line)
        assert command is not None, line
        fields = dict(field.split("=", 1) for field in command[2].split(","))
        found.append((command[1], fields, command[3]))
    return found


def test_results_are_annotations_at_their_lines(run: Run, example: Path) -> None:
    ran = run("check", example, "--query", UNBOUNDED, "--query", CONDITIONAL, "--format", "github")
    assert ran.code == 0, ran.err
    told = read(ran.out)
    results = sarif(run, example, "--query", UNBOUNDED, "--query", CONDITIONAL)["results"]
    levels = {"error": "error", "warning": "warning", "note": "notice"}
    assert [level for level, _, _ in told] == [levels[r["level"]] for r in results]
    level, fields, text = told[0]
    assert level == "error"
    assert fields["file"].endswith(f"{UNBOUNDED}.rq")
    line = (
        (example / "queries" / f"{UNBOUNDED}.rq").read_text().splitlines()[int(fields["line"]) - 1]
    )
    assert "FILTER" in line
    assert fields["title"].endswith("(OW203)")
    assert UNBOUNDED in text


def test_wrong_input_is_an_annotation_too(run: Run, project: Path) -> None:
    (project / "queries" / f"{CONDITIONAL}.rq").write_text("SELECT ?x WHERE {\n?x a <urn:none> .\n")
    ran = run("check", project, "--query", CONDITIONAL, "--format", "github")
    assert ran.code == 2
    ((level, fields, _),) = read(ran.out)
    assert level == "error"
    assert fields["file"].endswith(f"{CONDITIONAL}.rq")


def test_lint_too(run: Run, example: Path) -> None:
    ran = run("check", example, "--mappings-only", "--format", "github")
    assert ran.code == 0, ran.err
    assert read(ran.out)


@pytest.mark.parametrize("text", ["a\nb", "100 %", "x::y, z", "{0} and {{1}}"])
def test_texts_are_escaped(text: str) -> None:
    region = {"artifactLocation": {"uri": "a%20b.rq"}, "region": {"startLine": 3}}
    result = {
        "ruleId": "OW203",
        "level": "note",
        "message": {"text": text.replace("{0}", "{{0}}")},
        "locations": [{"physicalLocation": region}],
    }
    rules = [{"id": "OW203", "shortDescription": {"text": "one, two: three"}}]
    log = {"runs": [{"tool": {"driver": {"rules": rules}}, "results": [result]}]}
    out = io.StringIO()
    print_log(log, "github", out)
    ((level, fields, shown),) = read(out.getvalue())
    assert level == "notice"
    assert fields == {"file": "a b.rq", "line": "3", "title": "one%2C two%3A three (OW203)"}
    for number in re.findall(r"%(..)", shown):
        shown = shown.replace(f"%{number}", chr(int(number, 16)))
    assert shown.replace("{1}", "{{1}}") == text
