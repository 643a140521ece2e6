"""Gather what the tasks of a replay write: answers in the order of time, and progress."""

import pickle
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.progress.replay_progress import ProgressListener, ReplayProgress
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.groups.repeat_rows import repeat_rows
from ontoweir.runtime.replay.ranges.replay_range import (
    RangeOutcome,
    RangeProgress,
    part_file,
    progress_file,
)
from ontoweir.runtime.results.render_results import MULTIPLICITY
from ontoweir.runtime.results.write_results import RowSink


class PartCollector:
    """Writes the answers of one range after the other, as they appear, and removes their files.

    Args:
        folder: where the tasks write.
        writer: takes the answers.
        first: of answers with equal variables, only the first is one (set semantics, where
            ranges do not know what those before have answered); otherwise None.
        expand: repeat rows instead of a column `multiplicity`.
        joined: parts are of the output's format, and are put together as they are.
    """

    def __init__(
        self,
        folder: str,
        writer: RowSink,
        first: Sequence[str] | None,
        expand: bool,
        joined: bool = False,
    ) -> None:
        self._joined = joined
        self._folder, self._writer, self._expand = folder, writer, expand
        self._first = first
        self._emitted: pa.Table | None = None
        self._range = self._part = 0

    def take(self, finished: Sequence[RangeOutcome] = ()) -> None:
        """Write the parts that tasks have finished so far, in order of time; `finished`: all.

        Raises:
            RunError: parts are missing that tasks have written, or differ in their columns.
        """
        while True:
            known = finished[self._range] if self._range < len(finished) else None
            file = part_file(self._folder, self._range, self._part)
            if known is not None and self._part >= known.progress.parts:
                self._range, self._part = self._range + 1, 0
            elif file.exists():
                if self._joined:
                    self._append(file)
                else:
                    with pa.OSFile(str(file)) as source:
                        self._write(pa.ipc.open_file(source).read_all())
                file.unlink()
                self._part += 1
            elif known is not None:
                raise RunError(
                    f"{file} is not there, which a task has written",
                    why="driver and workers exchange answers in a folder beside the output",
                    fix="write --output to a file system that all of them see",
                )
            elif self._ended():
                self._range, self._part = self._range + 1, 0
            else:
                return

    def _append(self, file: Path) -> None:
        try:
            self._writer.append(file)
        except ValueError as error:
            raise RunError(
                f"the answers of a task cannot be put together: {error}",
                why="tasks write them as Parquet, all with the same columns",
                fix="give driver and workers the same version of pyarrow",
            ) from error

    def _ended(self) -> bool:
        """Whether the present range says that it has no more parts."""
        progress = read_progress(self._folder, self._range)
        return progress is not None and progress.done and self._part >= progress.parts

    def _write(self, table: pa.Table) -> None:
        if self._first is not None:
            table = self._new(table, list(self._first))
        if not self._expand or MULTIPLICITY not in table.column_names:
            self._writer.write(table)
            return
        for rows in repeat_rows(table):
            self._writer.write(rows)

    def _new(self, table: pa.Table, variables: list[str]) -> pa.Table:
        """What no range has answered before."""
        if not variables:  # yes, once
            return table if self._writer.rows == 0 else table.slice(0, 0)
        if self._emitted is not None and self._range:
            table = _without(table, self._emitted, variables)
        mine = table.select(variables)
        self._emitted = mine if self._emitted is None else pa.concat_tables([self._emitted, mine])
        return table


def _without(table: pa.Table, emitted: pa.Table, variables: list[str]) -> pa.Table:
    """The rows whose variables are not among those emitted, in their order."""
    both = [t.column(n) for t in (table, emitted) for n in variables]
    if any(c.null_count for c in both):  # which a join takes for different from itself
        all_ = pa.concat_tables([emitted.select(variables), table.select(variables)])
        codes, count = code_rows(all_, variables)
        known = np.zeros(count, dtype=np.bool_)
        known[codes[: emitted.num_rows]] = True
        return table.filter(pa.array(~known[codes[emitted.num_rows :]]))
    place = "__place"
    numbered = table.append_column(place, pa.array(np.arange(table.num_rows)))
    fresh = numbered.select([*variables, place]).join(emitted, variables, join_type="left anti")
    return table.take(pa.array(np.sort(fresh.column(place).to_numpy())))


class ProgressWatch:
    """Adds up how far the tasks of a job are, for a listener."""

    def __init__(self, listener: ProgressListener | None, total: int, bound: int | None) -> None:
        self._listener = listener
        self._total, self._bound = total, bound
        self._before = RangeProgress()
        self._last = -1

    def report(self, folder: str, ranges: Sequence[int]) -> None:
        """Report to the listener, if there is news."""
        if self._listener is None:
            return
        reported = [p for p in (read_progress(folder, i) for i in ranges) if p is not None]
        times = [p.now_us for p in reported if p.now_us is not None]
        tuples = self._before.tuples + sum(p.tuples for p in reported)
        if not times or tuples == self._last:
            return
        self._last = tuples
        progress = ReplayProgress(
            markers=sum(p.markers for p in reported),
            tuples=tuples,
            total_tuples=max(self._total, tuples),
            state_rows=max(p.state_rows for p in reported),
            bound=self._bound,
            at=datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=max(times)),
        )
        self._listener.update(progress)

    def pass_over(self, tuples: int) -> None:
        """A pass over history is done: the next one counts from there."""
        self._before = RangeProgress(tuples=self._before.tuples + tuples)


def read_progress(folder: str, index: int) -> RangeProgress | None:
    """How far a range is, as its task reports (None: nothing yet)."""
    try:
        progress = pickle.loads(progress_file(folder, index).read_bytes())
    except (OSError, EOFError):
        return None
    assert isinstance(progress, RangeProgress)
    return progress
