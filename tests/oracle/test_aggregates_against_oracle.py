"""Aggregates, run by kernel and groups, against what DuckDB's matches aggregate to in Python."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import BooleanType, DateType, FloatType, StringType
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import LiteralOutput, SpjUnion
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.runtime.engine.aggregate_chunk import (
    MatchBatch,
    advance_groups,
    plan_aggregates,
)
from ontoweir.runtime.groups.read_numbers import read_numbers
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.results.render_results import AT, render_results
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case, make_case, split_markers
from tests.oracle.relational import Row, answers, load
from tests.oracle.run_kernel import run_chunks

_EPOCH = datetime(1970, 1, 1)


def make_aggregates(random: Random, case: Case) -> SpjUnion:
    """A random grouping of a case's query, with random aggregates."""
    union = case.query
    types = Types(case.catalog, union.disjuncts[0].occurrences)
    group = tuple(v for v in union.variables if random.random() < 0.4)
    aggregates: dict[tuple[AggregateFunction, str | None], None] = {}
    for name, output in union.disjuncts[0].outputs:
        assert isinstance(output, LiteralOutput)
        if random.random() < 0.3:
            continue
        match types.type_of(output.value):
            case StringType() | BooleanType():
                fitting = [AggregateFunction.COUNT_DISTINCT]
            case DateType():
                fitting = [AggregateFunction.MIN, AggregateFunction.QUANTILE]
            case FloatType():
                fitting = [AggregateFunction.MIN, AggregateFunction.MEDIAN]
            case _:
                fitting = [
                    f
                    for f in AggregateFunction
                    if f is not AggregateFunction.COUNT and not f.varies and not f.lists
                ]
        aggregates[(random.choice(fitting), name)] = None
    if not aggregates or random.random() < 0.4:
        aggregates[(AggregateFunction.COUNT, None)] = None
    tenth = Fraction(random.randint(0, 10), 10)
    named = tuple(
        Aggregate(
            f"a{i}",
            f,
            v,
            fraction=tenth if f.takes_fraction else None,
        )
        for i, (f, v) in enumerate(aggregates)
    )
    aggregation = Aggregation(group, named, (*group, *(a.name for a in named)))
    kept = aggregation.variables
    return replace(
        union,
        variables=kept,
        disjuncts=tuple(
            replace(q, outputs=tuple((v, dict(q.outputs)[v]) for v in kept))
            for q in union.disjuncts
        ),
        distinct=not aggregation.duplicate_sensitive,
        aggregation=aggregation,
    )


def aggregate_naively(union: SpjUnion, matches: Counter[Row]) -> dict[Row, Row]:
    """The groups of some matches, in exact arithmetic."""
    assert union.aggregation is not None
    groups: dict[Row, list[tuple[dict[str, Any], int]]] = defaultdict(list)
    for row, count in matches.items():
        values = dict(zip(union.variables, row, strict=True))
        groups[tuple(values[v] for v in union.aggregation.group)].append((values, count))
    return {
        group: tuple(_compute(a, rows) for a in union.aggregation.aggregates)
        for group, rows in groups.items()
    }


def _compute(aggregate: Aggregate, rows: Sequence[tuple[dict[str, Any], int]]) -> Any:
    argument = aggregate.argument
    if argument is None:
        return sum(count for _, count in rows)
    values = [(row[argument], count) for row, count in rows]
    match aggregate.function:
        case AggregateFunction.COUNT:
            return sum(count for _, count in values)
        case AggregateFunction.COUNT_DISTINCT:
            return len({v for v, _ in values})
        case AggregateFunction.MIN:
            return min(v for v, _ in values)
        case AggregateFunction.MAX:
            return max(v for v, _ in values)
        case AggregateFunction.SUM:
            return sum(Fraction(v) * count for v, count in values)
        case AggregateFunction.AVG:
            total = sum(Fraction(v) * count for v, count in values)
            return float(total / sum(count for _, count in values))
        case AggregateFunction.SUM_DISTINCT:
            return sum(Fraction(v) for v in {v for v, _ in values})
        case AggregateFunction.AVG_DISTINCT:
            once = {Fraction(v) for v, _ in values}
            return float(sum(once) / len(once))
        case AggregateFunction.QUANTILE:
            assert aggregate.fraction is not None
            every = sorted(v for v, count in values for _ in range(count))
            return every[max(ceil(aggregate.fraction * len(every)), 1) - 1]
        case AggregateFunction.PERCENTILE:
            assert aggregate.fraction is not None
            row = sorted(Fraction(v) for v, count in values for _ in range(count))
            place = aggregate.fraction * (len(row) - 1)
            low, high = row[floor(place)], row[ceil(place)]
            return float(low + (high - low) * (place - floor(place)))
        case (
            AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.REGR_SXX
        ):
            raise AssertionError("they are of doubles (test_variances.py)")
        case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
            raise AssertionError("they are of buckets (test_lists.py)")
        case AggregateFunction.MEDIAN:
            flat = sorted(Fraction(v) for v, count in values for _ in range(count))
            middle = (flat[(len(flat) - 1) // 2], flat[len(flat) // 2])
            return float(sum(middle) / 2)


def run_groups(
    case: Case, union: SpjUnion, verdict: Verdict, chunks: Sequence[tuple[int, int]]
) -> tuple[list[dict[Row, Row]], list[list[Row]], int]:
    """The groups after every marker, the updates of every marker, and the most rows held."""
    assert union.aggregation is not None
    counted = [(p.part, len(p.plans)) for p in verdict.parts]
    work = plan_aggregates(union, counted, case.catalog)
    runs = [
        [(plan, run_chunks(plan, case.catalog, case.data, chunks)) for plan in part.plans]
        for part in verdict.parts
    ]
    state, most = GroupState(), 0
    updates: dict[int, list[Row]] = defaultdict(list)
    for number, _ in enumerate(chunks):
        tables = []
        held = 0
        texts = state.texts if number % 2 else None  # of texts, or of their codes
        for found, schema, plans in zip(verdict.parts, work.schemas, runs, strict=True):
            entries = []
            for plan, run in plans:
                results, kernel, pool = next(run)
                held += kernel.rows
                table = render_results(results, plan.form, case.catalog, schema, pool, 1, texts)
                numbers = read_numbers(found.part, plan, results, work.scales)
                entries.append(MatchBatch(table, numbers))
            tables.append(entries)
        changed, state = advance_groups(work, tables, state)
        most = max(most, held + state.rows)
        for row in changed.to_pylist():
            at = row.pop(AT)
            marker = round((at - _EPOCH).total_seconds() * 1e6)
            updates[marker].append(tuple(row[c] for c in union.aggregation.columns))
    size = len(union.aggregation.group)
    current: dict[Row, Row] = {}
    after = []
    for marker in range(case.markers):
        for update in updates[marker]:
            assert current.get(update[:size]) != update[size:], "told, but not changed"
            current[update[:size]] = update[size:]
        after.append(dict(current))
    return after, [updates[m] for m in range(case.markers)], most


def expect(case: Case, union: SpjUnion) -> list[dict[Row, Row]]:
    """The groups after every marker, by DuckDB's matches."""
    base = load(case.data, case.types)
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    query = union.disjuncts[0]
    matches = answers(base, query, stamps, distinct=False, markers=case.markers)
    return [aggregate_naively(union, found) for found in matches]


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.5)
@given(seed=SEEDS)
def test_groups_equal_oracle(style: str, seed: int) -> None:
    random = Random(seed)
    case = make_case(random, style=style)
    union = make_aggregates(random, case)
    check_aggregates(union, case.catalog)
    verdict = check_query(union, case.catalog, disprove=False)
    event(str(verdict.tier))
    if verdict.plans is None:
        return
    expected = expect(case, union)
    if verdict.tier is Tier.UNSATISFIABLE:
        assert not expected[-1]
        return
    one, told, most = run_groups(case, union, verdict, [(m, m) for m in range(case.markers)])
    assert one == expected
    assert verdict.bound is not None
    assert verdict.bound.rows is None or most <= verdict.bound.rows
    for chunks in (split_markers(random, case.markers), [(0, case.markers - 1)]):
        assert run_groups(case, union, verdict, chunks)[:2] == (one, told)
