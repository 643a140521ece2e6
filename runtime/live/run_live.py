"""Run bounded queries live: Structured Streaming reads, the kernel advances, one commit per batch.

Every micro-batch commits its state, answers and rejected rows under its number by one rename
(save_state), then its answers are published to the sink. Spark repeats a micro-batch that it has
not seen finished with the same rows; one that is committed already is only published again
(sinks). So every answer is there exactly once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.runtime.live.archive.begin_archived import begin_archived, is_archived
from ontoweir.runtime.live.archive.watch_listing import ListingWatch
from ontoweir.runtime.live.arrivals.open_sources import open_sources
from ontoweir.runtime.live.live_options import LiveOptions
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.process_batches import BatchProcessor
from ontoweir.runtime.live.stage_clock import LIST
from ontoweir.runtime.spark.call_without_rows import call_without_rows
from ontoweir.runtime.spark.tune_session import count_listing, tune_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(slots=True)
class LiveRun:
    """A run that has been started: Spark's handle of it, and what its micro-batches call. `begin`
    starts Spark's query, from the last commit."""

    query: "StreamingQuery"
    job: LiveJob
    taker: BatchProcessor
    begin: "Callable[[], StreamingQuery]"
    listing: ListingWatch = field(default_factory=ListingWatch)

    def watch_listing(self) -> None:
        """Count what Spark's listing takes, and say so if it is too much."""
        taker = self.taker
        taker.clock.note_listing(count_listing(taker.spark))
        counts = {name: len(files) for name, files in taker.passed.items()}
        streams = [h.stream for h in self.job.histories]
        listed = taker.clock.seconds[LIST]
        said = self.listing.look(time.monotonic(), listed, counts, streams)
        if said is not None:
            taker.options.tell(said)

    def rotate(self) -> None:
        """Go on from new logs of Spark's, in which files that are gone are forgotten.

        Raises:
            RunError: the disk does not take it.
        """
        self.query.stop()
        with self.taker.mutex:
            if self.taker.is_worn and self.taker.failed is None and not self.taker.closed:
                self.taker.rotate()
                self.query = self.begin()


def run_live(
    job: LiveJob,
    fingerprint: str,
    spark: "SparkSession",
    options: LiveOptions,
    former: str | None = None,
) -> LiveRun:
    """Start a run, or resume it from its checkpoint.

    Args:
        job: the queries.
        fingerprint: what the run is.
        spark: reads the streams.
        options: how it runs.
        former: what the run is whose states were divided otherwise (None: no other).

    Raises:
        UsageError: the checkpoint is of another run, or damaged.
        DataError: a source cannot be read as a stream.
    """
    session = spark.newSession()
    tune_session(session, options.checkpoint)
    for listener in options.listeners:
        session.streams.addListener(listener)
    taker = BatchProcessor(job, fingerprint, options, session, former)
    if taker.is_worn:
        taker.rotate()
    observed = bool(options.listeners)

    def begin() -> "StreamingQuery":
        frame, taker.sources = open_sources(
            job, session, spark, taker.record.sources, observed=observed
        )
        taker.keeper.begin()
        if taker.state.batch < 0 and is_archived(h.stream for h in job.histories):
            begin_archived(taker.spark_folder, taker.sources)
            taker.take(None, 0)
        elif taker.state.batch >= 0:
            taker.archive()
        writer = frame.writeStream.queryName(_name_run(job))
        silent = not observed and len(taker.sources.listed) == len(job.histories)
        if not call_without_rows(writer, session, taker.take, silent):
            writer = writer.foreachBatch(taker.take)
        # Java's current folder is the one that this process had when Java was started
        writer = writer.option("checkpointLocation", str(taker.spark_folder.path.absolute()))
        if options.once:
            writer = writer.trigger(availableNow=True)
        elif options.seconds > 0:
            writer = writer.trigger(processingTime=f"{options.seconds} seconds")
        return writer.start()

    return LiveRun(begin(), job, taker, begin)


def _name_run(job: LiveJob) -> str:
    """What Spark's pages call a run."""
    names = [query.name for query in job.queries]
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"ontoweir: {names[0]}{others}"
