"""Random cases as live jobs."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import Stream
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.sources.read_source import BAD
from tests.oracle.random_queries import Case, make_case


def make_table(case: Case, name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Rows of a stream as a source gives them, or of a relation."""
    columns, _ = case.data[name]
    declared = case.catalog.table(name)
    cells = {}
    for place, c in enumerate(columns):
        column = declared.column(c)
        kind = pa.int64() if column is None else arrow_type(column.type)
        cells[c] = pa.array([r[place] for r in rows], kind, from_pandas=False)
    if isinstance(declared, Stream):
        cells[BAD] = pa.nulls(len(rows), pa.string())
    return pa.table(cells)


def make_query(case: Case, verdict: Verdict, emit: Emit = Emit.ANSWERS) -> QueryJob:
    """A case's query, which is bounded, ready to run."""
    assert verdict.plans is not None
    assert verdict.bound is not None
    bound = bound_changes(verdict, case.catalog) if emit in CHANGING else verdict.bound
    return QueryJob(
        "q",
        verdict.union,
        verdict.plans,
        case.catalog,
        bound.rows,
        emit=emit,
        parts=tuple((p.part, len(p.plans)) for p in verdict.parts),
    )


def make_job(case: Case, verdict: Verdict, emit: Emit = Emit.ANSWERS) -> LiveJob:
    """The live job of a case's query, which is bounded."""
    job = make_query(case, verdict, emit)
    statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
    return make_live_job([job], case.catalog, statics, {})


def find_case(style: str | None = None, seed: int = 0) -> Iterator[tuple[Case, LiveJob]]:
    """Random cases whose queries are bounded, from a seed on."""
    while True:
        case = make_case(Random(seed)) if style is None else make_case(Random(seed), style=style)
        verdict = check_query(case.query, case.catalog, disprove=False)
        if verdict.plans:
            yield case, make_job(case, verdict)
        seed += 1


def cut_arrivals(case: Case, random: Random, streams: set[str]) -> list[dict[str, pa.Table]]:
    """Micro-batches: every stream's rows in order of time, cut anywhere, streams out of step."""
    left = {n: list(case.data[n][1]) for n in sorted(streams)}
    batches = []
    while any(left.values()):
        batch = {}
        for name, rows in left.items():
            count = random.randint(0, max(3, len(rows) // 2))
            taken, left[name] = rows[:count], rows[count:]
            mixed = random.sample(taken, k=len(taken))
            batch[name] = make_table(case, name, mixed)
        batches.append(batch)
    return batches
