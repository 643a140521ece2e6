"""Decide queries of the exhaustive family, and execute every plan and witness against DuckDB."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

import duckdb

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.choose_plan import choose_plan
from ontoweir.checker.split.split_ranges import split_ranges
from ontoweir.checker.witness.find_witness import find_witness
from ontoweir.checker.witness.witness import Witness
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion, output_attributes
from tests.oracle.exhaustive_family import CATALOG, Shape
from tests.oracle.random_queries import R, Rows, Tables
from tests.oracle.relational import Row, load, where
from tests.oracle.run_kernel import run_kernel


class Outcome(StrEnum):
    """What is known of a query."""

    PLAN = "plan"
    WITNESS = "witness"
    NEITHER = "neither"
    UNSATISFIABLE = "unsatisfiable"


@dataclass(frozen=True, slots=True)
class Decided:
    """A query of the family and what the checker found."""

    query: SpjUnion
    outcome: Outcome
    form: NormalForm
    plans: tuple[SynopsisPlan, ...] = ()
    witness: Witness | None = None


def decide_shape(shape: Shape) -> tuple[Decided, Decided]:
    """The bag query, and the set query."""
    bag = shape.query(distinct=False)
    form = normalise_query(bag.disjuncts[0], distinct=False, catalog=CATALOG)
    return _decide(bag, form), _decide(replace(bag, distinct=True), replace(form, distinct=True))


def _decide(union: SpjUnion, form: NormalForm) -> Decided:
    """As check_query does, without its explanations."""
    if not form.satisfiable:
        return Decided(union, Outcome.UNSATISFIABLE, form)
    lag = decide_lag(form)
    if lag.holds:
        plan = choose_plan(form)
        if isinstance(plan, SynopsisPlan):
            return Decided(union, Outcome.PLAN, form, (plan,))
    elif union.distinct:
        plans = _split(union.disjuncts[0])
        if plans:
            return Decided(union, Outcome.PLAN, form, plans)
    witness = find_witness(form, union, lag.failures, CATALOG)
    outcome = Outcome.NEITHER if witness is None else Outcome.WITNESS
    return Decided(union, outcome, form, witness=witness)


def _split(query: SpjQuery) -> tuple[SynopsisPlan, ...]:
    """The plans of parts that a set query is split into, if all have one."""

    def normal(part: SpjQuery) -> NormalForm:
        return normalise_query(part, distinct=True, catalog=CATALOG)

    parts = split_ranges(query, normal)
    plans = [choose_plan(normal(part)) for part in parts] if len(parts) > 1 else []
    made = tuple(p for p in plans if isinstance(p, SynopsisPlan))
    return made if len(made) == len(plans) else ()


@dataclass(frozen=True, slots=True)
class History:
    """Random data for all streams, and a database that holds it."""

    data: Tables
    markers: int
    base: duckdb.DuckDBPyConnection


def make_histories(count: int, *, markers: int = 6, seed: int = 0) -> list[History]:
    """Some histories of few values, so that comparisons of every kind hold and fail."""
    histories = []
    for number in range(count):
        random = Random(f"{seed} {number}")
        data: Tables = {}
        for name in CATALOG.streams:
            rows: Rows = []
            for ts in range(markers):
                for _ in range(random.choice([0, 1, 1, 2, R])):
                    free = [random.randint(-1, 4) for _ in "uv"]
                    rows.append((*free, random.randint(0, 2), random.randint(0, 2), ts))
            data[name] = (["u", "v", "p", "q", "ts"], rows)
        histories.append(History(data, markers, load(data, {})))
    return histories


def answers_by_marker(history: History, query: SpjQuery, *, distinct: bool) -> list[Counter[Row]]:
    """DuckDB's answers that each marker adds: a match is there when its last tuple is."""
    outputs = [f'"{a.alias}"."{a.column}"' for _, o in query.outputs for a in output_attributes(o)]
    latest = ", ".join(f'"{o.alias}".ts' for o in query.occurrences)
    tables = ", ".join(f'"{o.table}" AS "{o.alias}"' for o in query.occurrences)
    at = f"greatest({latest})"
    head = ", ".join([*outputs, f"min({at})" if distinct else at, "count(*)"])
    group = ", ".join([*outputs] if distinct else [*outputs, at])
    sql = f"SELECT {head} FROM {tables} WHERE {' AND '.join(where(query) or ['true'])}"
    sql += f" GROUP BY {group}" if group else ""
    found: list[Counter[Row]] = [Counter() for _ in range(history.markers)]
    for *values, marker, count in history.base.execute(sql).fetchall():
        if count:
            found[marker][tuple(values)] = 1 if distinct else count
    return found


def check_plan(decided: Decided, history: History, chunks: Sequence[tuple[int, int]]) -> None:
    """Assert that the plans' results are DuckDB's after every marker, within their bounds."""
    query = decided.query
    found: dict[int, Counter[Row]] = {}
    told: set[Row] = set()
    runs = []
    for plan in decided.plans:
        results, sizes = run_kernel(plan, CATALOG, history.data, chunks)
        runs.append(results)
        if plan.bound.rows is not None:
            assert max(sizes) <= plan.bound.rows, plan.bound.formula
    for marker in range(history.markers):
        found[marker] = Counter()
        for results in runs:
            found[marker].update(results.get(marker, Counter()))
        if len(runs) > 1:  # parts of a set: a result is told once
            found[marker] = Counter(dict.fromkeys(found[marker].keys() - told, 1))
            told.update(found[marker])
    right = answers_by_marker(history, query.disjuncts[0], distinct=query.distinct)
    for marker, expected in enumerate(right):
        assert found[marker] == expected, f"at marker {marker}"
