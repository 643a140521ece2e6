"""Replay a history divided by key: the answers, and what is counted, of one process."""

import uuid
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from ontoweir.errors import OntoweirError
from ontoweir.progress.replay_progress import ProgressListener
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.replay.parts.collect_chunks import ChunkCollector
from ontoweir.runtime.replay.parts.run_processes import run_processes
from ontoweir.runtime.replay.ranges.plan_ranges import Ranges
from ontoweir.runtime.replay.ranges.scan_ranges import Scanned, ScanOutput, scan_ranges
from ontoweir.runtime.replay.run_here import in_process

_MOST_READ = 4
"""A part reads at most so many times the rows at once that one process does."""


def scan_parts(
    work: ExecutionContext,
    division: Division,
    output: ScanOutput,
    progress: ProgressListener | None,
) -> Scanned:
    """Replay all parts; the answers go to the writer in the order of time. Where a part finds an
    error, this process replays all rows again, without answers, as messages are about the first
    error of all.

    Args:
        work: what is replayed.
        division: of its rows.
        output: takes the answers.
        progress: hears how far it is.

    Raises:
        OntoweirError: as the parts do.
    """
    if not any(h.rows for h in work.histories):
        return Scanned(0, 0, 0, {}, 1, "there is no history")
    # of a chunk, a part keeps its share
    held = work.rows_per_chunk * min(division.parts, _MOST_READ)
    apart = replace(work, parquet=False, rows_per_chunk=held)
    folder = output.folder / f"parts-{uuid.uuid4().hex}"
    folder.mkdir()
    collector = ChunkCollector(apart, division.parts, folder, output, progress)

    def look() -> bool:
        collector.take()
        return collector.done

    try:
        run_processes(apart, division, folder, look)
    except OntoweirError:
        ranges = Ranges((), "a part cannot be replayed")
        with in_process(work) as run:
            scan_ranges(work, ranges, run, ScanOutput(output.folder, _Nowhere()), None)
        raise
    return collector.scanned


class _Nowhere:
    """Takes answers that nobody asks for."""

    rows = 0

    def write(self, table: pa.Table) -> None:
        """Forget them."""

    def append(self, file: Path) -> None:
        """Forget them."""
