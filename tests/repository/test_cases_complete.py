"""Each pass, criterion, kind of plan step and diagnostic has a case that fires and a twin.

What there is to have cases is read off the code: PASSES, CRITERIA, the types of a plan, CODES.
"""

import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from ontoweir.checker.verdict.verdict import CRITERIA
from ontoweir.diagnostics import CODES
from ontoweir.rewriter.passes.run_passes import PASSES
from tests.case_files import Case, read_cases, read_folder
from tests.checker.plan_parts import find_parts, list_parts
from tests.checker.verdict_cases import decide_case, list_criteria
from tests.ontoweir.report.page_examples import list_examples
from tests.paths import ROOT

PASS_CASES = ROOT / "tests" / "rewriter" / "passes" / "cases"
CRITERION_CASES = ROOT / "tests" / "checker" / "criteria" / "cases"
PLAN_CASES = ROOT / "tests" / "checker" / "plans" / "cases"
_CONDITION = re.compile(r"^[A-Z]\d\b")


def missing(name: str, cases: Iterable[Case]) -> list[str]:
    """What is missing of a thing with these cases: one that fires, a twin."""
    kinds = {case.is_twin for case in cases}
    wanted = {False: "a case in which it fires", True: "a twin in which it does not"}
    return [f"{name}: {what}" for twin, what in wanted.items() if twin not in kinds]


def show(found: Iterable[str]) -> None:
    """Nothing is missing, or everything that is."""
    lines = sorted(found)
    assert not lines, "\n".join(["missing", *lines])


def cases_of(file: Path) -> list[Case]:
    """The cases of a file that may not be there."""
    return list(read_cases(file)) if file.exists() else []


def test_every_pass_has_cases() -> None:
    """That a case fires and a twin does not is seen in tests/rewriter/passes."""
    names = [rule.name for rule in PASSES]
    files = {name: PASS_CASES / f"{name.replace(' ', '-')}.md" for name in names}
    show(m for name in names for m in missing(name, cases_of(files[name])))
    assert sorted(PASS_CASES.glob("*.md")) == sorted(files.values())


def test_every_criterion_has_cases() -> None:
    """A case fires where the criterion of its file fails, a twin is one where it holds."""
    found: list[str] = []
    for key, _ in CRITERIA:
        fitting = []
        for case in cases_of(CRITERION_CASES / f"{key}.md"):
            said = [
                c for name, c in list_criteria(decide_case(case, disprove=False)) if name == key
            ]
            if said and all(c.holds for c in said) == case.is_twin:
                fitting.append(case)
        found += missing(key, fitting)
        conditions = {m[0] for case in fitting if (m := _CONDITION.match(case.title))}
        if key == "lag":
            conditions |= {name for name in CODES if _CONDITION.match(name)}
        for condition in sorted(conditions):
            mine = [case for case in fitting if case.title.startswith(f"{condition} ")]
            found += missing(f"{key} {condition}", mine)
    show(found)
    assert {file.stem for file in CRITERION_CASES.glob("*.md")} == {key for key, _ in CRITERIA}


def test_every_kind_of_plan_step_has_cases() -> None:
    """Some case's plan has it, and the plan of a twin after that case has not."""
    contrasts: set[str] = set()
    for _, cases in groupby(read_folder(PLAN_CASES), key=lambda case: case.file):
        before: frozenset[str] = frozenset()
        for case in cases:
            plans = decide_case(case, disprove=False).plans or ()
            parts = frozenset(part for plan in plans for part in find_parts(plan))
            if case.is_twin:
                assert before - parts, f"{case}: its plan has all that the case before it has"
                contrasts |= before - parts
            else:
                before = parts
    show(f"{part}: a case with it, and a twin without" for part in list_parts() - contrasts)


def test_every_diagnostic_has_examples() -> None:
    """That the first one fires and the second does not is seen in tests/ontoweir/report."""
    codes = [code for code in CODES.values() if len(list_examples(code)) != 2]
    show(f"{code}: an example for which it is told, and a mended one" for code in codes)
