"""Runs `cases/*.md`: what a plan keeps, a file for each kind of step, with twins that do without.

A case is a query, `sql`, over a catalog, `toml`, and its `plan`, as `ontoweir rewrite --show plan`
prints it. A twin's plan has less than that of the case before it (tests/checker/plan_parts.py).
Plans of matches are also run over small random data, against DuckDB after every timestamp; those of
aggregates are in tests/oracle.
"""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection

from ontoweir.report.describe_plan import describe_plan
from tests.case_files import Case, Golden, read_folder
from tests.checker.verdict_cases import decide_case, parse_case
from tests.oracle.random_rows import random_rows, sql_types
from tests.oracle.relational import Row, answer, load
from tests.oracle.run_kernel import run_plans
from tests.read_given import read_catalog

CASES = read_folder(Path(__file__).parent / "cases")
MATCHES = [case for case in CASES if parse_case(case).aggregation is None]
SEEDS, STEPS, ROWS = 3, 16, 20


@pytest.mark.parametrize("case", CASES, ids=str)
def test_plan(case: Case, golden: Golden) -> None:
    plans = decide_case(case).plans
    assert plans
    golden(case, "plan", "\n\n".join("\n".join(describe_plan(plan)) for plan in plans))


@pytest.mark.parametrize("case", MATCHES, ids=str)
def test_plan_gives_the_answers(case: Case) -> None:
    """After every timestamp the answers so far are the join's, and no more rows are kept than the
    bound says."""
    catalog, verdict = read_catalog(case.given("toml")), decide_case(case)
    timestamps = {s.name: s.timestamp for s in catalog.streams.values()}
    (query,), distinct = verdict.union.disjuncts, verdict.union.distinct
    steps = [(step, step) for step in range(STEPS)]
    total = 0
    for seed, base in enumerate(_bases(case.given("toml"))):
        rows = random_rows(catalog, seed, rows=ROWS, steps=STEPS)
        found, sizes = run_plans(verdict.plans or (), catalog, rows, steps)
        so_far: Counter[Row] = Counter()
        for step in range(STEPS):
            so_far.update(found.get(step, Counter()))
            assert so_far == answer(base, query, timestamps, distinct=distinct, upto=step)
        total += so_far.total()
        if verdict.bound is not None and verdict.bound.rows is not None:
            assert max(sizes) <= verdict.bound.rows
    assert total, "the random data says nothing"


@cache
def _bases(toml: str) -> tuple[DuckDBPyConnection, ...]:
    """Databases of random rows of a catalog."""
    catalog = read_catalog(toml)
    data = (random_rows(catalog, seed, rows=ROWS, steps=STEPS) for seed in range(SEEDS))
    return tuple(load(rows, sql_types(catalog)) for rows in data)
