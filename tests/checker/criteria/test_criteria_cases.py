"""Runs `cases/*.md`, a file for each criterion: where a condition fails, and twins where none does.

The files are named by the keys of CRITERIA, a condition's cases begin with its name (`C1 …`, `C1
twin, …`); tests/checker/verdict_cases.py says what is in a case.
"""

from pathlib import Path

import pytest

from tests.case_files import Case, Golden, read_folder
from tests.checker.verdict_cases import compare_verdict

CASES = read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_criterion(case: Case, golden: Golden) -> None:
    compare_verdict(case, golden)
