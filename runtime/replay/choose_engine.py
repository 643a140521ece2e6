"""Where a history is replayed: in this process, by Spark's tasks side by side, or by processes
among which rows are divided by key.

All run the same code. Spark divides the work among its cores, but has to be started, and every pass
that finds where ranges begin reads what it needs again; ranges exchange states, which have to be
small. Processes that divide rows by key exchange nothing, but each reads all rows. So an estimate
decides: the time that this process takes for the first rows, and what follows from it for all.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.errors import OntoweirError, QueryError
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.advance_rows import advance_rows
from ontoweir.runtime.engine.execution import ExecutionContext, closes_values, drops_matched
from ontoweir.runtime.folded.list_folded import list_folded
from ontoweir.runtime.kernel.tables_of_size import count_levels
from ontoweir.runtime.replay.parts.may_fork import may_fork
from ontoweir.runtime.replay.ranges.prefetch_chunks import Asked, read_chunks
from ontoweir.runtime.replay.ranges.replay_range import PreparedWork, prepare_work
from ontoweir.runtime.replay.ranges.scan_ranges import begin_range
from ontoweir.runtime.replay.ranges.thin_chunks import list_narrow, list_thinned
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
"""One row of so many is replayed to know how long all take,"""
GLANCE, SURELY = 100, 1.5
"""unless one of so many says that all take less than what other ways take to start, so many times
over. Few rows say rather too much, as what begins a replay is a part of what they take."""
SHORT = 8
"""Of the rows of a sample one in so many may lack: none are read for these alone."""
WORTH = 1_000_000
"""Fewer rows are never worth Spark: this process takes about what Spark takes to start."""


PROCESS_STARTS = 1.0
"""Seconds that it takes more to replay with rows divided by key, however few these are, where
processes start anew, and load modules;"""
PROCESS_FORKS = 0.2
"""and where they are forked off: `benchmarks/scale/key_replay.py --rows 20000 --keys 1000`, which
found 0.05 to 0.11 on two cores with six processes waiting, and what an estimate may be wrong by."""
SOONER = 0.9
"""Where rows are divided by key because it was asked for, and take more of one process's time than
so much, that is said,"""
DOUBTED, MOST_DOUBTED = 4_000_000, 500_000
"""of so many rows or more, of which as many are replayed for that as for other estimates, but no
more than these. Of a few rows, reading the first ones is most of the work."""
MOST_PARTS = 8
"""Among more processes rows are never divided by key: each of them reads all."""
LARGE = 100_000
"""Rows of state from which on it is worth to divide them by key; fewer fit every process, and what
ranges of time exchange is little."""
EXCHANGED = 1e-6
"""Seconds that a row of state takes that ranges of time exchange, for each range."""

Divide: TypeAlias = Callable[[int], Division | str]
"""How rows are divided among so many processes, or half a sentence on why they are not."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Whether Spark's tasks replay, or processes among which rows are divided (None: this one),
    and why."""

    spark: bool
    because: str
    division: Division | None = None


@dataclass(frozen=True, slots=True)
class _Estimate:
    """Seconds that this process takes for all rows: `seconds`; of the work of its processors the
    share that is reading and admitting rows, which is not divided among processes: `read`."""

    seconds: float
    read: float


def choose_engine(
    work: ExecutionContext,
    request: ReplayRequest,
    *,
    spark: "Callable[[], SparkSession]",
    unbounded: bool,
    divide: Divide,
    took: float | None = None,
) -> EngineChoice:
    """Where to replay: as asked for, else where it is estimated to end earlier.

    Args:
        work: the query and its history.
        request: `engine`, `parts`, and the ranges that are wanted.
        spark: gives the session. It is started to know its cores where a cluster is named.
        unbounded: the query is not bounded: one range replays it.
        divide: how rows can be divided by key.
        took: seconds that all took in this process before (None: not known).

    Raises:
        QueryError: it was asked for to divide rows that cannot be divided.
    """
    if request.parts is not None and request.parts > 1:
        division = _require(divide(request.parts), work.name)
        because = f"rows are divided by key among {request.parts} processes, as it was asked for"
        return EngineChoice(
            spark=False, because=because + _doubt(work, division), division=division
        )
    if request.engine != "auto" or request.ranges is not None:
        return EngineChoice(spark=request.engine != "driver", because="as it was asked for")
    rows = sum(h.rows for h in work.histories)
    if work.spill is not None:
        because = "what a rule drops is kept on disk, so that its history is not divided"
        return EngineChoice(spark=False, because=because)
    if unbounded:
        because = "the query is not bounded, so that its history is not divided"
        return EngineChoice(spark=False, because=because)
    if work.blocks:
        because = "it reads the answers of a query, so that its history is not divided"
        return EngineChoice(spark=False, because=because)
    if closes_values(work):
        because = "when values are closed is found in the order of time"
        return EngineChoice(spark=False, because=because)
    if work.rules or drops_matched(work):
        what = "which rows break a rule is" if work.rules else "which rows can still be joined is"
        return EngineChoice(spark=False, because=f"{what} found in the order of time")
    if rows < WORTH or rows < 2 * request.rows_per_range:
        return EngineChoice(spark=False, because=f"history has only {rows:,} rows")
    return _compare(work, request, rows, spark, divide, took)


def _require(division: Division | str, name: str) -> Division:
    if isinstance(division, Division):
        return division
    raise QueryError(
        f"the rows of {name} cannot be divided by key: {division}",
        why="processes among which rows are divided do not exchange them",
        fix="leave out --parts; `ontoweir check --verbose` says by what rows can be divided",
    )


def _doubt(work: ExecutionContext, division: Division) -> str:
    """What is said of rows that are divided although one process is estimated to replay them about
    as soon; nothing of few rows, which are not estimated."""
    rows = sum(h.rows for h in work.histories)
    if rows < DOUBTED:
        return ""
    here = _estimate(work, max(min(rows // SAMPLE, MOST_DOUBTED), 1))
    if here is None:
        return ""
    apart = _divided_seconds(here, division.parts, _count_here())
    if apart < here.seconds * SOONER:
        return ""
    return (
        f": one process is estimated to replay them about as soon, in {here.seconds:.1f} s, as "
        f"{here.read:.0%} of its work is reading and admitting, which is not divided; what is "
        "divided is the state"
    )


def _divided_seconds(here: _Estimate, parts: int, cores: int) -> float:
    """Seconds for all rows, divided by key among so many processes."""
    share = max(1 / cores, here.read, (1 - here.read) / parts)
    return _process_starts() + here.seconds * share / max(here.read, 1 - here.read)


def _process_starts() -> float:
    return PROCESS_FORKS if may_fork() else PROCESS_STARTS


def _compare(
    work: ExecutionContext,
    request: ReplayRequest,
    rows: int,
    spark: "Callable[[], SparkSession]",
    divide: Divide,
    took: float | None,
) -> EngineChoice:
    """What is estimated to end earliest."""
    without = request.text_here and find_spec("pyspark") is None
    cores, start = _look(spark, cluster=not request.text_here)
    large = work.bound is None or work.bound >= LARGE
    parts = min(cores, MOST_PARTS) if large and request.text_here and request.parts is None else 1
    division = divide(parts) if parts > 1 else "its state is small, or there is one core"
    if without and isinstance(division, str):
        return EngineChoice(spark=False, because="pyspark is not installed")
    begins = [] if without else [start + SPARK_JOB]
    if isinstance(division, Division):  # which takes the cores' share of the time at best
        begins.append(_process_starts() / (1 - 1 / cores))
    if took is not None and took * SURELY < min(begins):
        because = f"it took {took:.1f} s in this process before"
        return EngineChoice(spark=False, because=because)
    sample = max(rows // (SAMPLE if took is not None else GLANCE), 1)
    here = _estimate(work, sample)
    if took is None and here is not None and here.seconds * SURELY >= min(begins):
        sample = max(rows // SAMPLE, 1)
        here = _estimate(work, sample)
    if here is None:
        return EngineChoice(spark=False, because="its first rows are not valid")
    told = [f"about {here.seconds:.1f} s in this process"]
    ways: list[tuple[float, bool, Division | None]] = [(here.seconds, False, None)]
    if not without:
        there = _by_ranges(work, here.seconds, min(cores, rows // max(request.rows_per_range, 1)))
        ways.append((start + there, True, None))
        of = f", {start:g} s of them for its start" if start else ""
        told.append(f"{start + there:.1f} s by Spark with {cores} cores{of}")
    if isinstance(division, Division):
        apart = _divided_seconds(here, parts, cores)
        ways.append((apart, False, division))
        told.append(f"{apart:.1f} s with rows divided by key among {parts} processes")
    _, by_spark, chosen = min(ways, key=lambda way: way[0])
    because = f"{', '.join(told)}; from the first {sample:,} of {rows:,} rows"
    if isinstance(division, str) and large and parts > 1:
        because += f"; rows are not divided by key: {division}"
    return EngineChoice(by_spark, because, chosen)


def _by_ranges(work: ExecutionContext, here: float, ranges: int) -> float:
    """Seconds that Spark's tasks take for ranges of time, where this process takes `here`."""
    # two ranges need no pass of their own to find where they begin
    passes = 1 + (count_levels(work.plans) if ranges > 2 else 1)
    seconds = passes * (SPARK_JOB + here * SHARE / max(ranges, 1))
    if work.bound is None or work.bound >= LARGE:
        rows = sum(h.rows for h in work.histories)
        held = rows if work.bound is None else min(rows, work.bound)
        seconds += (passes - 1) * ranges * held * EXCHANGED
    return seconds


def _look(spark: "Callable[[], SparkSession]", *, cluster: bool) -> tuple[int, float]:
    """The cores of Spark, and the seconds it still has to start."""
    if cluster or _is_started():
        return count_cores(spark()), 0.0
    return _count_here(), SPARK_STARTS


def _count_here() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_started() -> bool:
    """Whether this process has a session; pyspark is not imported to know it."""
    known = sys.modules.get("pyspark.sql")
    return known is not None and known.SparkSession.getActiveSession() is not None


def _estimate(work: ExecutionContext, rows: int) -> _Estimate | None:
    """What this process takes for all rows, from the first ones (None: they have an error, which
    the replay reports)."""
    total = sum(h.rows for h in work.histories)
    try:
        prepared = prepare_work(work)
        used = time.process_time()
        first = _replay_first(prepared, rows)
        used = time.process_time() - used
    except OntoweirError:
        return None
    read = max(used - first.advanced, 0.0)
    return _Estimate(first.project(total), read / max(read + first.advanced, 1e-9))


@dataclass(frozen=True, slots=True)
class _First:
    """The first rows replayed: how many, and seconds, of the first chunk of them and of all;
    `advanced`: seconds of a processor that all took but reading and admitting them."""

    begun: int
    begun_s: float
    done: int
    done_s: float
    advanced: float

    def project(self, total: int) -> float:
        """Seconds for so many rows: the first chunk also takes what begins a replay, however long,
        so the others say what each row takes, where there are others.

        >>> _First(50, 2.0, 100, 3.0, 0.0).project(1050)
        22.0
        >>> _First(100, 3.0, 100, 3.0, 0.0).project(1000)
        30.0
        """
        if self.done <= self.begun:
            return self.done_s * total / max(self.done, 1)
        each = (self.done_s - self.begun_s) / (self.done - self.begun)
        return self.begun_s + each * max(total - self.begun, 0)


def _replay_first(prepared: PreparedWork, rows: int) -> _First:
    """Replay about so many rows, and forget the answers; in two chunks where all rows count."""
    wanted = list_thinned(prepared.work, prepared.plans)
    most = rows if wanted else -(-rows // 2)
    work = replace(prepared.work, rows_per_chunk=min(most, prepared.work.rows_per_chunk))
    enough = rows - rows // SHORT
    state, done, advanced = begin_range(work, None), 0, 0.0
    start, first = time.perf_counter(), (0, 0.0)
    narrow, folding = list_narrow(work, work.histories), list_folded(work, prepared.plans)
    asked = Asked(wanted, enough, narrow, folding)
    with closing(
        read_chunks(work, work.histories, prepared.checks, state.cursors, work.span, asked=asked)
    ) as chunks:
        for chunk, admitted in chunks:
            begun = time.thread_time()
            state, _ = advance_rows(work, prepared.plans, admitted, chunk, state)
            advanced += time.thread_time() - begun
            done += sum(a.read for a in admitted.values())
            if not first[0]:
                first = done, time.perf_counter() - start
            if done >= enough:
                break
    return _First(*first, done, time.perf_counter() - start, advanced)
