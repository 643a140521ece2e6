"""`ontoweir materialize` on every R2RML case of ../shared/suites."""

import subprocess
import sys
from pathlib import Path

import pytest

from ontoweir.errors import DataError, OntoweirError
from ontoweir.mappings.materialize.materialize_triples import materialize_triples
from tests.paths import ROOT
from tests.suites.nquads import read_nquads, same_quads
from tests.suites.r2rml_cases import (
    LEFT_OUT,
    NOT_MET,
    UNTYPED,
    Case,
    list_cases,
    open_database,
    write_table,
)

DOCUMENT = ROOT / "docs" / "r2rml-conformance.md"
CASES = list_cases()
BY_KEY = {c.key: c for c in CASES}
pytestmark = pytest.mark.shared


def made(case: Case, folder: Path, skipped: list[DataError] | None = None) -> str | None:
    """The N-Quads of a case; None when it is refused."""
    report = None if skipped is None else skipped.append
    try:
        quads = materialize_triples(case.mapping, open_database(case, folder), on_data_error=report)
    except OntoweirError as error:
        refused = error
    else:
        return "\n".join(quads)
    assert refused.source is not None
    assert refused.source.line is not None
    return None


def wanted(case: Case) -> str | None:
    return None if case.expected is None else case.expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", [pytest.param(c, id=c.key) for c in CASES if c.key not in NOT_MET])
def test_case_is_met(case: Case, tmp_path: Path) -> None:
    found, expected = made(case, tmp_path), wanted(case)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert same_quads(found, expected), found


@pytest.mark.parametrize("case", [pytest.param(c, id=c.key) for c in CASES if c.key in NOT_MET])
def test_reason_of_case_that_is_not_met(case: Case, tmp_path: Path) -> None:
    """The case is not met, its reason is true, and W3C's case of the same name is met."""
    found, expected = made(case, tmp_path), wanted(case)
    if expected is None:
        assert found is not None
    else:
        assert found is None or not same_quads(found, expected)
    w3c = BY_KEY[f"w3c-r2rml {case.name}"]
    if case.name not in ("0002f", "0020a"):  # of which the reasons tell the difference
        (tmp_path / "w3c").mkdir()
        reference = wanted(w3c)
        if reference is None:
            assert found is None
        else:
            assert found is not None
            assert same_quads(found, reference)
    reason = NOT_MET[case.key]
    if reason == UNTYPED:
        assert found is not None
        assert expected is not None
        assert same_quads(found, expected, untyped_numbers=True)
    if LEFT_OUT in reason:
        skipped: list[DataError] = []
        found = made(case, tmp_path, skipped)
        assert found is not None
        assert expected is not None
        assert len(skipped) == 1
        expected = expected.replace("http://example.com/company/A", "http://company.com/A")
        assert same_quads(found, expected)
    if case.name == "0020a":
        assert found is not None
        assert expected is not None
        assert len(read_nquads(found) - read_nquads(expected)) == 1
        assert len(read_nquads(expected) - read_nquads(found)) == 1


def test_all_cases_are_there_and_the_document_lists_them(shared: Path) -> None:
    assert len([c for c in CASES if c.suite == "r2rml-sqlite"]) == 60
    assert len([c for c in CASES if c.suite == "w3c-r2rml"]) == 69
    assert set(NOT_MET) <= set(BY_KEY)
    assert DOCUMENT.read_text(encoding="utf-8") == write_table(CASES), (
        "docs/r2rml-conformance.md is out of date: python -m tests.suites.test_r2rml"
    )


def test_the_command_writes_the_triples(shared: Path, tmp_path: Path) -> None:
    case = BY_KEY["r2rml-sqlite 0012e"]
    output = tmp_path / "out.nq"
    command = [sys.executable, "-m", "ontoweir.cli", "materialize"]
    command += ["--mappings", str(case.mapping), "--database", f"sqlite:{case.database}"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    done = subprocess.run(
        [*command, "--output", str(output)], capture_output=True, text=True, check=True
    )
    assert (printed.stderr, done.stdout, done.stderr) == ("", "", "")
    assert output.read_text(encoding="utf-8") == printed.stdout
    assert same_quads(printed.stdout, wanted(case) or "")
    assert [p.name for p in tmp_path.iterdir()] == ["out.nq"]


if __name__ == "__main__":
    DOCUMENT.write_text(write_table(CASES), encoding="utf-8")
