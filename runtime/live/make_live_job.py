"""Make the live job of some bounded queries."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.runtime.blocks.advance_blocks import prepare_blocks
from ontoweir.runtime.changes.feed_of import feed_of
from ontoweir.runtime.engine.configure_run import QueryConfig, configure_run
from ontoweir.runtime.engine.prepare_plan import prepare_plans
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.ingest.list_references import reference_checks
from ontoweir.runtime.live.model.live_job import LiveJob, RunningQuery
from ontoweir.runtime.rdf.find_terms import find_terms
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
    config = configure_run(jobs, catalog)
    histories = tuple(
        History(c.stream, c.select(c.spare()), (), staged=True, spare=c.spare())
        for c in config.streams.values()
    )
    together = uuid.uuid4().hex  # queries of a job see the same rows: a key is watched once for all

    def prepare(query: QueryConfig) -> RunningQuery:
        job = query.job
        work = config.make_context(query, histories, statics, key=job.name, watch=together)
        work = replace(work, rules=config.list_rules(query, whole=False))
        plans = prepare_plans(work)
        return RunningQuery(
            job.name,
            work,
            plans,
            job.bound,
            job.declarations,
            feed_of(query),
            prepare_blocks(work),
            terms=find_terms(job.union, extend_catalog(job.catalog, job.union)),
        )

    queries = tuple(map(prepare, config.queries))
    checks = reference_checks(config.references, statics)
    return LiveJob(queries, histories, checks, dict(idle_seconds), most_waiting)
