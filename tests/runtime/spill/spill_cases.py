"""Random queries that are not bounded, with hardly a row in memory."""

from dataclasses import replace
from random import Random

import pyarrow as pa

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.plan_unbounded import plan_unbounded
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Op, SpjUnion
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.spill.spill_plan import SpillPlan, list_spilled
from tests.oracle.random_queries import (
    STYLES,
    Case,
    Style,
    make_case,
    make_catalog,
    make_data,
    make_query,
    sql_types,
)
from tests.runtime.live_cases import cut_arrivals, make_table

_EQUAL = Style(
    "equal",
    operators=(Op.EQ, Op.EQ, Op.EQ, Op.EQ, Op.LT, Op.NE),
    window=0.1,
    range=0.1,
    domain=0.1,
    projected=0.4,
    members=(2, 2, 3, 3, 4),
    joins=(1, 2, 2, 3, 4),
    offsets=(0,),
)


def make_joins(random: Random, markers: int = 8) -> Case:
    """A random case with joins by equal values, without rows that a run rejects, because they have
    NaN where the query may use it."""
    if random.random() < 0.2:
        case = make_case(random, style=random.choice(sorted(STYLES)), markers=markers)
    else:
        style = replace(_EQUAL, typed=random.random() < 0.6)
        catalog = make_catalog(random, 4, style)
        query = make_query(random, catalog, self_joins=True, style=style)
        data = make_data(random, catalog, markers)
        case = Case(catalog, query, data, markers, sql_types(catalog))
    data = {
        name: (columns, [row for row in rows if all(cell == cell for cell in row)])
        for name, (columns, rows) in case.data.items()
    }
    return replace(case, data=data)


def spill_query(random: Random, union: SpjUnion, catalog: Catalog) -> QueryJob | None:
    """A query whose synopses are on disk as far as they can be (None: it is bounded, or nothing of
    it can)."""
    if check_query(union, catalog, disprove=False).plans is not None:
        return None
    found = plan_unbounded(union, catalog)
    most = random.choice([0, 1, 3, 10])
    spill = []
    for plan in found.plans:
        tables = list_spilled(plan, without_last=False)
        spill.append(SpillPlan(tables, most) if tables else None)
    if not any(spill):
        return None
    return QueryJob(
        "q",
        union,
        found.plans,
        catalog,
        None,
        parts=found.parts,
        unbounded=True,
        spill=tuple(spill),
    )


def make_spilling(case: Case, query: QueryJob) -> LiveJob:
    """The live job of a case's query."""
    statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
    return make_live_job([query], case.catalog, statics, {})


def choose_spill(seed: int) -> tuple[LiveJob, list[dict[str, pa.Table]]]:
    """A random query that keeps rows on disk, and its rows in six micro-batches or more."""
    random = Random(seed)
    while True:
        case = make_joins(random)
        query = spill_query(random, case.query, case.catalog)
        if query is None:
            continue
        job = make_spilling(case, query)
        batches = cut_arrivals(case, random, {h.stream.name for h in job.histories})
        if len(batches) >= 6:
            return job, batches
