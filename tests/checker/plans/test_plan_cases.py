"""Runs `cases/*.md`: what a plan keeps, a file for each kind of step, with twins that do without.

A case is a query, `sql`, over a catalog, `toml`, and its `plan`, as `ontoweir rewrite --show plan`
prints it. A twin's plan has less than that of the case before it (tests/checker/plan_parts.py).
"""

from pathlib import Path

import pytest

from ontoweir.report.describe_plan import describe_plan
from tests.case_files import Case, Golden, read_folder
from tests.checker.verdict_cases import decide_case

CASES = read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_plan(case: Case, golden: Golden) -> None:
    plans = decide_case(case).plans
    assert plans
    golden(case, "plan", "\n\n".join("\n".join(describe_plan(plan)) for plan in plans))
