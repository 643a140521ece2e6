"""Publish what a micro-batch has committed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.runtime.live.model.live_job import RunningQuery
from ontoweir.runtime.live.output.note_sent import note_sent
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.sinks.sinks import Sink
from ontoweir.runtime.live.output.write_parts import PartWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PUBLISHED = "published"
"""The file in a commit that says so."""
REJECTS = "rejects"


def publish_commit(
    place: Path,
    queries: Sequence[RunningQuery],
    answers: Sink,
    writer: PartWriter,
    spark: "SparkSession | None",
) -> None:
    """Put a committed micro-batch's answers and rejected rows where they belong; then it says so.

    What goes to files is written, or found to be there, also if it says so already.

    Raises:
        RunError: there is no room, or the sink does not take them.
        UsageError: the output has a file of another run.
    """
    batch = int(place.name)
    done = (place / PUBLISHED).exists()
    for number, query in enumerate(queries):
        file = place / f"answers-{number}.arrow"
        if not file.exists():
            continue
        if isinstance(answers, FileSink):
            writer.put("answers", query.name, batch, read_arrow(file), answers.format)
        elif not done:
            answers.publish(query.name, batch, read_arrow(file), spark)
    rejects = place / "rejects.arrow"
    if answers.irrevocable and not done:
        note_sent(writer.places["rejects"], writer.run, batch)
    if rejects.exists():
        writer.put("rejects", REJECTS, batch, read_arrow(rejects), "parquet")
    try:
        (place / PUBLISHED).touch()
    except OSError as error:
        raise RunError(
            f"micro-batch {batch} cannot be marked as published: {error.strerror or error}",
            why="it is committed and published; at the next start it is published again",
            fix="make room, or mend the disk, and start again",
        ) from error


def read_arrow(file: Path) -> pa.Table:
    """The rows of an Arrow file of a commit."""
    return pa.ipc.open_file(pa.memory_map(str(file))).read_all()
