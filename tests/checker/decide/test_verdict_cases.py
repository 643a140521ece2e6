"""Runs `cases/*.md`: what the verdict on a query rests on, by topic, with twins.

tests/checker/verdict_cases.py says what is in a case.
"""

from pathlib import Path

import pytest

from tests.case_files import Case, Golden, read_folder
from tests.checker.verdict_cases import compare_verdict

CASES = read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_verdict(case: Case, golden: Golden) -> None:
    compare_verdict(case, golden)
