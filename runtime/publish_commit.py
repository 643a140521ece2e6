"""Publish what a micro-batch has committed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import RunError
from ontoweir.runtime.live_job import LiveQuery
from ontoweir.runtime.publish_batch import Sink, publish_batch, write_part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PUBLISHED = "published"
"""The file in a commit that says so."""


def publish_commit(
    place: Path,
    queries: Sequence[LiveQuery],
    answers: Sink,
    output: Path,
    spark: "SparkSession | None",
) -> None:
    """Put a committed micro-batch's answers and rejected rows where they belong; then it says so.

    Raises:
        RunError: there is no room, or the sink does not take them.
    """
    batch = int(place.name)
    for number, query in enumerate(queries):
        file = place / f"answers-{number}.arrow"
        if file.exists():
            publish_batch(answers, query.name, batch, file, spark)
    rejects = place / "rejects.arrow"
    if rejects.exists():
        target = output / "rejects" / f"part-{place.name}.parquet"
        write_part(rejects, target, "parquet")
    try:
        (place / PUBLISHED).touch()
    except OSError as error:
        raise RunError(
            f"micro-batch {batch} cannot be marked as published: {error.strerror or error}",
            why="it is committed and published; at the next start it is published again",
            fix="make room, or mend the disk, and start again",
        ) from error
