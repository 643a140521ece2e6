"""Replay a bounded query over history: ranges of time side by side on Spark, chunk by chunk; what
is short, in this process."""

import dataclasses
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from ontoweir.mappings.model.column_types import epoch_us
from ontoweir.runtime.engine.advance_rows import ExecutionContext, needed_static_columns, plan_step
from ontoweir.runtime.engine.aggregate_chunk import plan_aggregates
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.ingest.enforced_columns import enforced_columns
from ontoweir.runtime.ingest.list_references import list_references
from ontoweir.runtime.ingest.prove_domains import prove_domains
from ontoweir.runtime.replay.keep_last import LastRows
from ontoweir.runtime.replay.plan_ranges import Ranges, plan_ranges
from ontoweir.runtime.replay.replay_job import ProgressListener, ReplaySummary
from ontoweir.runtime.replay.run_connect import count_cores, on_connect
from ontoweir.runtime.replay.run_here import in_process
from ontoweir.runtime.replay.run_ranges import RunTasks, on_spark
from ontoweir.runtime.replay.scan_ranges import scan_ranges
from ontoweir.runtime.results.render_results import MULTIPLICITY, result_schema
from ontoweir.runtime.results.write_results import OutputFormat, ResultWriter
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.list_pieces import check_file, list_pieces
from ontoweir.runtime.sources.order_pieces import order_pieces
from ontoweir.runtime.sources.read_source import locate_source
from ontoweir.runtime.sources.stage_stream import stage_stream
from ontoweir.runtime.spark.refuse_connect import is_connect
from ontoweir.runtime.statics.gather_statistics import gather_statistics
from ontoweir.runtime.statics.load_statics import load_statics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "OutputFormat",
    "ProgressListener",
    "QueryJob",
    "ReplaySummary",
    "gather_statistics",
    "load_statics",
    "replay_history",
]

SMALL = 256 << 20
"""Bytes that a history's columns in use take, up to which it may be replayed in this process."""

SHORT = 6
"""A history of fewer rows than so many ranges is short: passes over ranges, and the start of their
tasks, cost about what this process needs for all."""

Session: TypeAlias = "SparkSession | Callable[[], SparkSession]"
"""A session, or what gives it where it is needed."""


def replay_history(
    job: QueryJob,
    *,
    output: Path,
    format: OutputFormat,
    spark: "Session | None" = None,
    start: datetime | None = None,
    stop: datetime | None = None,
    progress: ProgressListener | None = None,
    expand: bool = False,
    rows_per_chunk: int = 500_000,
    rows_per_range: int = 2_000_000,
    ranges: int | None = None,
    statics: "dict[str, pa.Table] | None" = None,
    small: int = SMALL,
    final: bool = False,
) -> ReplaySummary:
    """Replay a query over the history of its streams; results appear at the end, whole.

    Args:
        job: the query.
        output: the file to write.
        format: of the file.
        spark: the session, or what gives it where it is needed; default: `start_session`.
        start, stop: only timestamps in [start, stop); without a zone they are UTC.
        progress: is told every now and then how far the tasks are.
        expand: repeat rows instead of a column `multiplicity` (bag semantics).
        rows_per_chunk: about how many rows a Spark task holds at once.
        rows_per_range: a range of history, which one Spark task replays, has at least about so
            many rows.
        ranges: how many ranges there are at most (default: as many as Spark has cores).
        statics: static relations loaded before (by `load_statics`); others are loaded.
        small: a history of fewer rows than six ranges have, and of at most so many bytes, is
            replayed in this process, by the same code.
        final: of an aggregate query, write the last row of each group alone.

    Raises:
        DataError: data is missing, unreadable, or breaks what the catalog declares.
        UsageError: the output cannot be written.
        QueryError: the query reads no stream.
        RunError: Spark failed, or the state exceeds its bound.
    """
    begun = time.perf_counter()
    aggregates = (
        plan_aggregates(job.union, job.parts, job.catalog) if job.union.aggregation else None
    )
    schema = result_schema(job.union, job.catalog) if aggregates is None else aggregates.schema
    written = schema
    if expand and MULTIPLICITY in schema.names:
        written = schema.remove(schema.get_field_index(MULTIPLICITY))
    for plan in job.plans:
        plan_step(plan, job.catalog)
    with ResultWriter(output, format, written) as writer:
        if not job.plans:
            writer.commit()
            seconds = time.perf_counter() - begun
            return ReplaySummary(0, 0, 0, 0, job.bound, seconds, 0.0)
        # beside the output, which is where driver and workers have a place in common
        folder = Path(tempfile.mkdtemp(prefix=".ontoweir-replay-", dir=writer.beside))
        try:
            session = _once(spark)
            work = _prepare(job, session, folder, schema, (start, stop), rows_per_chunk, statics)
            work = dataclasses.replace(work, aggregates=aggregates)
            here = _is_small(work, small, ranges, rows_per_range)
            cut = here or _cut(work, session, ranges, rows_per_range, growing=job.growing)
            # what the driver has to look at again, it gets as Arrow
            last = _keep_last(writer, job) if final else None
            again = written != schema or (work.distinct and len(cut) > 1) or last is not None
            work = dataclasses.replace(work, parquet=format == "parquet" and not again)
            with _runner(work, None if here else session(), folder) as run:
                sink = writer if last is None else last
                found = scan_ranges(work, cut, run, folder, sink, progress, expand=expand)
            if last is not None:
                last.finish()
            writer.commit()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.perf_counter() - begun
    return ReplaySummary(
        markers=found.markers,
        tuples=found.tuples,
        results=writer.rows,
        state_rows_max=found.most,
        bound_rows=job.bound,
        seconds=seconds,
        tuples_per_second=found.tuples / seconds if seconds > 0 else 0.0,
        rejected=found.rejected,
        ranges=found.ranges,
        one_range_because=found.reason,
    )


def _keep_last(writer: ResultWriter, job: QueryJob) -> LastRows | None:
    """What keeps the last row of each group (None: there are no groups, so every row is final)."""
    aggregation = job.union.aggregation
    return None if aggregation is None else LastRows(writer, aggregation.group)


def _once(spark: "Session | None") -> "Callable[[], SparkSession]":
    """What gives the session, the same every time."""
    known: list[SparkSession] = []

    def give() -> "SparkSession":
        if not known:
            from ontoweir.runtime.spark.start_session import start_session

            given = spark or start_session
            known.append(given() if callable(given) else given)
        return known[0]

    return give


def _runner(
    work: ExecutionContext, spark: "SparkSession | None", folder: Path
) -> AbstractContextManager[RunTasks]:
    """What runs tasks: this process, or Spark."""
    if spark is None:
        return in_process(work)
    if is_connect(spark):
        return on_connect(spark, work, folder)
    return on_spark(spark, work, folder)


def _is_small(
    work: ExecutionContext, small: int, wanted: int | None, rows_per_range: int
) -> Ranges | None:
    """The one range of a history that is not worth a Spark job (None: it is)."""
    rows, size = (sum(h.rows for h in work.histories), sum(h.size for h in work.histories))
    if wanted is not None or rows >= SHORT * rows_per_range or size > small:
        return None
    return Ranges((), f"history has only {rows:,} rows, and is replayed without a Spark job")


def _cut(
    work: ExecutionContext,
    session: "Callable[[], SparkSession]",
    wanted: int | None,
    rows_per_range: int,
    *,
    growing: bool,
) -> Ranges:
    """The ranges of time that tasks replay side by side."""
    if growing:
        return Ranges((), "the query is not bounded, nor is what ranges would exchange")
    spark = session()
    if wanted is None:
        connected = is_connect(spark)
        wanted = count_cores(spark) if connected else spark.sparkContext.defaultParallelism
    return plan_ranges(work.histories, wanted, rows_per_range, work.span)


def _prepare(
    job: QueryJob,
    spark: "Callable[[], SparkSession]",
    folder: Path,
    schema: pa.Schema,
    span: tuple[datetime | None, datetime | None],
    rows_per_chunk: int,
    statics: "dict[str, pa.Table] | None",
) -> ExecutionContext:
    """Find the streams' history, stage what needs it, load the static data."""
    catalog = job.catalog
    start_us, stop_us = (None if t is None else _micros(t) for t in span)
    needed: dict[str, set[str]] = {}
    for plan in job.plans:
        for table, names in needed_static_columns(plan).items():
            needed.setdefault(table, set()).update(names)
    streams = sorted({m.stream for plan in job.plans for m in plan.form.members})
    references = list_references(catalog, streams)
    wanted = {t for t in needed if t in catalog.relations} | {r[2] for r in references}
    for reference in references:
        needed.setdefault(reference[0], set()).add(reference[1])
        needed.setdefault(reference[2], set()).add(reference[3])
    for name in streams:
        for key in catalog.streams[name].keys:
            needed.setdefault(name, set()).update(key)
    histories = []
    session: SparkSession | None = None
    for name in streams:
        stream = catalog.streams[name]
        located = locate_source(stream.data, name, catalog.file)
        if located.files is not None and not located.files and Path(located.path).is_dir():
            raise check_file(located.path, name)
        direct = stream.data.format == "parquet" and located.files is not None
        asked = needed.get(name, set())
        held = [c for c in enforced_columns(stream) if c.name not in asked]
        spare = {c.name for c in held}
        if direct and not stream.data.sort:
            spare -= prove_domains(located.files or (), held)
        columns = tuple(c.name for c in stream.columns if c.name in asked | spare)
        if direct and not stream.data.sort:
            pieces = list_pieces(
                located.files or (),
                stream,
                (*columns, stream.timestamp),
                start_us=start_us,
                stop_us=stop_us,
                spare=frozenset(spare),
            )
        else:
            if session is None:
                session = spark().newSession()
                session.conf.set("spark.sql.session.timeZone", "UTC")
                # what folders' names hold is text, also where all of it looks like numbers
                session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
            place = folder / name
            pieces = stage_stream(session, stream, located, columns, place, spark(), spare)
        staged = stream.data.sort or not direct
        histories.append(History(stream, columns, order_pieces(pieces), staged))
    loaded = {n: t for n, t in (statics or {}).items() if n in wanted}
    if missing := wanted - set(loaded):
        loaded |= load_statics(spark, catalog, missing, folder / "statics")
    return ExecutionContext(
        key=uuid.uuid4().hex,
        plans=job.plans,
        catalog=catalog,
        histories=tuple(histories),
        statics={n: table.select(sorted(needed[n])) for n, table in loaded.items()},
        references=references,
        schema=schema,
        distinct=job.union.distinct and job.union.aggregation is None,
        span=(start_us, stop_us),
        rows_per_chunk=rows_per_chunk,
        name=job.name,
        bound=job.bound,
        watched=job.watched,
    )


def _micros(moment: datetime) -> int:
    return epoch_us(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
