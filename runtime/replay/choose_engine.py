"""Where a history is replayed: in this process, or by Spark's tasks side by side.

Both run the same code. Spark divides the work among its cores, but has to be started, and every
pass that finds where ranges begin reads what it needs again. So an estimate decides: the time that
this process takes for the first rows, and what follows from it for all.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ontoweir.errors import OntoweirError
from ontoweir.runtime.engine.advance_rows import advance_rows
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.kernel.tables_of_size import count_levels
from ontoweir.runtime.replay.ranges.prefetch_chunks import read_chunks
from ontoweir.runtime.replay.ranges.replay_range import PreparedWork, prepare_work
from ontoweir.runtime.replay.ranges.scan_ranges import begin_range
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.spark.count_cores import count_cores

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_STARTS = 4.0
"""Seconds that a session takes to start (`spark_start_seconds` of a replay's summary has them)."""
SPARK_JOB = 1.0
"""Seconds that a pass over history takes beside its tasks' work: workers start, and load plans."""
SHARE = 1.3
"""What Spark's tasks take together, of what this process takes."""
SAMPLE = 20
"""One row of so many is replayed to know how long all take."""
WORTH = 1_000_000
"""Fewer rows are never worth Spark: this process takes about what Spark takes to start."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Whether Spark's tasks replay, and why."""

    spark: bool
    because: str


def choose_engine(
    work: ExecutionContext,
    request: ReplayRequest,
    *,
    spark: "Callable[[], SparkSession]",
    unbounded: bool,
) -> EngineChoice:
    """Where to replay: as asked for, else where it is estimated to end earlier.

    Args:
        work: the query and its history.
        request: `engine`, and the ranges that are wanted.
        spark: gives the session. It is started to know its cores where a cluster is named.
        unbounded: the query is not bounded: one range replays it.
    """
    if request.engine != "auto" or request.ranges is not None:
        return EngineChoice(spark=request.engine != "driver", because="as it was asked for")
    rows = sum(h.rows for h in work.histories)
    if unbounded:
        because = "the query is not bounded, so that its history is not divided"
        return EngineChoice(spark=False, because=because)
    if work.blocks:
        because = "it reads the answers of a query, so that its history is not divided"
        return EngineChoice(spark=False, because=because)
    if rows < WORTH or rows < 2 * request.rows_per_range:
        return EngineChoice(spark=False, because=f"history has only {rows:,} rows")
    if request.text_here and find_spec("pyspark") is None:
        return EngineChoice(spark=False, because="pyspark is not installed")
    cores, start = _look(spark, cluster=not request.text_here)
    here = _estimate(work, max(rows // SAMPLE, 1))
    if here is None:
        return EngineChoice(spark=False, because="its first rows are not valid")
    # two ranges need no pass of their own to find where they begin
    ranges = min(cores, rows // max(request.rows_per_range, 1))
    passes = 1 + (count_levels(work.plans) if ranges > 2 else 1)
    there = start + passes * (SPARK_JOB + here * SHARE / max(ranges, 1))
    return EngineChoice(
        spark=there < here,
        because=f"about {here:.1f} s in this process, {there:.1f} s by Spark with {cores} cores"
        + (f", {start:g} s of them for its start" if start else "")
        + f"; from the first {rows // SAMPLE:,} of {rows:,} rows",
    )


def _look(spark: "Callable[[], SparkSession]", *, cluster: bool) -> tuple[int, float]:
    """The cores of Spark, and the seconds it still has to start."""
    if cluster or _is_started():
        return count_cores(spark()), 0.0
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)), SPARK_STARTS
    return os.cpu_count() or 1, SPARK_STARTS


def _is_started() -> bool:
    """Whether this process has a session; pyspark is not imported to know it."""
    known = sys.modules.get("pyspark.sql")
    return known is not None and known.SparkSession.getActiveSession() is not None


def _estimate(work: ExecutionContext, rows: int) -> float | None:
    """The seconds that this process takes for all rows, from the first ones (None: they have an
    error, which the replay reports)."""
    total = sum(h.rows for h in work.histories)
    try:
        prepared = prepare_work(work)
        begun = time.perf_counter()
        done = _replay_first(prepared, rows)
        return (time.perf_counter() - begun) * total / max(done, 1)
    except OntoweirError:
        return None


def _replay_first(prepared: PreparedWork, rows: int) -> int:
    """Replay about so many rows, and forget the answers; how many they were."""
    work = replace(prepared.work, rows_per_chunk=min(rows, prepared.work.rows_per_chunk))
    state, done = begin_range(work, None), 0
    with closing(
        read_chunks(work, work.histories, prepared.checks, state.cursors, work.span)
    ) as chunks:
        for chunk, admitted in chunks:
            state, _ = advance_rows(work, prepared.plans, admitted, chunk, state)
            done += sum(a.read for a in admitted.values())
            if done >= rows:
                break
    return done
