"""Run bounded queries live: Structured Streaming reads, the kernel advances, one commit per batch.

Every micro-batch commits its state, answers and rejected rows under its number by one rename
(save_state), then its answers are published to the sinks. Spark repeats a micro-batch that it has
not seen finished with the same rows; one that is committed already is only published again, file
by file under the same names. So every answer is there exactly once.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import DataError, OntoweirError, RunError, Source
from ontoweir.mappings.catalog import Stream
from ontoweir.runtime.advance_live import LiveJob, LiveState, advance_live, begin_live
from ontoweir.runtime.history import History
from ontoweir.runtime.read_source import cast_declared
from ontoweir.runtime.save_state import commit_batch, last_batch, load_state

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_STREAM = "__stream"
_PER_BATCH = {"maxFilesPerTrigger": "16"}


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How a run goes.

    `checkpoint`: the folder of its state; `output`: the folder of answers, `output/<query>/` and
    `output/rejects/`; `once`: stop when everything that is there has been read; `seconds`: at
    least so long between micro-batches; `told`: is called at the start and after every micro-batch.
    """

    checkpoint: Path
    output: Path
    once: bool = False
    seconds: float = 0.0
    told: Callable[[LiveState, LiveJob], None] = field(default=lambda state, job: None)


def run_live(
    job: LiveJob, fingerprint: str, spark: "SparkSession", options: LiveOptions
) -> "StreamingQuery":
    """Start a run, or resume it from its checkpoint; returns Spark's handle of it.

    Raises:
        UsageError: the checkpoint is of another run, or damaged.
        DataError: a source cannot be read as a stream.
    """
    sink = _Sink(job, fingerprint, options)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    whole: DataFrame | None = None
    for history in job.histories:
        frame = _read_stream(session, history, job)
        whole = frame if whole is None else whole.unionByName(frame, allowMissingColumns=True)
    assert whole is not None
    writer = whole.writeStream.foreachBatch(sink.take).option(
        "checkpointLocation", str(options.checkpoint / "spark")
    )
    if options.once:
        writer = writer.trigger(availableNow=True)
    elif options.seconds > 0:
        writer = writer.trigger(processingTime=f"{options.seconds} seconds")
    return writer.start()


def await_live(query: "StreamingQuery", stop: threading.Event | None = None) -> None:
    """Wait for the end of a run: that of its input, an error, or `stop`.

    Raises:
        OntoweirError: the error that ended it.
    """
    from pyspark.errors import StreamingQueryException

    try:
        # with a timeout: without one, the call would keep Spark from calling foreachBatch back
        while not query.awaitTermination(1):
            if stop is not None and stop.is_set():
                query.stop()
                return
    except StreamingQueryException as error:
        mine = _last_error.pop(query.id, None)
        if mine is not None:
            raise mine from None
        lines = [x.strip() for x in str(error).splitlines() if x.strip()]
        raise RunError(
            f"Spark stopped the run: {lines[0][:300]}",
            why="what was committed is intact",
            fix="see Spark's log for the cause, and start again",
        ) from error


_last_error: dict[str, OntoweirError] = {}
"""Errors of ours that ended a run, by Spark's id of it: Spark passes on their text only."""


def _read_stream(spark: "SparkSession", history: History, job: LiveJob) -> "DataFrame":
    """A stream's rows: its name, timestamp in µs, BAD, and its columns, prefixed by its name."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as fn

    stream = history.stream
    data, path = stream.data, stream.data.path
    columns = [c for c in stream.columns if c.name in history.columns]
    names = [*(c.name for c in columns), stream.timestamp]
    options = {**_PER_BATCH, **dict(data.options)}
    try:
        if data.format == "kafka":
            options.pop("maxFilesPerTrigger", None)
            frame = spark.readStream.format("kafka").options(**options).load()
            text = ", ".join(f"`{n}` STRING" for n in names)
            parsed = fn.from_json(fn.col("value").cast("string"), text).alias("row")
            frame = frame.select(parsed).select(*[fn.col(f"row.`{n}`").alias(n) for n in names])
        else:
            if path is None:
                raise DataError(
                    f"{stream.name} has no path",
                    why=f"the {data.format} reader needs to know where its data is",
                    fix=f'add path = "…" to the source of {stream.name}',
                    source=stream.source,
                )
            if data.format == "json":
                schema: Any = ", ".join(f"`{n}` STRING" for n in names)
            else:
                reader = spark.read.format(data.format).options(**dict(data.options))
                schema = reader.load(path).schema
            reading = spark.readStream.format(data.format).options(**options).schema(schema)
            frame = reading.load(path)
    except PySparkException as error:
        raise DataError(
            f"{stream.name} cannot be read as a stream: {str(error).strip().splitlines()[0][:300]}",
            why="a live run reads every stream by Structured Streaming",
            fix="check the format, path and options of its source",
            source=stream.source or Source(path or ""),
        ) from error
    cast = cast_declared(frame, data, path or data.format, columns, stream.timestamp)
    renamed = [fn.col(f"`{c}`").alias(f"{stream.name}.{c}") for c in cast.columns]
    return cast.select(fn.lit(stream.name).alias(_STREAM), *renamed)


class _Sink:
    """What foreachBatch calls, in order of the micro-batches, on the driver."""

    def __init__(self, job: LiveJob, fingerprint: str, options: LiveOptions) -> None:
        self.job, self.fingerprint, self.options = job, fingerprint, options
        self.commits = options.checkpoint / "commits"
        place = last_batch(self.commits)
        if place is None:
            self.state = begin_live(job)
        else:
            self.state = load_state(place, fingerprint, self.origin(), job)
            self.publish(place)
        options.told(self.state, job)

    def origin(self) -> str:
        """Spark's name of the run, which it keeps beside its offsets (empty: there are none)."""
        try:
            return (self.options.checkpoint / "spark" / "metadata").read_text(encoding="utf-8")
        except OSError:
            return ""

    def take(self, frame: "DataFrame", batch: int) -> None:
        """A micro-batch of rows of all streams."""
        try:
            self.advance(frame, batch)
        except OntoweirError as error:
            for active in frame.sparkSession.streams.active:
                _last_error[active.id] = error
            raise

    def advance(self, frame: "DataFrame", batch: int) -> None:
        if batch <= self.state.batch:
            return  # committed, and published when this run began
        if batch != self.state.batch + 1:
            raise RunError(
                f"micro-batch {batch} follows {self.state.batch} in the checkpoint",
                why="Spark's offsets and the state of the run do not belong together",
                fix="restore the whole checkpoint folder, or start with a new one",
            )
        whole = frame.toArrow()
        arrived = {h.stream.name: _part(whole, h.stream) for h in self.job.histories}
        outcome = advance_live(self.job, self.state, arrived, time.time())
        place = commit_batch(self.commits, self.fingerprint, self.origin(), outcome)
        self.publish(place)
        self.state = outcome.state
        self.options.told(self.state, self.job)

    def publish(self, place: Path) -> None:
        """Put a committed micro-batch's answers and rejected rows into the sinks, idempotently."""
        names = {f"answers-{n}.arrow": q.name for n, q in enumerate(self.job.queries)}
        for file, name in {**names, "rejects.arrow": "rejects"}.items():
            if (place / file).exists():
                _publish(place / file, self.options.output / name / f"part-{place.name}.parquet")


def _part(whole: pa.Table, stream: Stream) -> pa.Table:
    """The rows of one stream, under its own column names."""
    import pyarrow.compute as pc

    mine = whole.filter(pc.equal(whole.column(_STREAM), stream.name))
    prefix = f"{stream.name}."
    names = [n for n in whole.column_names if n.startswith(prefix)]
    return mine.select(names).rename_columns([n[len(prefix) :] for n in names])


def _publish(source: Path, target: Path) -> None:
    """Write an Arrow file's rows as Parquet, whole or not at all."""
    if target.exists():
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = target.with_name(f".{target.name}.new")
        table = pa.ipc.open_file(pa.memory_map(str(source))).read_all()
        pq.write_table(table, scratch, compression="zstd")
        os.replace(scratch, target)
    except OSError as error:
        raise RunError(
            f"answers cannot be written to {target}: {error.strerror or error}",
            why="they are committed, but not where they belong yet",
            fix="make room, or mend the folder, and start again: they are written then",
        ) from error


def describe_live(state: LiveState, job: LiveJob) -> Mapping[str, Any]:
    """A run's progress: totals, and every query's rows of state against its bound."""
    return {
        "batch": state.batch,
        **state.totals,
        "pending": sum(t.num_rows for t in state.pending.values()),
        "queries": {
            query.name: {"state_rows": held.rows, "bound_rows": query.bound}
            for query, held in zip(job.queries, state.queries, strict=True)
        },
    }
