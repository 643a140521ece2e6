"""The options of a replay."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from ontoweir.runtime.results.write_results import OutputFormat
from ontoweir.runtime.verified.verification import Verification

Engine = Literal["auto", "driver", "spark"]
"""What replays: this process, Spark's tasks, or what is estimated to end earlier. `driver` starts
no Spark at all, and refuses what only Spark can read."""


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """Which part of history is replayed, where its answers go, and in what portions.

    Args:
        output: the file to write.
        format: of the file.
        start, stop: only timestamps in [start, stop); without a zone they are UTC.
        expand: repeat rows instead of a column `multiplicity` (bag semantics).
        final: of an aggregate query, write the last row of each group alone.
        text_here: local text is read in this process where it can be, not by Spark.
        rows_per_chunk: about how many rows a task holds at once (None: the more, the less their
            columns take).
        rows_per_range: a range of history, which one Spark task replays, has at least about so
            many rows.
        ranges: how many ranges Spark replays at most (None: as many as it has cores).
        engine: what replays (`choose_engine`).
        parts: among how many processes of this machine rows are divided by key (None: as many as
            are estimated to be worth it; 1: none but this one).
        verification: what is known of the streams' files, and where more is kept (None: nothing).
        most_rejected: a replay that rejects half of a stream's rows for one reason is a result;
            else it is an error, and nothing is written.
        rejects: the folder where the rejected rows are written (None: they are only counted).
    """

    output: Path
    format: OutputFormat
    start: datetime | None = None
    stop: datetime | None = None
    expand: bool = False
    final: bool = False
    text_here: bool = True
    rows_per_chunk: int | None = None
    rows_per_range: int = 2_000_000
    ranges: int | None = None
    engine: Engine = "auto"
    parts: int | None = None
    verification: Verification | None = None
    most_rejected: bool = True
    rejects: Path | None = None
