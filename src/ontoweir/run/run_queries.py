"""Run checked queries live: the glue between verdicts and the run-time."""

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ontoweir.end_on_term import begin
from ontoweir.errors import Source, UsageError
from ontoweir.files.hold_lock import hold_lock
from ontoweir.files.put_object import refuse_address
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.run.prepare_live_run import check_live, prepare_run
from ontoweir.run.refuse_compaction import refuse_compaction
from ontoweir.run.run_options import RunOptions
from ontoweir.run.state_alarm import StateAlarm

if TYPE_CHECKING:
    import threading

    from pyspark.sql import SparkSession

    from ontoweir.checker.verdict.verdict import Verdict
    from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
    from ontoweir.runtime.live.output.sinks.sinks import Sink


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
        UsageError: the checkpoint is missing, of another run, damaged, or in use.
        DataError: data is missing, or breaks what is declared of static relations.
        RunError: failed while running; what was committed is intact.
    """
    checkpoint = options.checkpoint
    if checkpoint is None:
        raise UsageError(
            "there is no checkpoint",
            why="a run goes on from it after a stop; only registered queries have their own",
            fix="name a folder: RunOptions(checkpoint=…, output=…)",
        )
    verdicts = _decide(workspace, compiled, options)
    from ontoweir.runtime.live.await_live import await_live, stop_live
    from ontoweir.runtime.live.live_options import LiveOptions
    from ontoweir.runtime.live.output.redact_run import redact_run
    from ontoweir.runtime.live.parts.place_queries import place_queries
    from ontoweir.runtime.live.run_live import run_live

    sink = open_sink(options)
    session = open_session(options, spark)
    prepared = prepare_run(workspace, compiled, verdicts, session, options)
    alarm = StateAlarm(options.alarm, options.alarm_share, workspace.on_warning)
    record = _SessionRecord(alarm, options.progress)
    live = LiveOptions(
        checkpoint=checkpoint,
        output=options.output,
        once=options.once,
        seconds=options.seconds,
        on_state=record.take,
        sink=sink,
        metrics=options.metrics,
        listeners=options.listeners,
        parts_may_go=options.parts_may_go,
        keep_ns=options.keep_ns,
        compact=options.compact,
    )
    lock = hold_lock(checkpoint)
    if lock is None:
        raise UsageError(
            f"another process runs from the checkpoint {checkpoint}",
            why="two would write one state",
            fix="stop the other, or name another --checkpoint and --output",
            source=Source(str(checkpoint)),
        )
    begin(stop)
    placing = place_queries(
        prepared.job, prepared.jobs, session, checkpoint, options.engine, options.parts
    )
    try:
        with placing as placed:
            job = placed.job
            known = None
            if placed.former_identity is not None:
                known = identify_run(prepared.fingerprint, placed.former_identity)
            fingerprint = identify_run(prepared.fingerprint, placed.identity)
            running = run_live(job, fingerprint, session, live, known)
            try:
                await_live(running, stop, mask=lambda text: redact_run(text, job, sink))
            except KeyboardInterrupt:
                stop_live(running)
            finally:
                running.taker.close()
    finally:
        lock.release()
    return {**record.summarise(), "engines": placed.told}


def identify_run(fingerprint: str, divided: str) -> str:
    """What a run is, with how its queries are divided (empty: none is)."""
    from ontoweir.runtime.live.checkpoint.save_state import hash_parts

    return hash_parts([fingerprint, divided]) if divided else fingerprint


def _decide(
    workspace: Workspace, compiled: Sequence[CompiledQuery], options: RunOptions
) -> "list[Verdict]":
    """The verdict of each query; those that are not bounded are warned of.

    Raises:
        QueryError: a query is not bounded, and that is not allowed, or selects nothing.
    """
    anyway = options.allow_unbounded
    verdicts = [check_live(workspace, query, allow_unbounded=anyway) for query in compiled]
    for query, verdict in zip(compiled, verdicts, strict=True):
        if verdict.plans is None:
            workspace.on_warning(
                f"{query.name} is not known to be bounded: it runs, and its memory may grow with "
                "the streams"
            )
    return verdicts


class _SessionRecord:
    """What a run did since it was started, not what it did before that.

    `first` and `last`: its state at the start, and now; `most`: by query, the most rows held.
    """

    def __init__(self, alarm: StateAlarm, progress: bool) -> None:
        self.alarm, self.progress = alarm, progress
        self.begun = time.perf_counter()
        self.first: LiveState | None = None
        self.last: LiveState | None = None
        self.bounds: list[int | None] = []
        self.most: dict[str, int] = {}

    def take(self, state: "LiveState", job: "LiveJob") -> None:
        """Take the state after a micro-batch, or at the start."""
        from ontoweir.runtime.live.model.describe_live import describe_live

        self.first, self.last, self.job = self.first or state, state, job
        self.bounds = [query.bound for query in job.queries]
        self.alarm(state, job)
        for query, held in zip(job.queries, state.queries, strict=True):
            self.most[query.name] = max(self.most.get(query.name, 0), held.rows)
        if self.progress and sys.stderr.isatty():
            now = describe_live(state, job)
            print(
                f"batch {now['batch']}: {now['tuples']:,} tuples, {now['markers']:,} "
                f"markers, {now['results']:,} results, {now['rejected']:,} rejected",
                file=sys.stderr,
            )

    def summarise(self) -> dict[str, Any]:
        """The summary of the interface contract."""
        seconds = time.perf_counter() - self.begun
        assert self.first is not None
        assert self.last is not None
        before = self.first
        totals = {name: n - before.totals[name] for name, n in self.last.totals.items()}
        known = [bound for bound in self.bounds if bound is not None]
        return {
            "markers": totals["markers"],
            "tuples": totals["tuples"],
            "decided": totals["tuples"] + before.waiting - self.last.waiting,
            "results": totals["results"],
            "state_rows_max": sum(self.most.values()),
            "bound_rows": sum(known) if len(known) == len(self.bounds) else None,
            "seconds": round(seconds, 3),
            "tuples_per_second": round(totals["tuples"] / seconds, 1) if seconds else 0.0,
            "late": totals["late"],
            "rejected": totals["rejected"],
            "rejects": {n: c - before.reasons.get(n, 0) for n, c in self.last.reasons.items()},
            "broken": self._count_broken(),
        }

    def _count_broken(self) -> dict[str, int]:
        """The rows that broke rules and were let in, by rule; of queries that share one, once."""
        from ontoweir.runtime.live.measure_batch import count_let_in

        assert self.first is not None
        assert self.last is not None
        before, after = (count_let_in(self.job, state) for state in (self.first, self.last))
        return {rule: count - before.get(rule, 0) for rule, count in after.items()}


def open_sink(options: RunOptions) -> "Sink":
    """Where the answers of a run go.

    Raises:
        UsageError: an option of the sink is missing, or not known; files are to be merged, and the
            sink writes none that can be.
        CatalogError: an option names a variable of the environment that is not there.
    """
    from ontoweir.runtime.live.output.sinks.sinks import make_sink
    from ontoweir.runtime.spark.redact_secrets import resolve_options

    fix = "name a folder here; --sink delta with --sink-option path=… writes into object stores"
    refuse_address(options.output, "--output", fix)
    if options.checkpoint is not None:
        refuse_address(options.checkpoint, "--checkpoint", "name a folder of a disk")
    wanted = options.sink
    if options.compact is not None:
        refuse_compaction(options)
    if not isinstance(wanted, str):
        return wanted
    return make_sink(wanted, options.output, resolve_options(options.sink_options))


def open_session(options: RunOptions, spark: "SparkSession | None") -> "SparkSession":
    """The session given, or a new one with the properties that the run was asked for.

    Raises:
        UsageError: it is one of Spark Connect; or what is asked of Spark cannot be had.
        RunError: Spark does not start.
    """
    from ontoweir.runtime.spark.refuse_connect import refuse_connect
    from ontoweir.runtime.spark.start_session import start_session

    refuse_connect(spark, options.spark)
    return start_session(options.spark) if spark is None else spark
