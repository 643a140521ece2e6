"""Runs `cases/*.md`: by which columns the rows of a query can be divided, with twins.

tests/checker/verdict_cases.py says what is in a case.
"""

from pathlib import Path

import pytest

from ontoweir.checker.partition.partition import NotDivided
from tests.case_files import Case, Golden, read_folder
from tests.checker.verdict_cases import compare_verdict, decide_case

CASES = read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_partition(case: Case, golden: Golden) -> None:
    compare_verdict(case, golden)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_twins_are_not_divided(case: Case) -> None:
    verdict = decide_case(case, disprove=False)
    assert verdict.plans
    assert isinstance(verdict.partition, NotDivided) == case.is_twin
