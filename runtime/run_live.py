"""Run bounded queries live: Structured Streaming reads, the kernel advances, one commit per batch.

Every micro-batch commits its state, answers and rejected rows under its number by one rename
(save_state), then its answers are published to the sink. Spark repeats a micro-batch that it has
not seen finished with the same rows; one that is committed already is only published again
(publish_batch). So every answer is there exactly once.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import OntoweirError, RunError, Source, UsageError
from ontoweir.mappings.catalog import Stream
from ontoweir.runtime.advance_live import advance_live, begin_live
from ontoweir.runtime.call_without_rows import call_without_rows
from ontoweir.runtime.history import History
from ontoweir.runtime.list_arrivals import ArrivedFile, list_arrivals
from ontoweir.runtime.list_lanes import list_lanes, list_peers
from ontoweir.runtime.live_job import LANE_OF, LiveJob, LiveState
from ontoweir.runtime.mask_secrets import mask_secrets, resolve_options
from ontoweir.runtime.measure_batch import measure_batch
from ontoweir.runtime.plan_sources import (
    SourcePlan,
    folder_of,
    plan_sources,
    shared_options,
    shared_path,
)
from ontoweir.runtime.publish_batch import FileSink, KafkaSink, Sink, publish_batch, write_part
from ontoweir.runtime.read_arrivals import (
    DirectStream,
    open_direct,
    open_listed,
    read_arrivals,
    stream_names,
)
from ontoweir.runtime.read_source import BAD
from ontoweir.runtime.read_stream import (
    STREAM,
    local_path,
    read_stream,
    source_options,
    watched_path,
)
from ontoweir.runtime.read_view import VIEW
from ontoweir.runtime.save_state import commit_batch, last_batch, load_state
from ontoweir.runtime.take_arrivals import FILE, LANE, MODIFIED
from ontoweir.runtime.write_metrics import write_metrics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener
    from pyspark.sql.streaming.query import StreamingQuery

_STREAMING = "org.apache.spark.sql.execution.streaming"
_PUBLISHED = "published"
OBSERVED = "ontoweir"
"""The name of our observed metrics in Spark's progress."""


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How a run goes.

    `checkpoint`: the folder of its state; `output`: the folder of rejected rows (`rejects/`), and
    of answers and metrics, unless they go elsewhere: to `sink` and `metrics`; `once`: stop when
    everything that is there has been read; `seconds`: at least so long between micro-batches;
    `told`: is called at the start and after every micro-batch; `watch`: with its record
    (measure_batch), when its answers are published; `listeners`: are told Spark's progress.
    """

    checkpoint: Path
    output: Path
    once: bool = False
    seconds: float = 0.0
    told: Callable[[LiveState, LiveJob], None] = field(default=lambda state, job: None)
    watch: Callable[[Mapping[str, Any]], None] = field(default=lambda record: None)
    sink: Sink | None = None
    metrics: Path | None = None
    listeners: tuple["StreamingQueryListener", ...] = ()


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that has been started: Spark's handle of it, and what its micro-batches call."""

    query: "StreamingQuery"
    job: LiveJob
    sink: "_Sink"


def run_live(
    job: LiveJob, fingerprint: str, spark: "SparkSession", options: LiveOptions
) -> LiveRun:
    """Start a run, or resume it from its checkpoint.

    Raises:
        UsageError: the checkpoint is of another run, or damaged.
        DataError: a source cannot be read as a stream.
    """

    session = spark.newSession()
    for name, setting in _tuned(session, options.checkpoint).items():
        session.conf.set(name, setting)
    for listener in options.listeners:
        session.streams.addListener(listener)
    direct = {} if options.listeners or "://" in str(options.checkpoint) else _direct(job, session)
    sink = _Sink(job, fingerprint, options, session, direct)
    plan = plan_sources(job.histories, direct, options.checkpoint)
    sink.follow(plan)
    whole: DataFrame | None = None
    for held in plan.sources:
        frame = _open_source(session, spark, held, sink.direct)
        whole = frame if whole is None else whole.unionByName(frame, allowMissingColumns=True)
    assert whole is not None
    if job.idle_seconds:
        whole = whole.unionByName(_ticks(session), allowMissingColumns=True)
    writer = _observe(whole, job, sink.direct).writeStream
    if not call_without_rows(writer, session, sink.take, len(sink.direct) == len(job.histories)):
        writer = writer.foreachBatch(sink.take)
    # Java's current folder is the one that this process had when Java was started
    offsets = (options.checkpoint / "spark").absolute()
    writer = writer.option("checkpointLocation", str(offsets))
    if options.once:
        writer = writer.trigger(availableNow=True)
    elif options.seconds > 0:
        writer = writer.trigger(processingTime=f"{options.seconds} seconds")
    return LiveRun(writer.start(), job, sink)


def await_live(
    run: LiveRun,
    stop: threading.Event | None = None,
    mask: Callable[[str], str] = str,
) -> None:
    """Wait for the end of a run: that of its input, an error, or `stop`. `mask` takes secrets out
    of Spark's messages.

    Raises:
        OntoweirError: the error that ended it.
    """
    while not wait_live(run, 1.0, mask):
        if stop is not None and stop.is_set():
            stop_live(run)
            return


def wait_live(run: LiveRun, seconds: float, mask: Callable[[str], str] = str) -> bool:
    """Whether a run ends within so many seconds.

    Raises:
        OntoweirError: the error that ended it.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import StreamingQueryException

    try:
        # with a timeout: without one, the call would keep Spark from calling foreachBatch back
        return bool(run.query.awaitTermination(seconds))  # type: ignore[arg-type]  # takes parts
    except StreamingQueryException as error:
        if run.sink.failed is not None:
            raise run.sink.failed from None
        lines = [x.strip() for x in str(error).splitlines() if x.strip()]
        raise _stopped(mask(lines[0][:300])) from None
    except (Py4JError, ConnectionError, EOFError) as error:
        raise _stopped(f"its Java process has gone ({type(error).__name__})") from None


def stop_live(run: LiveRun) -> None:
    """Stop a run; when this returns, nothing of it writes any more."""
    from py4j.protocol import Py4JError

    with contextlib.suppress(Py4JError, ConnectionError, EOFError):  # its Java process has gone
        run.query.stop()
    run.sink.close()


def _stopped(what: str) -> RunError:
    return RunError(
        f"Spark stopped the run: {what}",
        why="what was committed is intact",
        fix="see Spark's log for the cause, and start again",
    )


def _tuned(spark: "SparkSession", checkpoint: Path) -> dict[str, str]:
    """Spark's settings for short micro-batches; those for files, where the checkpoint is local."""
    found = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.enabled": "false",  # there is no shuffle to adapt
        "spark.sql.files.minPartitionNum": "1",  # few tasks for small files
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.sources.ignoreDataLocality": "true",  # asked of every file at every listing
        "spark.sql.streaming.fileSource.log.compactInterval": "100",  # of 10: a pause at each tenth
        # a source of which only the offsets matter is not planned
        "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": "true",
    }
    java = getattr(spark, "_jvm", None)  # Spark Connect has none
    if "://" not in str(checkpoint) and java is not None:
        for place in ("checkpointing.", ""):  # since 4.1, before
            name = f"{_STREAMING}.{place}FileSystemBasedCheckpointFileManager"
            try:
                java.java.lang.Class.forName(name)
            except Exception:
                continue
            found["spark.sql.streaming.checkpointFileManagerClass"] = name
            break
        # no file of checksums beside every file of offsets: our own commit has hashes of its own
        found["spark.sql.streaming.checkpoint.fileChecksum.enabled"] = "false"
        found["fs.file.impl"] = _local_files(java)
        found["fs.file.impl.disable.cache"] = "true"
    return found


def _local_files(java: Any) -> str:
    """What writes the checkpoint's files: without checksums, and in sessions that we start without
    a process for each file (start_session)."""
    try:
        java.java.lang.Class.forName("ontoweir.LocalFiles")
    except Exception:
        return "org.apache.hadoop.fs.RawLocalFileSystem"
    return "ontoweir.LocalFiles"


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


def _direct(job: LiveJob, spark: "SparkSession") -> dict[str, DirectStream]:
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


class _Sink:
    """What foreachBatch calls, in order of the micro-batches, on the driver."""

    def __init__(
        self,
        job: LiveJob,
        fingerprint: str,
        options: LiveOptions,
        spark: "SparkSession | None" = None,
        direct: Mapping[str, DirectStream] | None = None,
    ) -> None:
        self.job, self.fingerprint, self.options, self.spark = job, fingerprint, options, spark
        self.direct = {} if direct is None else dict(direct)
        self.failed: OntoweirError | None = None
        """The error of ours that ended the run: Spark passes on its text only."""
        self.numbers: dict[str, int] = {}
        """The number of each stream's source."""
        self.folders: dict[str, str] = {}
        """Of streams that share a source, their folders, which tell their files apart."""
        self.passed: dict[str, set[str]] = {}
        """Files that list_peers need not look at again, by stream."""
        self.mutex, self.closed = threading.Lock(), False
        self.answers = FileSink(options.output) if options.sink is None else options.sink
        self.commits = options.checkpoint / "commits"
        place = last_batch(self.commits)
        if place is None:
            self.refuse_orphaned_offsets()
            self.refuse_answers_of_others()
            self.state = begin_live(job)
        else:
            self.state = load_state(place, fingerprint, self.origin(), job)
            # while the run was down, nobody was silent
            now = dict.fromkeys(self.state.heard, time.time())
            self.state = replace(self.state, heard=now)
            if not (place / _PUBLISHED).exists():
                self.publish(place)
        options.told(self.state, job)

    def follow(self, plan: SourcePlan) -> None:
        """Know which sources there are."""
        for number, held in enumerate(plan.sources):
            for history in held:
                name = history.stream.name
                self.numbers[name] = number
                if len(held) > 1:
                    self.folders[name] = f"{folder_of(history.stream)}/"
                    if name not in self.direct:
                        assert self.spark is not None
                        self.direct[name] = open_listed(self.spark, history)

    def refuse_orphaned_offsets(self) -> None:
        """Offsets of finished micro-batches without their state: rows would be lost."""
        done = self.options.checkpoint / "spark" / "commits"
        if done.is_dir() and any(p.name.isdigit() for p in done.iterdir()):
            raise UsageError(
                "the checkpoint is damaged: it has offsets, but the state is missing",
                why="the rows that were read before these offsets would be lost",
                fix="restore it from a copy, or start with a new checkpoint and replay the history",
                source=Source(str(self.commits)),
            )

    def refuse_answers_of_others(self) -> None:
        """Files of another run have the numbers of this one's micro-batches: its answers would be
        taken to be there."""
        folders: list[tuple[Path, str]] = [(self.options.output / "rejects", "parquet")]
        if isinstance(self.answers, FileSink):
            answers = self.answers
            folders += [(answers.folder / q.name, answers.format) for q in self.job.queries]
        for folder, form in folders:
            if next(folder.glob(f"part-*.{form}"), None) is not None:
                raise UsageError(
                    f"the folder {folder} has files of another run",
                    why="the checkpoint is new, and its answers would get their names",
                    fix="name another --output, or move these files away",
                    source=Source(str(folder)),
                )

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
                raise _stopped("it has been told to stop")  # so it counts as not finished
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
        arrived, lanes, peers = self.read(frame, batch), {}, {}
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

    def read(self, frame: "DataFrame | None", batch: int) -> dict[str, pa.Table]:
        """The rows of a micro-batch by stream; Spark is only asked for those that it reads."""
        histories = self.job.histories
        whole = None
        if len(self.direct) < len(histories):
            assert frame is not None
            whole = frame.toArrow()
        arrived = {}
        logged: dict[int, tuple[ArrivedFile, ...]] = {}
        for history in histories:
            name = history.stream.name
            number = self.numbers.get(name, 0)
            if (direct := self.direct.get(name)) is not None:
                assert self.spark is not None
                if number not in logged:
                    place = self.options.checkpoint / "spark"
                    logged[number] = list_arrivals(place, number, batch)
                folder = self.folders.get(name)
                files = [f for f in logged[number] if folder is None or f.path.startswith(folder)]
                arrived[name] = read_arrivals(direct, files, self.spark)
            else:
                assert whole is not None
                if self.spark is not None and history.stream.data.format not in ("kafka", VIEW):
                    self.refuse_patterns(history.stream, number, batch)
                arrived[name] = _part(whole, history.stream)
        return arrived

    def refuse_patterns(self, stream: Stream, number: int, batch: int) -> None:
        """Of several files whose names have *?[]{}, Spark reads rows more than once."""
        files = list_arrivals(self.options.checkpoint / "spark", number, batch)
        named = [f.path for f in files if any(c in f.path for c in "*?[]{}\\")]
        if named and len(files) > 1:
            raise RunError(
                f"the file {named[0]} of {stream.name} has a name that Spark takes for a pattern",
                why="it would read rows of this micro-batch more than once",
                fix="keep *?[]{} out of the names of files and folders, and start with a new "
                "checkpoint (and replay what has passed)",
            )

    def publish(self, place: Path) -> None:
        """Put a committed micro-batch's answers and rejected rows where they belong."""
        batch = int(place.name)
        for number, query in enumerate(self.job.queries):
            file = place / f"answers-{number}.arrow"
            if file.exists():
                publish_batch(self.answers, query.name, batch, file, self.spark)
        rejects = place / "rejects.arrow"
        if rejects.exists():
            target = self.options.output / "rejects" / f"part-{place.name}.parquet"
            write_part(rejects, target, "parquet")
        try:
            (place / _PUBLISHED).touch()
        except OSError as error:
            raise RunError(
                f"micro-batch {batch} cannot be marked as published: {error.strerror or error}",
                why="it is committed and published; at the next start it is published again",
                fix="make room, or mend the disk, and start again",
            ) from error


def _part(whole: pa.Table, stream: Stream) -> pa.Table:
    """The rows of one stream, under its own column names."""
    mine = whole.filter(pc.equal(whole.column(STREAM), stream.name))
    prefix = f"{stream.name}."
    names = [n for n in whole.column_names if n.startswith(prefix)]
    rows = mine.select(names).rename_columns([n[len(prefix) :] for n in names])
    for mark in (LANE, FILE):
        if mark in rows.column_names and rows.num_rows:
            coded = rows.column(mark).combine_chunks().dictionary_encode()
            if isinstance(coded, pa.ChunkedArray):
                coded = coded.unify_dictionaries().combine_chunks()
            texts = coded.dictionary.to_pylist()
            named = (
                [f"{stream.name}{LANE_OF}{t}" for t in texts]
                if mark == LANE
                else [local_path(t) for t in texts]
            )
            column = pa.array(named, pa.string()).take(coded.indices)
            rows = rows.set_column(rows.column_names.index(mark), mark, column)
    return rows


def mask_run(text: str, job: LiveJob, sink: Sink | None) -> str:
    """A message without the secrets of the sources and the sink."""
    for history in job.histories:
        text = mask_secrets(text, resolve_options(dict(history.stream.data.options)))
    return mask_secrets(text, sink.options) if isinstance(sink, KafkaSink) else text


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
