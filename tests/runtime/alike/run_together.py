"""Run queries together and each alone."""

import json
from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.model.normal_form import Kind
from ontoweir.runtime.alike import advance_alike as module
from ontoweir.runtime.alike.unite_texts import UnitedTexts
from ontoweir.runtime.columnar.columns import is_value
from ontoweir.runtime.engine import pool_texts
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
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState, QueryState, RunningQuery
from tests.oracle.random_queries import Case
from tests.oracle.run_kernel import few_touched
from tests.runtime.live_cases import cut_arrivals

Found = list[list[Any]]


def restart(job: LiveJob, state: LiveState) -> LiveState:
    """A state as a commit has it."""
    described = json.loads(json.dumps(describe_state(state)))
    tables = {n: decode_table(encode_table(t)) for n, t in list_tables(state).items()}
    streams = [h.stream.name for h in job.histories]
    return assemble_state(described, tables, streams, state.batch)


def run_job(job: LiveJob, batches: list[dict[str, pa.Table]], *, restarts: bool = False) -> Found:
    """By query, what each batch gives: answers in their order, and what is kept; `restarts`: each
    goes on from what is on the disk."""
    state = begin_live(job)
    found: Found = [[] for _ in job.queries]
    for batch in batches:
        outcome = advance_live(job, state, batch, 0.0)
        state = restart(job, outcome.state) if restarts else outcome.state
        for n, (answers, kept) in enumerate(zip(outcome.answers, state.queries, strict=True)):
            found[n].append((answers.to_pylist(), list_kept(job.queries[n], kept)))
    return found


def list_kept(query: RunningQuery, state: QueryState) -> Any:
    """What is kept, with texts in place of their codes."""
    assert isinstance(state, ExecutionState)
    tables = []
    for prepared, kernel, texts in zip(query.plans, state.kernels, state.texts, strict=True):
        strings = [*prepared.texts.texts.to_pylist(), *texts.to_pylist()]
        held = {n for n, c in enumerate(prepared.plan.form.classes) if c.kind is Kind.STRING}
        for members, frame in sorted(kernel.tables.items(), key=lambda entry: sorted(entry[0])):
            if not frame.rows:
                continue  # a plan that was not run yet has no table, one that was an empty one
            columns = [
                [strings[code] for code in column.tolist()]
                if is_value(name) and name[1] in held
                else _listed((name, column))
                for name, column in sorted(frame.columns.items())
            ]
            tables.append((sorted(members), Counter(zip(*columns, strict=True))))
    groups = {name: table.to_pydict() for name, table in from_groups(state.groups).items()}
    whole = groups.pop(".arrow", {})
    whole.pop("place", None)  # groups of one time come in the order of their codes
    rows = Counter(zip(*whole.values(), state.groups.changed.tolist(), strict=True))
    return tables, sorted(whole), rows, repr(groups)


def _listed(column: tuple[Any, Any]) -> list[Any]:
    return [(column[0], str(column[1].dtype), x) for x in column[1].tolist()]


def compare(
    case: Case, jobs: tuple[list[LiveJob], LiveJob], seed: int, monkeypatch: pytest.MonkeyPatch
) -> Counter[str]:
    """Run jobs of single queries and one of all of them, in several ways: they give and keep the
    same. How many queries went together, and with how many answers."""
    alone, whole = jobs
    together: Counter[str] = Counter()

    def count(*args: Any) -> module.Advanced:
        made = module.advance_alike(*args)
        together["queries"] += len(made)
        together["rows"] += sum(answers.num_rows for _, answers in made.values())
        for state, _ in made.values():
            together["texts kept"] += sum(isinstance(t, UnitedTexts) for t in state.strings)
            together["groups by texts"] += bool(state.groups.count and len(state.groups.texts))
        return made

    monkeypatch.setattr(live, "advance_alike", count)
    batches = cut_arrivals(case, Random(seed), {h.stream.name for h in whole.histories})
    found = run_job(whole, batches)
    shared = together["queries"]
    for number, job in enumerate(alone):
        streams = {h.stream.name for h in job.histories}
        mine = [{n: t for n, t in batch.items() if n in streams} for batch in batches]
        assert run_job(job, mine) == [found[number]], (seed, number)
    with few_touched():
        again = run_job(whole, batches)
    answers = [[a for a, _ in held] for held in found]
    assert [[a for a, _ in held] for held in again] == answers
    before = together["queries"]
    again = run_job(whole, batches, restarts=True)
    assert [[a for a, _ in held] for held in again] == answers
    assert together["queries"] - before == shared
    with monkeypatch.context() as fewer:  # only some go together
        fewer.setattr(module, "_MOST_ROWS", 6)
        assert run_job(whole, batches) == found
    with monkeypatch.context() as some:  # now and then each by itself
        turns = Random(seed)
        some.setattr(pool_texts, "_SPARE_TEXTS", -(1 << 30))  # and texts are forgotten at once
        some.setattr(live, "advance_alike", lambda *a: count(*a) if turns.random() < 0.5 else {})
        assert run_job(whole, batches) == found
    return together
