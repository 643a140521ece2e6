"""A replay as a scan over ranges of time (docs/execution.md; theory §8).

The state at the beginning of a range is a fold of what the ranges before it found, level by level:
first the partial matches of one stream, then, with these known everywhere, those of two, and so
on. Each level is one Spark job over the streams it needs, and the last one answers. Of two ranges,
the first finds all levels in one job, as it begins with nothing. Only synopses, which are bounded,
are exchanged.

The groups of an aggregate query are one level more: the tasks that read history for the last time
write what is new for the groups of their range, and return it folded to one row a group; what the
ranges before a range have found is a fold of these, and one job more, which reads no history, makes
answers of what the tasks have written.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from ontoweir.errors import OntoweirError
from ontoweir.progress.replay_progress import ProgressListener
from ontoweir.runtime.engine.aggregate_chunk import PartRows
from ontoweir.runtime.engine.close_groups import drop_final
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.engine.merge_group_deltas import merge_group_deltas
from ontoweir.runtime.engine.prepare_plan import prepare_plans
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.kernel.tables_of_size import ALL_SIZES, count_levels, level_streams
from ontoweir.runtime.pool.string_pool import no_texts
from ontoweir.runtime.replay.ranges.check_bound import check_bound
from ontoweir.runtime.replay.ranges.collect_parts import PartCollector, ProgressWatch
from ontoweir.runtime.replay.ranges.merge_states import merge_states
from ontoweir.runtime.replay.ranges.plan_ranges import Ranges, find_start
from ontoweir.runtime.replay.ranges.replay_range import (
    GroupTask,
    HistoryTask,
    RangeOutcome,
    RangeTask,
)
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY
from ontoweir.runtime.results.write_results import RowSink
from ontoweir.runtime.rules.enforce_rules import count_broken
from ontoweir.runtime.spill.spill_state import measure_spill

RunTasks: TypeAlias = Callable[[Sequence[RangeTask], Callable[[], None]], list[RangeOutcome]]
"""Runs tasks, and calls something again and again meanwhile."""


@dataclass(frozen=True, slots=True)
class ScanOutput:
    """Where a scan writes: `folder`, for what tasks exchange; `writer`, which takes the answers;
    `expand`: rows are repeated instead of a column `multiplicity`."""

    folder: Path
    writer: RowSink
    expand: bool = False


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan did; see ReplaySummary."""

    markers: int
    tuples: int
    most: int
    rejected: Mapping[str, int]
    ranges: int
    reason: str | None
    now_us: int | None = None
    """The last finished timestamp."""
    broken: Mapping[str, int] = field(default_factory=dict)
    """Rows that broke a rule and were let in, by rule."""
    on_disk: Mapping[str, int] = field(default_factory=dict)
    """As measure_spill."""


def scan_ranges(
    work: ExecutionContext,
    ranges: Ranges,
    run: RunTasks,
    output: ScanOutput,
    progress: ProgressListener | None,
) -> Scanned:
    """Replay all ranges; their answers go to the writer in the order of time.

    Raises:
        OntoweirError: as the tasks do.
    """
    if not any(h.rows for h in work.histories):
        return Scanned(0, 0, 0, {}, 1, "there is no history")
    scan = _Scan(work, ranges, run, output.folder, progress)
    starts = [begin_range(work, ranges.start(i)) for i in range(len(ranges))]
    if ranges.cuts:
        try:
            scan.find_starts(starts)
        except OntoweirError:
            # in order, the replay reports what is wrong first
            ranges = scan.ranges = Ranges((), "a range cannot be replayed")
            starts = [begin_range(work, None)]
    outcomes = scan.answer(starts, output.writer, output.expand)
    rejected: Counter[str] = Counter()
    for outcome in outcomes:
        rejected.update(outcome.rejected)
    return Scanned(
        markers=sum(o.progress.markers for o in outcomes),
        tuples=sum(o.progress.tuples for o in outcomes),
        most=max(o.most for o in outcomes),
        rejected=dict(rejected),
        ranges=len(ranges),
        reason=ranges.reason,
        now_us=max((n for o in outcomes if (n := o.progress.now_us) is not None), default=None),
        broken=count_broken(work.rules, outcomes[-1].state.rules),
        on_disk=measure_spill(outcomes[-1].state.spilled) if work.spill is not None else {},
    )


def begin_range(work: ExecutionContext, start: int | None) -> ExecutionState:
    """No state, before the first row at or after a moment in µs (None: of history)."""
    return ExecutionState(
        {h.stream.name: find_start(h, start) for h in work.histories},
        tuple(KernelState() for _ in work.plans),
        tuple(no_texts() for _ in work.plans),
        GroupState(),
    )


class _Scan:
    def __init__(
        self,
        work: ExecutionContext,
        ranges: Ranges,
        run: RunTasks,
        folder: Path,
        listener: ProgressListener | None,
    ) -> None:
        self.work, self.ranges, self.run, self.folder = work, ranges, run, folder
        levels = range(1, count_levels(work.plans) + 1) if len(ranges) > 2 else (ALL_SIZES,)
        self.levels = [
            level for level in levels if ranges.cuts and level_streams(work.plans, level)
        ]
        passes = sum(self._rows(level) for level in self.levels)
        total = passes * (len(ranges) - 1) // len(ranges) + self._rows(None)
        self.watch = ProgressWatch(listener, total, work.bound)

    def _rows(self, level: int | None) -> int:
        """The rows that a level reads (None: the answers)."""
        names = None if level is None else level_streams(self.work.plans, level, self.work.views)
        return sum(h.rows for h in self.work.histories if names is None or h.stream.name in names)

    def find_starts(self, starts: list[ExecutionState]) -> None:
        """Put the state at the beginning of every range into `starts`, level by level."""
        plans = prepare_plans(self.work)
        for level in self.levels:
            outcomes = self._read(starts[:-1], level, self._folder(f"level-{level}"))
            running = starts[0]
            for i, outcome in enumerate(outcomes):
                last = self.ranges.cuts[i] - 1
                running = merge_states(plans, running, outcome.state, last, level)
                starts[i + 1] = merge_states(plans, starts[i + 1], running, last, level)
                check_bound(self.work, starts[i + 1])
            self.watch.pass_over(sum(o.progress.tuples for o in outcomes))

    def answer(
        self, starts: Sequence[ExecutionState], writer: RowSink, expand: bool
    ) -> list[RangeOutcome]:
        """The last pass: every range answers."""
        names = None
        if self.work.distinct and len(starts) > 1:
            names = [n for n in self.work.schema.names if n not in (AT, MULTIPLICITY)]
        folder = self._folder("answers")
        joined = self.work.parquet
        collector = PartCollector(folder, writer, names, expand, joined)
        grouped = self.work.aggregates
        if grouped is not None and grouped.keeps_groups and len(starts) > 1:
            outcomes = self._group(starts, folder, collector)
        else:
            outcomes = self._read(starts, None, folder, collector)
        return outcomes

    def _group(
        self, starts: Sequence[ExecutionState], folder: str, collector: PartCollector
    ) -> list[RangeOutcome]:
        """What is new for groups, range by range, and then answers."""
        assert self.work.aggregates is not None
        place = self._folder("matches")
        outcomes = self._read(starts, None, place, grouped=True)
        tasks: list[RangeTask] = []
        before: PartRows = ()
        closed: int | None = None
        begun = False
        for outcome in outcomes:
            parts = outcome.progress.parts
            tasks.append(GroupTask(outcome.index, place, parts, before, folder, closed, begun))
            begun = begun or outcome.progress.markers > 0
            before = merge_group_deltas(self.work.aggregates, before, outcome.matches)
            closing, now = self.work.aggregates.bucket, outcome.progress.now_us
            if closing is not None and now is not None:
                before = drop_final(self.work.aggregates, closing, before, now)
                closed = now
        grouped = self._run(tasks, folder, collector)
        return [replace(o, most=g.most) for o, g in zip(outcomes, grouped, strict=True)]

    def _folder(self, name: str) -> str:
        made = self.folder / f"{name}-{uuid.uuid4().hex}"
        made.mkdir()
        return str(made)

    def _read(
        self,
        starts: Sequence[ExecutionState],
        level: int | None,
        folder: str,
        collector: PartCollector | None = None,
        *,
        grouped: bool = False,
    ) -> list[RangeOutcome]:
        """One pass over history."""
        start, stop = self.work.span
        tasks: list[RangeTask] = []
        for i, state in enumerate(starts):
            low, high = self.ranges.start(i), self.ranges.stop(i)
            task = HistoryTask(
                i,
                start if low is None else low,
                stop if high is None else high,
                level,
                state,
                folder,
                grouped,
            )
            tasks.append(task)
        return self._run(tasks, folder, collector)

    def _run(
        self, tasks: Sequence[RangeTask], folder: str, collector: PartCollector | None
    ) -> list[RangeOutcome]:
        def on_progress() -> None:
            if collector is not None:
                collector.take()
            self.watch.report(folder, range(len(tasks)))

        outcomes = self.run(tasks, on_progress)
        self.watch.report(folder, range(len(tasks)))
        if collector is not None:
            collector.take(outcomes)
        return outcomes
