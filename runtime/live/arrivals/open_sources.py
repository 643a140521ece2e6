"""Open the sources of a live run, as one streaming DataFrame."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.open_columnar import stream_is_packed
from ontoweir.runtime.live.arrivals.plan_sources import (
    folder_of,
    plan_listing,
    plan_sources,
    shared_options,
    shared_path,
)
from ontoweir.runtime.live.arrivals.read_stream import (
    STREAM,
    is_listed,
    read_stream,
    source_options,
    stream_names,
    watched_path,
    without_rows,
)
from ontoweir.runtime.live.checkpoint.restore_spark import TICKS
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD, quote_spark_name
from ontoweir.runtime.spark.tune_session import list_folders

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OBSERVED = "ontoweir"
"""The name of our observed metrics in Spark's progress."""


@dataclass(frozen=True, slots=True)
class LiveSources:
    """Which source each stream comes from.

    `listed`: the streams of files, which Spark only lists; `numbers`: of their sources;
    `folders`: of streams that share a source, by which their files differ; `order`: the streams of
    each source, in Spark's order; `observed`: whether Spark counts the rows of files, for
    listeners; `topics`: of an intake, what it reads of each stream of Kafka's, by sign_history.
    """

    listed: frozenset[str] = frozenset()
    numbers: Mapping[str, int] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[Sequence[str]] = ()
    observed: bool = False
    topics: Mapping[str, frozenset[str]] = field(default_factory=dict)


OpenTopic = Callable[["SparkSession", Stream], "DataFrame"]
"""Opens a stream of Kafka's: a frame with the column STREAM, and others."""


def open_sources(
    job: LiveJob,
    session: "SparkSession",
    home: "SparkSession",
    begun: Sequence[Sequence[str]],
    *,
    observed: bool,
    open_topic: OpenTopic | None = None,
) -> "tuple[DataFrame, LiveSources]":
    """The rows of all streams that Spark reads, and where each stream comes from.

    Args:
        job: what runs.
        session: the run's own.
        home: the user's, which has their temporary views.
        begun: the streams of each source, as the last commit says.
        observed: whether Spark is to count the rows of files too, for listeners.
        open_topic: opens a stream of Kafka's (None: with the columns of its history).

    Raises:
        DataError: a source cannot be read as a stream.
    """
    numbers: dict[str, int] = {}
    folders: dict[str, str] = {}
    listed = frozenset(h.stream.name for h in job.histories if is_listed(h.stream))
    whole: DataFrame | None = None
    begun = [held for held in begun if list(held) != TICKS]
    plan = plan_sources(job.histories, begun, apart=observed)
    for number, held in enumerate(plan.sources):
        for history in held:
            numbers[history.stream.name] = number
            if len(held) > 1:
                folders[history.stream.name] = f"{folder_of(history.stream)}/"
        stream = held[0].stream
        if open_topic is not None and stream.data.format == "kafka":
            frame = open_topic(session, stream)
        else:
            frame = _open_source(session, home, held, observed=observed)
        whole = frame if whole is None else whole.unionByName(frame, allowMissingColumns=True)
    assert whole is not None
    _list_here(job, session)
    order = [[h.stream.name for h in held] for held in plan.sources]
    if job.idle_seconds:
        order.append(TICKS)
        whole = whole.unionByName(_ticks(session), allowMissingColumns=True)
    return _observe(whole, job), LiveSources(listed, numbers, folders, order, observed)


def _list_here(job: LiveJob, session: "SparkSession") -> None:
    """Let Spark list local files in the driver, however many a micro-batch brings: from 32 on it
    would run a job with a task for each file, which takes some 5 ms of CPU a file."""
    paths = [h.stream.data.path or "" for h in job.histories if is_listed(h.stream)]
    if all("://" not in local_path(path) for path in paths):
        session.conf.set("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000000")


def _ticks(spark: "SparkSession") -> "DataFrame":
    """A row of no stream each second: partitions are found to idle although no row comes."""
    from pyspark.sql import functions as fn

    ticks = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
    return ticks.select(fn.lit("").alias(STREAM))


def _open_source(
    session: "SparkSession", home: "SparkSession", held: tuple[History, ...], *, observed: bool
) -> "DataFrame":
    """The rows of a source's streams; of those that are only listed, none."""
    stream = held[0].stream
    only_names = is_listed(stream) and (not observed or stream_is_packed(stream))
    if len(held) > 1 or only_names:
        listing = plan_listing(held)
        frame = None if listing is None else list_folders(session, listing)
        if frame is not None:
            return without_rows(frame, stream)
    if len(held) > 1:
        return stream_names(session, stream, shared_path(held), shared_options(held))
    if only_names:
        return stream_names(session, stream, watched_path(stream.data.path), source_options(stream))
    return read_stream(session, held[0], home)


def _observe(frame: "DataFrame", job: LiveJob) -> "DataFrame":
    """What Spark's own progress shows of a micro-batch (`observedMetrics`), for its listeners: of
    the streams whose rows it reads."""
    from pyspark.sql import functions as fn

    shown = []
    for history in job.histories:
        stream = history.stream
        names = [f"{stream.name}.{c}" for c in (stream.timestamp, BAD)]
        if not set(names) <= set(frame.columns):
            continue
        mine = fn.col(STREAM) == stream.name
        time, bad = (fn.col(quote_spark_name(n)) for n in names)
        shown += [
            fn.count_if(mine).alias(f"{stream.name}_tuples"),
            fn.count_if(mine & (bad.isNotNull() | time.isNull())).alias(f"{stream.name}_bad"),
            fn.timestamp_micros(fn.max(time)).alias(f"{stream.name}_last"),
        ]
    return frame.observe(OBSERVED, *shown) if shown else frame
