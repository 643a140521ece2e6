"""`ontoweir explain`: every code has a page, whose example fires and whose mended twin does not."""

import re
from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Failing
from ontoweir.diagnostics import CODES
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.report.explain_code import code_titles, explain_code, read_pages
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.ontoweir.conftest import Run

UNCHECKED = ("warning", "mapping", "plan", "refused")
CHECKED = sorted({*CODES.values()} - {CODES[name] for name in UNCHECKED})
"""All but those whose example is no SQL, a warning (test_sarif.py), a mapping (test_lint.py) and
what is refused (test_refused.py), and the one for which no example is known."""


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The tables of the pages' examples."""
    found = re.search(r"```toml\n(.*?)```", read_pages(), re.DOTALL)
    assert found is not None
    file = tmp_path_factory.mktemp("pages") / "ontoweir.toml"
    file.write_text(found[1], encoding="utf-8")
    return load_project(file, environ={}).catalog


def codes(sql: str, catalog: Catalog) -> set[str]:
    verdict = check_query(parse_sql(sql, catalog, name="page", file="page.sql"), catalog)
    found = {d.code for f in verdict.disjuncts if isinstance(f, Failing) for d in f.because}
    return found | ({CODES["declaration"]} if verdict.conditions else set())


@pytest.mark.parametrize("code", CHECKED)
def test_the_example_fires_and_its_mended_twin_does_not(code: str, catalog: Catalog) -> None:
    examples = re.findall(r"```sql\n(.*?)```", explain_code(code), re.DOTALL)
    assert len(examples) == 2
    assert codes(examples[0], catalog) == {code}
    assert code not in codes(examples[1], catalog)


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
