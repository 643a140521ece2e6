"""Replay a bounded query over history, on Spark: a scan over chunks that end at markers."""

import dataclasses
import pickle
import shutil
import tempfile
import time
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ontoweir.errors import OntoweirError, RunError
from ontoweir.mappings.column_types import epoch_us
from ontoweir.runtime.advance_rows import (
    ReplayState,
    ReplayWork,
    needed_static_columns,
    plan_step,
)
from ontoweir.runtime.aggregate_chunk import plan_aggregates
from ontoweir.runtime.gather_statistics import gather_statistics
from ontoweir.runtime.history import Cursor, History
from ontoweir.runtime.kernel import KernelState
from ontoweir.runtime.list_pieces import check_file, list_pieces
from ontoweir.runtime.list_references import list_references
from ontoweir.runtime.load_statics import load_statics
from ontoweir.runtime.read_source import locate_source
from ontoweir.runtime.render_results import MULTIPLICITY, result_schema
from ontoweir.runtime.replay_chunk import ChunkOutcome, replay_chunk, unpack_outcome
from ontoweir.runtime.replay_job import OutputFormat, ProgressListener, ReplayJob, ReplaySummary
from ontoweir.runtime.stage_stream import stage_stream
from ontoweir.runtime.start_session import start_session
from ontoweir.runtime.update_groups import GroupState
from ontoweir.runtime.write_results import ResultWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "OutputFormat",
    "ProgressListener",
    "ReplayJob",
    "ReplaySummary",
    "gather_statistics",
    "load_statics",
    "replay_history",
    "start_session",
]

_EXPANDED = 1 << 20
"""Rows repeated at once."""


def replay_history(
    job: ReplayJob,
    *,
    output: Path,
    format: OutputFormat,
    spark: "SparkSession | None" = None,
    start: datetime | None = None,
    stop: datetime | None = None,
    progress: ProgressListener | None = None,
    expand: bool = False,
    rows_per_chunk: int = 500_000,
    statics: "dict[str, pa.Table] | None" = None,
) -> ReplaySummary:
    """Replay a query over the history of its streams; results appear at the end, whole.

    Args:
        job: the query.
        output: the file to write.
        format: of the file.
        spark: the session; default: `start_session()`.
        start, stop: only timestamps in [start, stop); without a zone they are UTC.
        progress: is told after every chunk.
        expand: repeat rows instead of a column `multiplicity` (bag semantics).
        rows_per_chunk: about how many rows one Spark task reads.
        statics: static relations loaded before (by `load_statics`); others are loaded.

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
        folder = Path(tempfile.mkdtemp(prefix="ontoweir-replay-"))
        try:
            session = spark or start_session()
            work = _prepare(job, session, folder, schema, (start, stop), rows_per_chunk, statics)
            work = dataclasses.replace(work, aggregates=aggregates)
            return _scan(job, work, session, writer, progress, expand, begun)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _prepare(
    job: ReplayJob,
    spark: "SparkSession",
    folder: Path,
    schema: pa.Schema,
    span: tuple[datetime | None, datetime | None],
    rows_per_chunk: int,
    statics: "dict[str, pa.Table] | None",
) -> ReplayWork:
    """Find the streams' history, stage what needs it, load the static data."""
    catalog = job.catalog
    start_us, stop_us = (None if t is None else _micros(t) for t in span)
    needed: dict[str, set[str]] = {}
    for plan in job.plans:
        for table, names in needed_static_columns(plan).items():
            needed.setdefault(table, set()).update(names)
    streams = sorted({m.stream for plan in job.plans for m in plan.form.members})
    references = list_references(job, streams)
    wanted = {t for t in needed if t in catalog.relations} | {r[2] for r in references}
    for reference in references:
        needed.setdefault(reference[0], set()).add(reference[1])
    for name in streams:
        for key in catalog.streams[name].keys:
            needed.setdefault(name, set()).update(key)
    histories = []
    session: SparkSession | None = None
    for name in streams:
        stream = catalog.streams[name]
        located = locate_source(stream.data, name, catalog.file)
        columns = tuple(c.name for c in stream.columns if c.name in needed.get(name, ()))
        if located.files is not None and not located.files and Path(located.path).is_dir():
            raise check_file(located.path, name)
        direct = stream.data.format == "parquet" and located.files is not None
        if direct and not stream.data.sort:
            pieces = list_pieces(
                located.files or (),
                stream,
                (*columns, stream.timestamp),
                start_us=start_us,
                stop_us=stop_us,
            )
        else:
            if session is None:
                session = spark.newSession()
                session.conf.set("spark.sql.session.timeZone", "UTC")
            pieces = stage_stream(session, stream, located, columns, folder / name)
        staged = stream.data.sort or not direct
        histories.append(History(stream, columns, pieces, staged))
    loaded = {n: t for n, t in (statics or {}).items() if n in wanted}
    if missing := wanted - set(loaded):
        loaded |= load_statics(spark, catalog, missing)
    return ReplayWork(
        key=uuid.uuid4().hex,
        plans=job.plans,
        catalog=catalog,
        histories=tuple(histories),
        statics=loaded,
        references=references,
        schema=schema,
        distinct=job.union.distinct,
        span=(start_us, stop_us),
        rows_per_chunk=rows_per_chunk,
    )


def _micros(moment: datetime) -> int:
    return epoch_us(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _scan(
    job: ReplayJob,
    work: ReplayWork,
    spark: "SparkSession",
    writer: ResultWriter,
    progress: ProgressListener | None,
    expand: bool,
    begun: float,
) -> ReplaySummary:
    """Run chunk after chunk, each with the state of the one before."""
    state = ReplayState(
        {h.stream.name: Cursor() for h in work.histories},
        tuple(KernelState() for _ in job.plans),
        tuple(() for _ in job.plans),
        GroupState(),
    )
    total = sum(h.rows for h in work.histories)
    markers = tuples = most = 0
    rejected: Counter[str] = Counter()
    context = spark.sparkContext
    packed = context.broadcast(pickle.dumps(work))
    try:
        done = total == 0
        while not done:
            outcome = _run(spark, work.key, packed, state)
            state, done = outcome.state, outcome.done
            markers, tuples = markers + outcome.markers, tuples + outcome.tuples
            rejected.update(outcome.rejected)
            most = max(most, state.rows)
            _check_bound(job, state)
            _write(writer, outcome.results, expand)
            if progress is not None and outcome.now_us is not None:
                progress.update(
                    markers=markers,
                    tuples=tuples,
                    total_tuples=total,
                    state_rows=state.rows,
                    bound=job.bound,
                    at=datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=outcome.now_us),
                )
    finally:
        packed.destroy()
    writer.commit()
    seconds = time.perf_counter() - begun
    return ReplaySummary(
        markers=markers,
        tuples=tuples,
        results=writer.rows,
        state_rows_max=most,
        bound_rows=job.bound,
        seconds=seconds,
        tuples_per_second=tuples / seconds if seconds > 0 else 0.0,
        rejected=dict(rejected),
    )


def _run(spark: "SparkSession", key: str, packed: object, state: ReplayState) -> ChunkOutcome:
    """One Spark job with one task."""
    carried = pickle.dumps(state)
    task = spark.sparkContext.parallelize([carried], 1).map(
        lambda item: replay_chunk(key, packed, item)
    )
    try:
        found = task.collect()[0]
    except OntoweirError:
        raise
    except Exception as error:
        lines = [x.strip() for x in str(error).splitlines() if x.strip()]
        cause = next((x for x in reversed(lines) if "Error" in x and "at org." not in x), "")
        raise RunError(
            f"a Spark task failed: {(cause or (lines or [type(error).__name__])[0])[:400]}",
            why="the replay cannot go on without it",
            fix="see Spark's log; if the cause lies in ontoweir, report it with this message",
        ) from error
    return unpack_outcome(found)


def _check_bound(job: ReplayJob, state: ReplayState) -> None:
    if job.bound is None or state.rows <= job.bound:
        return
    sizes = []
    for plan, kernel in zip(job.plans, state.kernels, strict=True):
        for table in plan.tables:
            frame = kernel.tables.get(table.members)
            if frame is not None:
                names = ", ".join(plan.form.members[i].alias for i in sorted(table.members))
                sizes.append(f"{{{names}}} {frame.rows} of {table.bound.rows}")
    if state.groups.rows:
        sizes.append(f"groups {state.groups.rows}")
    raise RunError(
        f"{job.name}: the state has {state.rows} rows, more than its bound of {job.bound} "
        f"({'; '.join(sizes)})",
        why="a bounded query never exceeds its bound: a declaration does not hold, or the plan "
        "is wrong",
        fix="check the declarations its verdict rests on; if they hold, report this",
    )


def _write(writer: ResultWriter, results: bytes, expand: bool) -> None:
    table = pa.ipc.open_stream(results).read_all()
    if not expand or MULTIPLICITY not in table.column_names:
        writer.write(table)
        return
    counts = table.column(MULTIPLICITY).to_numpy()
    rows = table.drop_columns([MULTIPLICITY])
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    for first in range(0, total, _EXPANDED):
        position = np.arange(first, min(first + _EXPANDED, total))
        writer.write(rows.take(pa.array(np.searchsorted(ends, position, side="right"))))
