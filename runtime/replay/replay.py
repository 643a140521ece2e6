"""Replay a bounded query over history: ranges of time side by side on Spark, chunk by chunk; what
is short, in this process."""

import dataclasses
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.mappings.expressions.derive_column import read_columns
from ontoweir.mappings.model.column_types import epoch_us
from ontoweir.progress.replay_progress import ProgressListener
from ontoweir.rewriter.algebra.is_injective import NO_VALUE, term_kind
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.changes.feed_of import feed_of, has_updates
from ontoweir.runtime.division.plan_division import plan_division
from ontoweir.runtime.engine.configure_run import RunConfig, StreamColumns, configure_run
from ontoweir.runtime.engine.execution import ExecutionContext, closes_values, drops_matched
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.ingest.enforced_columns import enforced_columns
from ontoweir.runtime.rdf.find_terms import RDF_FORMATS, find_terms, require_terms
from ontoweir.runtime.replay.choose_engine import EngineChoice, choose_engine
from ontoweir.runtime.replay.keep_last import LastRows
from ontoweir.runtime.replay.open_history import StagingArea, open_history, reads_here
from ontoweir.runtime.replay.ranges.plan_ranges import Ranges, plan_ranges
from ontoweir.runtime.replay.ranges.scan_ranges import RunTasks, Scanned, ScanOutput, scan_ranges
from ontoweir.runtime.replay.refuse_rejects import refuse_rejects
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary
from ontoweir.runtime.replay.run_connect import on_connect
from ontoweir.runtime.replay.run_here import in_process
from ontoweir.runtime.replay.run_ranges import on_spark
from ontoweir.runtime.results.render_results import MULTIPLICITY
from ontoweir.runtime.results.write_results import ResultWriter
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.verified_rows import VerifiedRows
from ontoweir.runtime.spark.count_cores import count_cores
from ontoweir.runtime.spark.refuse_connect import is_connect
from ontoweir.runtime.statics.load_statics import Session, load_statics
from ontoweir.runtime.times.late_rows import late_reason
from ontoweir.runtime.told.change_rows import ChangeRows
from ontoweir.runtime.told.held_rows import HeldRows
from ontoweir.runtime.verified.keep_pace import recall_pace
from ontoweir.runtime.verified.keep_verified import keep_verified
from ontoweir.runtime.verified.recall_statistics import recall_statistics
from ontoweir.runtime.verified.recall_verified import recall_verified
from ontoweir.runtime.verified.verification import ensure_kept
from ontoweir.runtime.verified.watch_rejects import RejectWatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CHUNK_BYTES = 32 << 20
"""Of the columns in use."""
_FEWEST, _MOST, _FEWEST_JOINED = 50_000, 524_288, 16_384
"""Rows of a chunk."""


def replay_history(
    job: QueryJob,
    request: ReplayRequest,
    *,
    spark: "Session | None" = None,
    progress: ProgressListener | None = None,
    statics: "Mapping[str, pa.Table] | None" = None,
) -> ReplaySummary:
    """Replay a query over the history of its streams; results appear at the end, whole.

    Args:
        job: the query.
        request: what of history, where its answers go, and in what portions.
        spark: the session, or what gives it where it is needed; default: `start_session`.
        progress: is called periodically with the progress of the tasks.
        statics: static relations loaded before (by `load_statics`); others are loaded.

    Raises:
        DataError: data is missing, unreadable, or breaks what the catalog declares.
        UsageError: the output cannot be written.
        QueryError: the query reads no stream.
        RunError: Spark failed, or the state exceeds its bound.
    """
    begun = time.perf_counter()
    config, verified = _configure(job, request)
    feed = feed_of(config.queries[0])
    schema = written = config.queries[0].schema if feed is None else feed.written
    if request.expand and MULTIPLICITY in schema.names:
        written = schema.remove(schema.get_field_index(MULTIPLICITY))
    terms = None
    if request.format in RDF_FORMATS:
        terms = find_terms(job.union, extend_catalog(job.catalog, job.union))
        require_terms(terms, written.names, request.format)
    with ResultWriter(request.output, request.format, written, terms) as writer:
        if not job.plans and not _begins_over_nothing(config, request):
            writer.commit()
            seconds = time.perf_counter() - begun
            return ReplaySummary(0, 0, 0, 0, job.bound, seconds, 0.0)
        # beside the output, which is where driver and workers have a place in common
        folder = Path(tempfile.mkdtemp(prefix=".ontoweir-replay-", dir=writer.beside))
        try:
            area = StagingArea(_once(spark), folder, _span(request), request.text_here, progress)
            work = _make_context(config, verified, request, area, statics or {})
            choice, scanned = _replay(config, work, request, area, writer)
            scanned = _add_late(work, scanned)
            if not request.most_rejected:
                refuse_rejects(work.histories, scanned.rejected)
            if request.rejects is not None:
                _write_rejects(request.rejects, job, scanned.rejected, area)
            if request.verification is not None:
                relations = tuple(recall_statistics(request.verification, config.relations).rows)
                request.verification.ensure_unchanged(job.catalog, tuple(verified), relations)
            for history in work.histories:
                ensure_kept(history)
            writer.commit()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.perf_counter() - begun
    return ReplaySummary(
        markers=scanned.markers,
        tuples=scanned.tuples,
        results=writer.rows,
        state_rows_max=scanned.most,
        bound_rows=job.bound,
        seconds=seconds,
        tuples_per_second=scanned.tuples / seconds if seconds > 0 else 0.0,
        late=sum(h.late.rows for h in work.histories),
        rejected=scanned.rejected,
        late_rows={h.stream.name: h.late for h in work.histories if h.late.rows},
        ranges=scanned.ranges,
        one_range_because=scanned.reason,
        engine="spark" if choice.spark else "driver",
        engine_because=choice.because,
        parts=1 if choice.division is None else choice.division.parts,
        broken=scanned.broken,
        on_disk=scanned.on_disk,
    )


def _begins_over_nothing(config: RunConfig, request: ReplayRequest) -> bool:
    """Whether a query has a row though nothing can match: without GROUP BY it has one over nothing,
    from the first timestamp of the streams that it names."""
    (query,) = config.queries
    if query.aggregates is None or query.aggregates.aggregation.told.group:
        return False
    return bool(config.streams) and (request.final or query.aggregates.begins)


def _configure(job: QueryJob, request: ReplayRequest) -> tuple[RunConfig, dict[str, VerifiedRows]]:
    """What the run derives from its query, and the streams whose rejected rows are known."""
    if request.verification is None:
        return configure_run([job], job.catalog), {}
    known = {
        name
        for name in request.verification.known.keys() & job.catalog.streams.keys()
        if reads_here(job.catalog.streams[name], request.text_here)
        # where rows that come late are in their order is known of all of them
        and (_span(request) == (None, None) or not job.catalog.streams[name].lateness_us)
    }
    trusting = configure_run([job], job.catalog, known)
    known &= trusting.streams.keys()
    wanted = {}
    for name in known:
        enforced = {column.name for column in enforced_columns(job.catalog.streams[name])}
        wanted[name] = _read_of_data(trusting.streams[name]) - enforced
    whole = _span(request) == (None, None)
    verified = recall_verified(request.verification, wanted, whole=whole)
    if verified.keys() == known:
        return trusting, verified
    return configure_run([job], job.catalog, verified.keys()), verified


def _read_of_data(columns: StreamColumns) -> set[str]:
    """The columns of the data that a run looks at: in the place of derived ones those that they are
    computed of, and without buckets of its timestamp."""
    stream = columns.stream
    read = read_columns(stream, columns.used)
    return {n for n in read if (c := stream.column(n)) is None or c.bucket is None}


def _replay(
    config: RunConfig,
    work: ExecutionContext,
    request: ReplayRequest,
    area: StagingArea,
    writer: ResultWriter,
) -> tuple[EngineChoice, Scanned]:
    """Write the answers of the one query of a run, without the commit."""
    job = config.queries[0].job
    groups, feed, given = work.aggregates, feed_of(config.queries[0]), work
    updated = request.final and feed is None and has_updates(groups)
    if updated:
        assert groups is not None
        whole = not groups.aggregation.group
        last_rows = dataclasses.replace(groups, final=True, begins=whole)
        work = dataclasses.replace(work, aggregates=last_rows)
    pace = None
    if area.span == (None, None):
        asked = (repr(job.union), request.format, str(request.final))
        pace = recall_pace(request.verification, work.histories, asked)
    choice = choose_engine(
        work,
        request,
        spark=area.spark,
        unbounded=job.unbounded,
        divide=lambda parts: plan_division(job, given, parts, changing=feed is not None),
        took=None if pace is None else pace.seconds,
    )
    begun = time.perf_counter()
    ranges = Ranges((), f"it is replayed in this process: {choice.because}")
    if choice.spark:
        ranges = _cut(work, area.spark, request, unbounded=job.unbounded)
    last: LastRows | ChangeRows | None = None
    if updated and groups is not None and len(ranges) > 1:  # a group may change in several of them
        last = LastRows(writer, groups.aggregation.group)
    held = HeldRows(writer, expand=request.expand) if request.final else None
    if feed is not None:
        last = ChangeRows(held or writer, feed, expand=request.expand and held is None)
    # what the driver has to look at again, it gets as Arrow
    again = writer.schema != work.schema or (work.distinct and len(ranges) > 1) or last is not None
    work = dataclasses.replace(work, parquet=request.format == "parquet" and not again)
    watch = None
    whole_here = not choice.spark and choice.division is None and area.span == (None, None)
    if request.verification is not None and whole_here:
        watch = RejectWatch()
    sink = writer if last is None else last
    output = ScanOutput(area.folder, sink, request.expand and feed is None)
    if choice.division is not None:
        from ontoweir.runtime.replay.parts.scan_parts import scan_parts

        scanned = scan_parts(work, choice.division, output, area.progress)
    else:
        spark = area.spark() if choice.spark else None
        with _runner(work, spark, area.folder, watch) as run:
            scanned = scan_ranges(work, ranges, run, output, area.progress)
    match last:
        case LastRows():
            last.finish()
        case ChangeRows():
            last.finish(scanned.now_us)
            if held is not None:
                held.finish()
            scanned = dataclasses.replace(scanned, most=scanned.most + last.most)
        case None:
            pass
    if pace is not None and whole_here:
        pace.keep(time.perf_counter() - begun)
    if request.verification is not None and watch is not None:
        keep_verified(request.verification, config.catalog, work.histories, watch)
    return choice, scanned


def _write_rejects(
    folder: Path, job: QueryJob, rejected: Mapping[str, int], area: StagingArea
) -> None:
    from ontoweir.runtime.replay.write_rejects import write_rejects  # few replays want them

    write_rejects(folder, configure_run([job], job.catalog), rejected, area)


def _add_late(work: ExecutionContext, scanned: Scanned) -> Scanned:
    """What was scanned, and the rows that were left out because they came late."""
    reasons = {late_reason(h.stream): h.late.rows for h in work.histories if h.late.rows}
    tuples = scanned.tuples + sum(reasons.values())
    return dataclasses.replace(scanned, tuples=tuples, rejected={**scanned.rejected, **reasons})


def _make_context(
    config: RunConfig,
    verified: Mapping[str, VerifiedRows],
    request: ReplayRequest,
    area: StagingArea,
    statics: "Mapping[str, pa.Table]",
) -> ExecutionContext:
    """Open the streams' history, stage what needs it, load the static data that is not given."""
    catalog = config.catalog
    histories = [
        open_history(catalog, columns, area, verified.get(name))
        for name, columns in config.streams.items()
    ]
    loaded = dict(statics)
    if missing := config.relations.keys() - loaded:
        loaded |= _load_missing(config, sorted(missing), request, area)
    work = config.make_context(
        config.queries[0],
        histories,
        loaded,
        key=uuid.uuid4().hex,
        span=area.span,
        rows_per_chunk=request.rows_per_chunk
        or _portion(histories, joined=config.queries[0].job.union.joined is not None),
    )
    place = work.spill and dataclasses.replace(work.spill, folder=str(area.folder / "spill"))
    rules = config.list_rules(config.queries[0], whole=True)
    return dataclasses.replace(work, rules=rules, spill=place)


def _portion(histories: Sequence[History], *, joined: bool = False) -> int:
    """About how many rows a task holds at once: every chunk takes some milliseconds of its own, and
    what is `joined` of rows that come and go has many changes for each row."""
    if joined:
        return _FEWEST_JOINED
    rows, size = sum(h.rows for h in histories), sum(h.size for h in histories)
    return max(_FEWEST, min(_MOST, _CHUNK_BYTES * rows // max(size, 1)))


def _load_missing(
    config: RunConfig, missing: Sequence[str], request: ReplayRequest, area: StagingArea
) -> dict[str, pa.Table]:
    """Relations that were not given: of those that are verified, the columns in use alone."""
    verified: dict[str, Collection[str]] = {}
    views = any(config.catalog.relations[n].data.view is not None for n in missing)
    if request.verification is not None and not views:
        known = recall_statistics(request.verification, missing)
        verified = {name: config.relations[name] for name in known.rows}
    place = area.folder / "statics"
    return load_statics(
        area.spark, config.catalog, missing, place, here=area.here, verified=verified
    )


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
    work: ExecutionContext,
    spark: "SparkSession | None",
    folder: Path,
    watch: RejectWatch | None,
) -> AbstractContextManager[RunTasks]:
    """What runs tasks: this process, or Spark."""
    if spark is None:
        return in_process(work, watch)
    if is_connect(spark):
        return on_connect(spark, work, folder)
    return on_spark(spark, work, folder)


def _cut(
    work: ExecutionContext,
    session: "Callable[[], SparkSession]",
    request: ReplayRequest,
    *,
    unbounded: bool,
) -> Ranges:
    """The ranges of time that tasks replay side by side."""
    if work.spill is not None:
        return Ranges((), "what a rule drops is kept on disk, and found in the order of time")
    if unbounded:
        return Ranges((), "the query is not bounded, nor is what ranges would exchange")
    if work.blocks:
        return Ranges((), "it reads the answers of a query, which are made in order of time")
    if closes_values(work):
        return Ranges((), "when values are closed, and groups final, is found in the order of time")
    if work.rules:
        return Ranges((), "which rows break a rule is found in the order of time")
    terms: dict[str, set[str]] = {}
    for name, output in (one for p in work.plans for one in p.form.query.outputs):
        terms.setdefault(name, set()).add(term_kind(output))
    several = any(len(kinds - {NO_VALUE}) > 1 for kinds in terms.values())
    counted = () if work.aggregates is None else work.aggregates.aggregation.aggregates
    apart = any(a.function is AggregateFunction.COUNT_DISTINCT for a in counted)
    if several and (work.distinct or apart):
        return Ranges((), "answers of one text may be several terms, which ranges tell by texts")
    if drops_matched(work):
        return Ranges(
            (), "rows are dropped when nothing can join them any more, in the order of time"
        )
    spark = session()
    wanted = count_cores(spark) if request.ranges is None else request.ranges
    return plan_ranges(work.histories, wanted, request.rows_per_range, work.span)


def _span(request: ReplayRequest) -> tuple[int | None, int | None]:
    """[start, stop) in µs."""
    start, stop = (None if t is None else _micros(t) for t in (request.start, request.stop))
    return start, stop


def _micros(moment: datetime) -> int:
    return epoch_us(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
