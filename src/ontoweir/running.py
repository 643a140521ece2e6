"""Run checked queries live: the glue between verdicts and the run-time."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ontoweir.checker.verdict import Verdict
from ontoweir.describe_plan import describe_plan
from ontoweir.errors import QueryError
from ontoweir.pipeline import CompiledQuery, Workspace
from ontoweir.quiet_java import without_greeting
from ontoweir.replaying import list_tables, refusal
from ontoweir.rewriter.print_sql import print_sql
from ontoweir.run_options import RunOptions

if TYPE_CHECKING:
    import threading

    from pyspark.sql import SparkSession


def run_queries(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    options: RunOptions,
    spark: "SparkSession | None" = None,
    stop: "threading.Event | None" = None,
) -> dict[str, Any]:
    """Run queries until they are stopped (by Ctrl-C, or `stop`), or (once) until what is there has
    been read.

    Returns:
        the summary of the interface contract, of this session.

    Raises:
        QueryError: a query is not bounded, or selects nothing.
        UsageError: the checkpoint is of another run, or damaged.
        DataError: data is missing, or breaks what is declared of static relations.
        RunError: failed while running; what was committed is intact.
    """
    import time

    verdicts = [workspace.check(c) for c in compiled]
    for query, verdict in zip(compiled, verdicts, strict=True):
        if verdict.plans is None:
            raise refusal(query, verdict)
        if not verdict.plans:
            raise QueryError(
                f"{query.name} selects nothing",
                why="its conditions contradict each other, or the ontology or the catalog",
                fix="leave it out: --query names the queries to run",
                source=query.union.source,
            )
    from ontoweir.runtime.gather_statistics import gather_statistics
    from ontoweir.runtime.live_job import LiveJob, LiveState
    from ontoweir.runtime.load_statics import load_statics
    from ontoweir.runtime.make_live_job import make_live_job
    from ontoweir.runtime.mask_secrets import resolve_options
    from ontoweir.runtime.publish_batch import Sink, make_sink
    from ontoweir.runtime.replay_job import ReplayJob
    from ontoweir.runtime.run_live import LiveOptions, await_live, describe_live, mask_run, run_live
    from ontoweir.runtime.start_session import start_session

    wanted = options.sink
    sink: Sink = (
        make_sink(wanted, options.output, resolve_options(options.sink_options))
        if isinstance(wanted, str)
        else wanted
    )
    if spark is None:
        with without_greeting():
            session = start_session(options.spark)
    else:
        session = spark
    catalog = workspace.project.catalog
    names = {n for c in compiled for n in list_tables(c, catalog) if n in catalog.relations}
    statics = load_statics(session, catalog, names)
    known = gather_statistics(statics)
    jobs = []
    refined: list[Verdict] = []
    for query, verdict in zip(compiled, verdicts, strict=True):
        again = workspace.check(query, statistics=known)
        if again.plans is None or again.bound is None:
            raise refusal(query, again)
        refined.append(again)
        parts = tuple((p.part, len(p.plans)) for p in again.parts)
        jobs.append(
            ReplayJob(
                query.name,
                query.union,
                again.plans,
                catalog,
                again.bound.rows,
                verdict.declarations,
                parts,
            )
        )
    idle = {s.name: s.idle_us / 1e6 for s in catalog.streams.values() if s.idle_us is not None}
    job = make_live_job(jobs, catalog, statics, idle, options.most_waiting)
    begun = time.perf_counter()
    last: list[tuple[LiveState, LiveJob]] = []
    most = {query.name: 0 for query in job.queries}

    def told(state: LiveState, running: LiveJob) -> None:
        last[:] = [*last[:1], (state, running)]
        for query, held in zip(running.queries, state.queries, strict=True):
            most[query.name] = max(most[query.name], held.rows)
        if options.progress and sys.stderr.isatty():
            found = describe_live(state, running)
            print(
                f"batch {found['batch']}: {found['tuples']:,} tuples, {found['markers']:,} "
                f"markers, {found['results']:,} results, {found['rejected']:,} rejected",
                file=sys.stderr,
            )

    live = LiveOptions(
        checkpoint=options.checkpoint,
        output=options.output,
        once=options.once,
        seconds=options.seconds,
        told=told,
        sink=sink,
        metrics=options.metrics,
        listeners=options.listeners,
    )
    running = run_live(job, _fingerprint(workspace, compiled, refined, statics), session, live)
    try:
        await_live(running, stop, mask=lambda text: mask_run(text, job, sink))
    except KeyboardInterrupt:
        running.stop()
    seconds = time.perf_counter() - begun
    before, after = last[0][0].totals, last[-1][0].totals
    totals = {name: count - before[name] for name, count in after.items()}
    tuples = totals["tuples"]
    bounds = [q.bound for q in job.queries]
    return {
        "markers": totals["markers"],
        "tuples": tuples,
        "results": totals["results"],
        "state_rows_max": sum(most.values()),
        "bound_rows": None if None in bounds else sum(b for b in bounds if b is not None),
        "seconds": round(seconds, 3),
        "tuples_per_second": round(tuples / seconds, 1) if seconds else 0.0,
        "late": totals["late"],
        "rejected": totals["rejected"],
        "rejects": {
            reason: count - last[0][0].reasons.get(reason, 0)
            for reason, count in last[-1][0].reasons.items()
        },
    }


_WHERE = ("subscribe", "subscribepattern", "assign")


def _fingerprint(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    verdicts: Sequence[Verdict],
    statics: Any,
) -> str:
    """What a run is made of: the queries as unfolded, their plans, what is declared of their
    tables, and the static data."""
    from ontoweir.runtime.save_state import hash_parts, hash_table

    catalog = workspace.project.catalog
    parts: list[str | bytes] = []
    for query, verdict in zip(compiled, verdicts, strict=True):
        parts += [query.name, print_sql(query.union, catalog, comments=False)]
        parts += [line for plan in verdict.plans or () for line in describe_plan(plan)]
    for name, stream in sorted(catalog.streams.items()):
        columns = [(c.name, c.type, c.minimum, c.maximum, c.enum) for c in stream.columns]
        parts.append(
            repr(
                (
                    name,
                    stream.timestamp,
                    stream.step_us,
                    stream.start_us,
                    stream.max_per_timestamp,
                    columns,
                )
            )
        )
        parts.append(repr((stream.keys, stream.references)))
        # other files, or another topic, are other offsets; how they are read may change
        where = [(k, v) for k, v in stream.data.options if k.lower() in _WHERE]
        parts.append(repr((stream.data.format, stream.data.path, sorted(where))))
    for name, table in sorted(statics.items()):
        parts += [name, hash_table(table)]
    return hash_parts(parts)
