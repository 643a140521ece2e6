"""Queries that differ in constants give together what each gives alone: answers and state."""

import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.rewriter.model.spj import Compare, Condition, Constant, Op, SpjUnion
from ontoweir.runtime.alike import advance_alike as module
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live import advance_live as live
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.save_groups import from_groups
from ontoweir.runtime.live.checkpoint.state_tables import (
    assemble_state,
    decode_table,
    describe_state,
    encode_table,
    list_tables,
)
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState, QueryState
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.run_kernel import few_touched
from tests.oracle.test_aggregates_against_oracle import make_aggregates
from tests.runtime.live_cases import cut_arrivals, make_query, make_table

Found = list[list[Any]]


def _vary(union: SpjUnion, random: Random) -> SpjUnion:
    """The query with other constants."""

    def other(c: Condition) -> Condition:
        if not isinstance(c, Compare) or not isinstance(c.right, Constant) or c.op is Op.NE:
            return c
        number = c.right.value
        if isinstance(number, bool | str | float) or c.left.column == "ts":
            return c
        step = random.choice([-1, 0, 1, 2])
        return replace(
            c, right=Constant(number + (Decimal(step) / 10 if random.random() < 0.2 else step))
        )

    return replace(
        union,
        disjuncts=tuple(
            replace(q, conditions=tuple(map(other, q.conditions))) for q in union.disjuncts
        ),
    )


def _limit(union: SpjUnion, case: Case, random: Random) -> SpjUnion:
    """The query with limits of some columns."""
    disjuncts = []
    for query in union.disjuncts:
        conditions = list(query.conditions)
        for attribute in [c.left for c in query.conditions if isinstance(c, Compare)][:2]:
            occurrence = next(o for o in query.occurrences if o.alias == attribute.alias)
            column = case.catalog.table(occurrence.table).column(attribute.column)
            if column is None or type(column.type).__name__ not in ("IntType", "DecimalType"):
                continue
            op = random.choice([Op.LT, Op.LE, Op.GT, Op.GE])
            conditions.append(Compare(attribute, op, Constant(random.randint(0, 6))))
        disjuncts.append(replace(query, conditions=tuple(conditions)))
    return replace(union, disjuncts=tuple(disjuncts))


def _find(style: str, seed: int, *, grouped: bool) -> tuple[Case, list[LiveJob], LiveJob]:
    """A random case, jobs of single queries with different constants, and one of all of them."""
    while True:
        case = make_case(Random(seed), style=style)
        random = Random(seed)
        seed += 1000
        first = _limit(case.query, case, random) if random.random() < 0.7 else case.query
        if grouped:
            first = make_aggregates(random, replace(case, query=first))
        queries = []
        for number in range(4):
            union = _vary(first, random) if number else first
            verdict = check_query(union, case.catalog, disprove=False)
            if verdict.plans:
                queries.append(replace(make_query(case, verdict), name=f"q{number}"))
        if len(queries) < 2:
            continue
        statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
        alone = [make_live_job([q], case.catalog, statics, {}) for q in queries]
        return case, alone, make_live_job(queries, case.catalog, statics, {})


def _restart(job: LiveJob, state: LiveState) -> LiveState:
    """A state as a commit has it."""
    described = json.loads(json.dumps(describe_state(state)))
    tables = {n: decode_table(encode_table(t)) for n, t in list_tables(state).items()}
    streams = [h.stream.name for h in job.histories]
    return assemble_state(described, tables, streams, state.batch)


def _run(job: LiveJob, batches: list[dict[str, pa.Table]], *, restarts: bool = False) -> Found:
    """By query, what each batch gives: answers in their order, and what is kept; `restarts`: each
    goes on from what is on the disk."""
    state = begin_live(job)
    found: Found = [[] for _ in job.queries]
    for batch in batches:
        outcome = advance_live(job, state, batch, 0.0)
        state = _restart(job, outcome.state) if restarts else outcome.state
        for mine, answers, kept in zip(found, outcome.answers, state.queries, strict=True):
            mine.append((answers.to_pylist(), _kept(kept)))
    return found


def _kept(state: QueryState) -> Any:
    assert isinstance(state, ExecutionState)
    tables = [
        (sorted(members), Counter(zip(*map(_listed, sorted(frame.columns.items())), strict=True)))
        for kernel in state.kernels
        for members, frame in sorted(kernel.tables.items(), key=lambda entry: sorted(entry[0]))
    ]
    groups = {name: table.to_pydict() for name, table in from_groups(state.groups).items()}
    return tables, repr(groups), state.groups.changed.tolist()


def _listed(column: tuple[Any, Any]) -> list[Any]:
    return [(column[0], str(column[1].dtype), x) for x in column[1].tolist()]


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("style", sorted(STYLES))
def test_together_is_alone(
    style: str, grouped: bool, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    together: Counter[str] = Counter()

    def count(*args: Any) -> module.Advanced:
        made = module.advance_alike(*args)
        together["queries"] += len(made)
        together["rows"] += sum(answers.num_rows for _, answers in made.values())
        return made

    monkeypatch.setattr(live, "advance_alike", count)
    for seed in range(300 if pytestconfig.getoption("--long") else 8):
        case, alone, whole = _find(style, seed, grouped=grouped)
        batches = cut_arrivals(case, Random(seed), {h.stream.name for h in whole.histories})
        before = together["queries"]
        found = _run(whole, batches)
        shared = together["queries"] - before
        for number, job in enumerate(alone):
            streams = {h.stream.name for h in job.histories}
            mine = [{n: t for n, t in batch.items() if n in streams} for batch in batches]
            assert _run(job, mine) == [found[number]], (seed, number)
        with few_touched():
            again = _run(whole, batches)
        answers = [[a for a, _ in held] for held in found]
        assert [[a for a, _ in held] for held in again] == answers
        before = together["queries"]
        again = _run(whole, batches, restarts=True)
        assert [[a for a, _ in held] for held in again] == answers
        assert together["queries"] - before == shared
        with monkeypatch.context() as fewer:  # only some go together
            fewer.setattr(module, "_MOST_ROWS", 6)
            assert _run(whole, batches) == found
    assert together["queries"] if style == "keyed" else together["rows"], together
