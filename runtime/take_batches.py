"""Take in the micro-batches of a live run: read, advance, commit, publish."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.advance_live import advance_live, begin_live
from ontoweir.runtime.check_new_run import check_new_run
from ontoweir.runtime.list_lanes import list_lanes, list_peers
from ontoweir.runtime.live_job import LiveJob
from ontoweir.runtime.live_options import LiveOptions
from ontoweir.runtime.measure_batch import measure_batch
from ontoweir.runtime.open_sources import LiveSources
from ontoweir.runtime.publish_batch import FileSink
from ontoweir.runtime.publish_commit import PUBLISHED, publish_commit
from ontoweir.runtime.read_batch import read_batch
from ontoweir.runtime.save_state import commit_batch, last_batch, load_state
from ontoweir.runtime.take_arrivals import FILE, MODIFIED
from ontoweir.runtime.write_metrics import write_metrics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class BatchTaker:
    """What foreachBatch calls, in order of the micro-batches, on the driver.

    Raises:
        UsageError: the checkpoint is of another run, or damaged.
    """

    def __init__(
        self,
        job: LiveJob,
        fingerprint: str,
        options: LiveOptions,
        spark: "SparkSession | None" = None,
    ) -> None:
        self.job, self.fingerprint, self.options, self.spark = job, fingerprint, options, spark
        self.sources = LiveSources()
        self.failed: OntoweirError | None = None
        """The error of ours that ended the run: Spark passes on its text only."""
        self.passed: dict[str, set[str]] = {}
        """Files that list_peers need not look at again, by stream."""
        self.mutex, self.closed = threading.Lock(), False
        self.answers = FileSink(options.output) if options.sink is None else options.sink
        self.commits = options.checkpoint / "commits"
        place = last_batch(self.commits)
        if place is None:
            check_new_run(job, options.checkpoint, options.output, self.answers)
            self.state = begin_live(job)
        else:
            self.state = load_state(place, fingerprint, self.origin(), job)
            # while the run was down, nobody was silent
            now = dict.fromkeys(self.state.heard, time.time())
            self.state = replace(self.state, heard=now)
            if not (place / PUBLISHED).exists():
                self.publish(place)
        options.told(self.state, job)

    def origin(self) -> str:
        """Spark's name of the run, which it keeps beside its offsets (empty: there are none)."""
        try:
            return (self.options.checkpoint / "spark" / "metadata").read_text(encoding="utf-8")
        except OSError:
            return ""

    def take(self, frame: "DataFrame | None", batch: int) -> None:
        """A micro-batch of rows of all streams (None: Spark reads none of them)."""
        with self.mutex:
            if self.closed:
                raise stopped("it has been told to stop")  # so it counts as not finished
            try:
                self.advance(frame, batch)
            except OntoweirError as error:
                self.failed = error
                raise

    def close(self) -> None:
        """Take nothing more; a micro-batch that has begun is finished first."""
        with self.mutex:
            self.closed = True

    def advance(self, frame: "DataFrame | None", batch: int) -> None:
        """Commit and publish a micro-batch, unless that has been done."""
        if batch <= self.state.batch:
            return  # committed, and published when this run began
        if batch != self.state.batch + 1:
            raise RunError(
                f"micro-batch {batch} follows {self.state.batch} in the checkpoint",
                why="Spark's offsets and the state of the run do not belong together",
                fix="restore the whole checkpoint folder, or start with a new one",
            )
        begun = time.perf_counter()
        offsets = self.options.checkpoint / "spark" / "offsets" / str(batch)
        arrived = read_batch(
            self.job.histories,
            self.sources,
            self.spark,
            self.options.checkpoint / "spark",
            frame,
            batch,
        )
        lanes, peers = {}, {}
        for history in self.job.histories:
            name = history.stream.name
            if history.stream.data.format == "kafka":
                lanes[name] = list_lanes(history.stream, offsets)
            elif arrived[name].num_rows and MODIFIED in arrived[name].column_names:
                modified = pc.max(arrived[name].column(MODIFIED)).as_py()
                known = self.state.files.get(name)
                delivered = set(pc.unique(arrived[name].column(FILE)).to_pylist())
                if known is not None and known.modified == modified:
                    delivered |= known.latest.keys()
                passed = self.passed.setdefault(name, set())
                peers[name] = list_peers(history.stream, modified, delivered, passed)
        now = time.time()
        outcome = advance_live(self.job, self.state, arrived, now, lanes=lanes, peers=peers)
        place = commit_batch(self.commits, self.fingerprint, self.origin(), outcome)
        self.publish(place)
        before, self.state = self.state, outcome.state
        seconds = time.perf_counter() - begun
        record = measure_batch(self.job, before, self.state, seconds, time.time())
        write_metrics(self.options.metrics or self.options.output, record)
        self.options.watch(record)
        self.options.told(self.state, self.job)

    def publish(self, place: Path) -> None:
        """Publish a committed micro-batch."""
        queries, output = self.job.queries, self.options.output
        publish_commit(place, queries, self.answers, output, self.spark)


def stopped(what: str) -> RunError:
    """The error of a run that does not go on."""
    return RunError(
        f"Spark stopped the run: {what}",
        why="what was committed is intact",
        fix="see Spark's log for the cause, and start again",
    )
