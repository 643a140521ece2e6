"""Make the live job of some bounded queries."""

import uuid
from collections.abc import Mapping, Sequence

import pyarrow as pa

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.engine.advance_rows import (
    ExecutionContext,
    needed_static_columns,
    plan_step,
    prepare_plan,
    reference_checks,
)
from ontoweir.runtime.engine.aggregate_chunk import plan_aggregates
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.ingest.enforced_columns import enforced_columns
from ontoweir.runtime.ingest.list_references import list_references
from ontoweir.runtime.live.model.live_job import LiveJob, LiveQuery
from ontoweir.runtime.results.render_results import result_schema
from ontoweir.runtime.sources.history import History


def make_live_job(
    jobs: Sequence[QueryJob],
    catalog: Catalog,
    statics: Mapping[str, pa.Table],
    idle_seconds: Mapping[str, float],
    most_waiting: int | None = None,
) -> LiveJob:
    """The queries together, each with its static data encoded.

    Args:
        jobs: bounded queries, each with at least one plan.
        catalog: the tables.
        statics: the static relations that the queries, or references of their streams, need.
        idle_seconds: by stream, after how long it holds the others back no more.
        most_waiting: how many rows may wait for a marker (None: any number).

    Raises:
        QueryError: a query reads no stream, or streams with different units of time.
    """
    needed: dict[str, set[str]] = {}
    for job in jobs:
        for plan in job.plans:
            plan_step(plan, catalog)
            for table, names in needed_static_columns(plan).items():
                needed.setdefault(table, set()).update(names)
    streams = sorted({m.stream for job in jobs for plan in job.plans for m in plan.form.members})
    references = list_references(catalog, streams)
    for stream, column, *_ in references:
        needed.setdefault(stream, set()).add(column)
    histories = []
    for name in streams:
        declared = catalog.streams[name]
        asked = needed.get(name, set()) | {c for key in declared.keys for c in key}
        spare = {c.name for c in enforced_columns(declared)} - asked
        columns = tuple(c.name for c in declared.columns if c.name in asked | spare)
        histories.append(History(declared, columns, (), staged=True, spare=frozenset(spare)))
    queries = []
    checks = {}
    start = uuid.uuid4().hex  # queries of a job see the same rows: a key is watched once for all
    for job in jobs:
        aggregates = (
            plan_aggregates(job.union, job.parts, catalog) if job.union.aggregation else None
        )
        work = ExecutionContext(
            key=job.name,
            plans=job.plans,
            catalog=catalog,
            histories=tuple(histories),
            statics=statics,
            references=references,
            schema=result_schema(job.union, catalog) if aggregates is None else aggregates.schema,
            distinct=job.union.distinct,
            span=(None, None),
            rows_per_chunk=0,
            aggregates=aggregates,
            watched=job.watched,
            watch=start,
        )
        prepared = tuple(prepare_plan(plan, work) for plan in job.plans)
        queries.append(LiveQuery(job.name, work, prepared, job.bound, job.declarations))
        checks = reference_checks(work)
    return LiveJob(tuple(queries), tuple(histories), checks, dict(idle_seconds), most_waiting)
