"""Open the sources of a live run, as one streaming DataFrame."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.runtime.history import History
from ontoweir.runtime.live_job import LiveJob
from ontoweir.runtime.plan_sources import folder_of, plan_sources, shared_options, shared_path
from ontoweir.runtime.read_arrivals import DirectStream, open_direct, open_listed, stream_names
from ontoweir.runtime.read_source import BAD
from ontoweir.runtime.read_stream import STREAM, read_stream, source_options, watched_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OBSERVED = "ontoweir"
"""The name of our observed metrics in Spark's progress."""


@dataclass(frozen=True, slots=True)
class LiveSources:
    """Which source each stream comes from.

    `direct`: the streams whose files are read in this process; `numbers`: of their sources;
    `folders`: of streams that share a source, which tell their files apart.
    """

    direct: Mapping[str, DirectStream] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)


def open_sources(
    job: LiveJob,
    session: "SparkSession",
    home: "SparkSession",
    checkpoint: Path,
    found: Mapping[str, DirectStream],
) -> "tuple[DataFrame, LiveSources]":
    """The rows of all streams that Spark reads, and where each stream comes from.

    Args:
        job: what runs.
        session: the run's own.
        home: the user's, which has their temporary views.
        checkpoint: says how the run began.
        found: the streams whose files are read in this process (find_direct).

    Raises:
        DataError: a source cannot be read as a stream.
    """
    direct = dict(found)
    numbers: dict[str, int] = {}
    folders: dict[str, str] = {}
    whole: DataFrame | None = None
    for number, held in enumerate(plan_sources(job.histories, direct, checkpoint).sources):
        for history in held:
            name = history.stream.name
            numbers[name] = number
            if len(held) > 1:
                folders[name] = f"{folder_of(history.stream)}/"
                if name not in direct:
                    direct[name] = open_listed(session, history)
        frame = _open_source(session, home, held, direct)
        whole = frame if whole is None else whole.unionByName(frame, allowMissingColumns=True)
    assert whole is not None
    if job.idle_seconds:
        whole = whole.unionByName(_ticks(session), allowMissingColumns=True)
    return _observe(whole, job, direct), LiveSources(direct, numbers, folders)


def _ticks(spark: "SparkSession") -> "DataFrame":
    """A row of no stream each second: lanes are found to idle although no row comes."""
    from pyspark.sql import functions as fn

    ticks = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
    return ticks.select(fn.lit("").alias(STREAM))


def _open_source(
    session: "SparkSession",
    home: "SparkSession",
    held: tuple[History, ...],
    direct: Mapping[str, DirectStream],
) -> "DataFrame":
    """The rows of a source's streams; of those that are read in this process, none."""
    from pyspark.sql import functions as fn

    history = held[0]
    mine = direct.get(history.stream.name)
    if mine is None:
        return read_stream(session, history, home)
    if len(held) > 1:
        named = stream_names(session, mine, shared_path(held), shared_options(held))
    else:
        path = watched_path(history.stream.data.path)
        named = stream_names(session, mine, path, source_options(history.stream))
    return named.select(fn.lit(history.stream.name).alias(STREAM))


def find_direct(job: LiveJob, spark: "SparkSession") -> dict[str, DirectStream]:
    """The streams whose files are read in this process."""
    opened = [(h.stream.name, open_direct(spark, h)) for h in job.histories]
    return {name: direct for name, direct in opened if direct is not None}


def _observe(frame: "DataFrame", job: LiveJob, direct: Mapping[str, DirectStream]) -> "DataFrame":
    """What Spark's own progress shows of a micro-batch (`observedMetrics`), for its listeners: of
    the streams whose rows it reads."""
    from pyspark.sql import functions as fn

    shown = []
    for history in job.histories:
        stream = history.stream
        if stream.name in direct:
            continue
        mine = fn.col(STREAM) == stream.name
        time = fn.col(f"`{stream.name}.{stream.timestamp}`")
        bad = fn.col(f"`{stream.name}.{BAD}`")
        shown += [
            fn.count_if(mine).alias(f"{stream.name}_tuples"),
            fn.count_if(mine & (bad.isNotNull() | time.isNull())).alias(f"{stream.name}_bad"),
            fn.timestamp_micros(fn.max(time)).alias(f"{stream.name}_last"),
        ]
    return frame.observe(OBSERVED, *shown) if shown else frame
