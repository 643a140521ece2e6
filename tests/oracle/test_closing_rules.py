"""Groups of values that a rule closes, replayed and live, against an evaluation row by row: on
streams that keep the rule, and on streams that break it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, example, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import ClosingRule
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.budget import SEEDS, budget
from tests.oracle.closing_cases import (
    MARKERS,
    ClosingCase,
    evaluate,
    keeps_rule,
    make_closing_case,
)
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import run_live
from tests.runtime.in_process import EPOCH, replay_here, store


def _show(case: ClosingCase, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = [*(name[2:] for name in case.group), *(name for name, _ in case.shown)]
    return [(*(row[n] for n in names), (row["at"] - EPOCH).microseconds) for row in rows]


def _list_places(case: ClosingCase, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What rows are in order of: their time, then their group; NULL is last."""
    names = [name[2:] for name in case.group]
    return [(row["at"], *((row[n] is None, row[n] or 0) for n in names)) for row in rows]


def compare(random: Random, case: ClosingCase) -> None:
    """Assert that a case's query is bounded, and answered as an evaluation row by row does; live,
    at every finished timestamp; and that its state keeps its bound."""
    catalog = case.catalog
    union = parse_sql(case.sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.plans is not None, case.sql
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    whole = Case(catalog, union, case.data, MARKERS, {"page.k": "VARCHAR", "page.last": "BOOLEAN"})
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        live, done = run_live(whole, verdict, random, Path(folder))
        for marker in range(done + 1):
            told = [row for row in _show(case, live) if row[-1] <= marker]
            assert Counter(told) == Counter(evaluate(case, marker)), (case.sql, marker)
        stored, statics = store(whole, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q", union, verdict.plans, stored, verdict.bound.rows, verdict.declarations, parts
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1, "ranges": 3}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options)
    read = [*case.page, *(() if case.wait is None else case.buy)]
    end = max((row[-1] for row in read), default=-1)
    assert Counter(_show(case, rows)) == Counter(evaluate(case, end)), case.sql
    for found in (live, rows):
        assert _list_places(case, found) == sorted(_list_places(case, found))
    kept = keeps_rule(case)
    event(f"keeps the rule: {kept}")
    if kept:  # then each group is whole
        assert {row[:-1] for row in _show(case, rows)} <= {
            row[:-1] for row in evaluate(_unruled(case), 3 * MARKERS)
        }
        keys = Counter(row[: len(case.group)] for row in _show(case, rows))
        assert max(keys.values(), default=1) == 1


def _unruled(case: ClosingCase) -> ClosingCase:
    """The case in which nothing is closed before all rows have come."""
    rule = ClosingRule(("k",), gap_us=2 * MARKERS - (case.wait or 0))
    return replace(case, rule=rule)


@given(SEEDS)
@example(510)  # its rows break the rule: groups of a chunk are final in several turns
@budget(0.3)
def test_groups_are_answered_when_their_values_are_closed(seed: int) -> None:
    random = Random(seed)
    compare(random, make_closing_case(random))


@given(SEEDS)
@budget(0.08)
def test_groups_by_what_few_rows_of_a_value_have(seed: int) -> None:
    """Any values of other columns, of which there are as few as rows of open values."""
    random = Random(seed)
    case = make_closing_case(random)
    if case.rule.span_us is not None:
        return
    most = max(Counter(row[0] for row in case.page).values(), default=1)
    limited = replace(case, rule=replace(case.rule, most_rows=most))
    compare(random, replace(limited, group=random.choice([("p.k", "p.cost"), ("p.cost", "p.k")])))
