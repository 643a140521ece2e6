"""The counterexamples of the checker's case files: DuckDB reads the same text over every subset of
their tuples, before and after each suffix. Some of them here; all, and with more tuples, by
`python -m tests.oracle.run_seeds 0 60 counterexamples-cases --tuples 6`."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from tests.checker.decide.test_verdict_cases import CASES
from tests.checker.verdict_cases import parse_case
from tests.oracle.budget import count_tuples
from tests.oracle.tell_subsets import tell_subsets
from tests.read_given import read_catalog

UNBOUNDED = [case for case in CASES if "verdict: unbounded" in case.blocks.get("verdict", "")]


def check(number: int) -> str:
    """The counterexample of one of the cases, whose number may be any."""
    case = UNBOUNDED[number % len(UNBOUNDED)]
    text, catalog = case.given("sql"), read_catalog(case.given("toml"))
    timed = "model: arrival" not in case.blocks["verdict"]
    verdict = check_query(parse_case(case), catalog, timed=timed, size=count_tuples())
    assert verdict.witness is not None, case
    if "SYSTEM_TIME" in text:
        return "not DuckDB's SQL"
    told = tell_subsets(text, catalog, verdict.witness)
    assert told == 2 ** count_tuples(), case
    return f"{told} subsets"


@pytest.mark.parametrize("number", range(3, len(UNBOUNDED), 14))
def test_duckdb_tells_all_subsets_apart(number: int) -> None:
    assert check(number) == "8 subsets"
