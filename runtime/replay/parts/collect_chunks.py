"""Put the answers of all parts of a chunk together, in the order of one process."""

import pickle
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from ontoweir.progress.replay_progress import ProgressListener, ReplayProgress
from ontoweir.runtime.division.unite_parts import list_order, unite_parts
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.groups.repeat_rows import repeat_rows
from ontoweir.runtime.replay.parts.replay_part import (
    ChunkReport,
    answers_file,
    report_file,
    unite_times,
)
from ontoweir.runtime.replay.ranges.scan_ranges import Scanned, ScanOutput
from ontoweir.runtime.results.render_results import MULTIPLICITY


class ChunkCollector:
    """Writes the answers of one chunk after the other, when all parts have them.

    Args:
        work: what is replayed.
        parts: how many parts there are.
        folder: where they write.
        output: takes the answers.
        listener: hears how far they are.
    """

    def __init__(
        self,
        work: ExecutionContext,
        parts: int,
        folder: Path,
        output: ScanOutput,
        listener: ProgressListener | None,
    ) -> None:
        self.work, self.parts, self.folder, self.output = work, parts, folder, output
        self.order = list_order(work)
        self.listener = listener
        self.total = sum(h.rows for h in work.histories)
        self.chunk = self.markers = self.tuples = self.most = 0
        self.rejected: Counter[str] = Counter()
        self.now_us: int | None = None
        self.done = False

    def take(self) -> None:
        """Write what is there of all parts."""
        while not self.done:
            files = [report_file(self.folder, part, self.chunk) for part in range(self.parts)]
            if not all(file.exists() for file in files):
                return
            reports: list[ChunkReport] = [pickle.loads(file.read_bytes()) for file in files]
            self._write(reports)
            for file in files:
                file.unlink()
            self._count(reports)
            self.chunk += 1

    @property
    def scanned(self) -> Scanned:
        """What was done."""
        return Scanned(
            self.markers,
            self.tuples,
            self.most,
            dict(self.rejected),
            1,
            "its rows are divided by key",
            self.now_us,
        )

    def _write(self, reports: Sequence[ChunkReport]) -> None:
        tables = []
        for part, report in enumerate(reports):
            if report.answers:
                file = answers_file(self.folder, part, self.chunk)
                with pa.OSFile(str(file)) as source:
                    tables.append(pa.ipc.open_file(source).read_all())
                file.unlink()
        if not tables:
            return
        answers = tables[0] if len(tables) == 1 else unite_parts(tables, self.order)
        if not self.output.expand or MULTIPLICITY not in answers.column_names:
            self.output.writer.write(answers)
            return
        for rows in repeat_rows(answers):
            self.output.writer.write(rows)

    def _count(self, reports: Sequence[ChunkReport]) -> None:
        self.markers += len(unite_times([r.times for r in reports]))
        self.tuples += sum(r.tuples for r in reports)
        for report in reports:
            self.rejected.update(report.rejected)
        held = max(r.state_rows for r in reports)
        self.most = max(self.most, held)
        now = reports[0].now_us
        self.now_us = self.now_us if now is None else now
        self.done = reports[0].last
        if self.listener is not None and self.now_us is not None:
            at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.now_us)
            total = max(self.total, self.tuples)
            self.listener.update(
                ReplayProgress(self.markers, self.tuples, total, held, self.work.bound, at)
            )
