"""`ontoweir explain`: every code has a page, whose example fires and whose mended twin does not."""

import json
import re
from pathlib import Path

import pytest

from ontoweir.diagnostics import CODES
from ontoweir.report.explain_code import code_titles, explain_code, read_pages
from tests.ontoweir.conftest import Run
from tests.ontoweir.report.page_examples import Example, list_examples

PROJECT = """
[project]
ontology = ["axioms.ofn"]
mappings = ["mapping.ttl"]
queries = ["*.rq"]
"""
PREFIXES = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://example.org/> .
"""


def fired(example: Example, run: Run, folder: Path) -> set[str]:
    """The codes that code scanning is told of an example, over the tables and triples of its page.

    In SQL and SPARQL it is a query, in Turtle a mapping, which stands in the place of the triples.
    """
    mapping = example.text if example.language == "turtle" else example.given.get("turtle", "")
    axioms = example.given.get("owl", "")
    (folder / "ontoweir.toml").write_text(PROJECT + example.given["toml"])
    (folder / "axioms.ofn").write_text(
        f"Prefix(:=<http://example.org/>)\nOntology(<http://example.org/>\n{axioms})\n"
    )
    (folder / "mapping.ttl").write_text(PREFIXES + mapping)
    arguments = ["check", folder, "--format", "sarif"]
    match example.language:
        case "sql":
            (folder / "asked.sql").write_text(example.text)
            arguments += ["--sql", folder / "asked.sql"]
        case "sparql":
            (folder / "asked.rq").write_text(f"PREFIX : <http://example.org/>\n{example.text}")
        case _:
            arguments += ["--mappings-only"]
    (told,) = json.loads(run(*arguments).out)["runs"]
    return {result["ruleId"] for result in told["results"]}


@pytest.mark.parametrize("code", sorted(CODES.values()))
def test_the_example_fires_and_its_mended_twin_does_not(
    code: str, run: Run, tmp_path: Path
) -> None:
    first, mended = list_examples(code)
    assert fired(first, run, tmp_path) == {code}
    assert code not in fired(mended, run, tmp_path)


def test_every_code_has_a_page() -> None:
    assert list(code_titles()) == sorted(CODES.values())
    for code in CODES.values():
        assert "Mend it" in explain_code(code) or code == CODES["declaration"]


def test_docs_hold_the_same_pages(root: Path) -> None:
    """After a change: copy src/ontoweir/diagnostic_pages.md to the end of docs/errors.md."""
    text = (root / "docs" / "errors.md").read_text(encoding="utf-8")
    assert text.endswith(read_pages())


def test_no_code_is_written_elsewhere(root: Path) -> None:
    """Codes come from CODES, so that none is emitted without a page."""
    for folder in ("ontology", "mappings", "rewriter", "checker", "runtime", "src/ontoweir"):
        for file in (root / folder).glob("*.py"):
            if file.name != "diagnostics.py":
                assert not re.search(r"[\"']OW\d{3}", file.read_text(encoding="utf-8")), file


def test_a_page_is_printed(run: Run) -> None:
    ran = run("explain", "ow203")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("### OW203: E3, unbounded values are compared by order, and counted")
    assert "OW211" not in ran.out


def test_an_unknown_code_is_refused(run: Run) -> None:
    ran = run("explain", "OW1")
    assert (ran.code, ran.out) == (2, "")
    assert "unknown code 'OW1'" in ran.err
    assert "OW203" in ran.err
