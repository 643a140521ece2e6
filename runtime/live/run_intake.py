"""Run an intake: Spark lists what arrives for all queries, by one streaming query."""

import contextlib
import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ontoweir.errors import OntoweirError, RunError
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.live.archive.begin_archived import begin_archived, is_archived
from ontoweir.runtime.live.archive.move_files import FORGOTTEN
from ontoweir.runtime.live.archive.watch_listing import ListingWatch
from ontoweir.runtime.live.arrivals.open_sources import open_sources
from ontoweir.runtime.live.arrivals.plan_sources import plan_sources
from ontoweir.runtime.live.arrivals.read_stream import LISTING, is_listed
from ontoweir.runtime.live.checkpoint.remap_spark import remap_spark
from ontoweir.runtime.live.checkpoint.restore_spark import TICKS
from ontoweir.runtime.live.checkpoint.rotate_spark import MANY, count_entries, rotate_spark
from ontoweir.runtime.live.checkpoint.spark_folder import NOTHING, Offsets
from ontoweir.runtime.live.intake.describe_lane import has_begun
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.keep_spans import list_topics
from ontoweir.runtime.live.intake.model import Reach
from ontoweir.runtime.live.intake.resume_lane import SOURCE_GONE
from ontoweir.runtime.live.model.live_errors import java_gone, stopped
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.stage_clock import LIST
from ontoweir.runtime.live.topics.follow_topics import TopicFollower
from ontoweir.runtime.live.topics.open_topic import read_topic
from ontoweir.runtime.live.topics.probe_source import probe_source
from ontoweir.runtime.live.topics.topic_client import is_read_here
from ontoweir.runtime.live.topics.topic_offsets import (
    SUBSCRIBED,
    begins_with_all,
    read_topic_offsets,
)
from ontoweir.runtime.live.topics.topic_span import find_lost
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spark.call_without_rows import call_without_rows
from ontoweir.runtime.spark.redact_secrets import redact_secrets, resolve_options
from ontoweir.runtime.spark.tune_session import count_listing, tune_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_SILENT = 10.0
"""Seconds for which a source that did not answer is not asked for another query: each would wait as
long, and the others with it."""
_LOOK = 60.0
"""Seconds between two looks at how many files Spark's logs have."""


@dataclass(slots=True)
class IntakeRun:
    """An intake, and Spark's query, or what reads topics in its place, that calls it (None: it does
    not run).

    `home`: the user's session; `once`: the query ends when all that is there is listed; `seconds`:
    at least so long between micro-batches; `forget`: how many files Spark may have listed before
    those that are gone are forgotten; `kept`: how many were there when that was done last.
    """

    intake: Intake
    session: "SparkSession"
    home: "SparkSession"
    once: bool = False
    seconds: float = 0.0
    forget: int = MANY
    kept: int = 0
    listing: ListingWatch = field(default_factory=ListingWatch)
    query: "StreamingQuery | TopicFollower | None" = None
    looked: float = field(default_factory=time.monotonic)
    secrets: list[dict[str, str]] = field(default_factory=list)
    """The options of the streams, of which some are not shown."""
    probed: set[DataSource] = field(default_factory=set)
    """The sources that can be read."""
    silent: dict[DataSource, tuple[float, RunError]] = field(default_factory=dict)
    """The sources that did not answer, until when (monotonic) they are not asked again."""
    anew: dict[str, str] | None = None
    """By stream, what is said of topics that have been made anew (None: no messages are known to be
    gone of those that are read here)."""

    def probe(self, histories: Iterable[History], id_: str) -> None:
        """Nothing, if the sources that a query reads can be read: each is asked once, and one that
        did not answer not again at once; those of a query that goes on, and that this process
        reads, only when they are read.

        Raises:
            DataError: Spark cannot read one as a stream.
            CatalogError: an option names a variable of the environment that is not there.
            RunError: a broker does not answer in ten seconds.
        """
        goes_on = id_ in self.intake.parked
        for history in histories:
            if goes_on and is_read_here(history.stream):
                continue
            data = history.stream.data
            if data in self.probed:
                continue
            until, error = self.silent.get(data, (0.0, None))
            if error is not None and time.monotonic() < until:
                raise error
            try:
                probe_source(self.session, history)
            except RunError as error:
                self.silent[data] = time.monotonic() + _SILENT, error
                raise
            self.probed.add(data)

    def begin(self, streams: Mapping[str, Stream]) -> None:
        """Let Spark list what the queries read, from the last commit on. `streams`: the catalog's.

        Raises:
            UsageError: the checkpoint is damaged.
            DataError: a source cannot be read as a stream.
            RunError: the disk does not take it.
        """
        intake = self.intake
        self.stop()
        before = [list(held) for held in intake.record.sources]
        kept = [held for held in before if held != TICKS and self._is_kept(held, streams)]
        kept = [held for held in kept if is_listed(streams[held[0]]) or self._is_used(held[0])]
        lost = self._find_lost(kept, streams)
        kept = [held for held in kept if lost.keys().isdisjoint(held)]
        there = {name for held in kept for name in held}
        wanted = sorted({s for lane in intake.lanes for s in lane.streams} - there)
        more = plan_sources([_list_only(streams[name]) for name in wanted]).sources
        order = [*kept, *([h.stream.name for h in held] for held in more)]
        watched = {n: sign_source(streams[n], len(held)) for held in order for n in held}
        if intake.begun and (more or len(kept) < len([h for h in before if h != TICKS])):
            order += [TICKS] if TICKS in before else []
            stay = [*kept, TICKS]  # one of the same streams that come from elsewhere begins anew
            places = [before.index(held) if held in stay else None for held in order]
            log = remap_spark(intake.options.folder, intake.record.spark, places)
            left = [n for held in before if held not in stay for n in held]
            gone = {name: lost.get(name, SOURCE_GONE) for name in left}
            intake.go_on_from(log, None, gone, sources=order, watched=watched)
        intake.record = replace(intake.record, watched=watched)
        self._start(order, streams)

    def _start(self, order: Sequence[Sequence[str]], streams: Mapping[str, Stream]) -> None:
        intake = self.intake
        histories = tuple(_list_only(streams[n]) for held in order if held != TICKS for n in held)
        idle = {h.stream.name: h.stream.idle_us for h in histories}
        seconds = {name: us / 1e6 for name, us in idle.items() if us is not None}
        intake.restore(ticks=bool(seconds))
        job = LiveJob((), histories, {}, seconds)
        topics = list_topics(intake.lanes)

        def open_topic(session: "SparkSession", stream: Stream) -> "DataFrame":
            return read_topic(session, stream, topics.get(stream.name, {}))

        held = (job, self.session, self.home, order)
        frame, sources = open_sources(*held, observed=False, open_topic=open_topic)
        read = {s: frozenset(topics.get(s, {})) for s in sources.numbers.keys() - sources.listed}
        intake.open(replace(sources, topics=read))
        self.secrets = [dict(h.stream.data.options) for h in histories]
        if not intake.begun and is_archived(h.stream for h in histories):
            begin_archived(intake.spark_folder, intake.sources)
            intake.take(None, 0)
        intake.opens_here = all(is_read_here(h.stream) for h in histories)
        if intake.opens_here:
            self._follow([None if held == TICKS else streams[held[0]] for held in sources.order])
            return
        kind = "topics" if read else "files"
        writer = frame.writeStream.queryName(f"ontoweir: all registered queries of {kind}")
        if not call_without_rows(writer, self.session, intake.take, not read):
            writer = writer.foreachBatch(intake.take)
        # Java's current folder is the one that this process had when Java was started
        place = intake.spark_folder.path.absolute()
        writer = writer.option("checkpointLocation", str(place))
        if self.once:
            writer = writer.trigger(availableNow=True)
        elif self.seconds > 0:
            writer = writer.trigger(processingTime=f"{self.seconds} seconds")
        self.query = writer.start()

    def _follow(self, order: Sequence[Stream | None]) -> None:
        """Read topics without Spark, as the client for that is there, and takes their options."""
        intake = self.intake
        batch = intake.record.spark.batch + 1 if intake.begun else 0
        given = (intake.spark_folder, order, batch, intake.take, self.once, self.seconds)
        self.query = TopicFollower(*given)
        self.query.start()

    def _is_kept(self, held: Sequence[str], streams: Mapping[str, Stream]) -> bool:
        """Whether the streams of a source come from where they came."""
        watched = self.intake.record.watched
        there = {n: sign_source(streams[n], len(held)) for n in held if n in streams}
        return all(n in there and watched.get(n) == there[n] for n in held)

    def _is_used(self, stream: str) -> bool:
        """Whether a query reads a stream, or one that does not run has begun to: of other topics
        the broker is not asked."""
        name, parked = frozenset((stream,)), self.intake.parked.values()
        read = any(stream in lane.streams for lane in self.intake.lanes)
        return read or any(has_begun(p.held, name) for p in parked if p.gap is None)

    def _find_lost(
        self, kept: Sequence[Sequence[str]], streams: Mapping[str, Stream]
    ) -> dict[str, str]:
        """The streams of Kafka's that cannot go on from the last commit, as their topics have not
        all of the messages since, with what is missing.

        Raises:
            RunError: a broker does not say.
        """
        here = all(is_read_here(streams[held[0]]) for held in kept)
        if not self.intake.begun or (here and self.anew is None):
            return {}  # if they are read here, that is found out when the broker answers
        lost, self.anew = self.anew or {}, None
        log = self.intake.record.spark
        reached = Offsets.parse(log.offsets[str(log.batch)]).sources
        before = [list(held) for held in self.intake.record.sources]
        for held in kept:
            name, text = held[0], reached[before.index(list(held))]
            if not is_listed(streams[name]) and text != NOTHING and name not in lost:
                try:
                    gap = find_lost(self.session, streams[name], read_topic_offsets(text))
                except RunError:
                    if not here:
                        raise
                    continue  # the broker has just stopped: it is asked again
                lost |= {} if gap is None else {name: gap}
        return lost

    def rotate(self, streams: Mapping[str, Stream]) -> None:
        """Go on from new logs of Spark's, in which files that are gone are forgotten, if there are
        many of them and all queries have taken in what is listed.

        Raises:
            RunError: the disk does not take it.
        """
        intake = self.intake
        if time.monotonic() - self.looked < _LOOK or not intake.begun or not self.forget:
            return
        self.looked = time.monotonic()
        most = self.forget
        if intake.keeper.held and all(p.gap is not None for p in intake.parked.values()):
            most = min(most, max(FORGOTTEN, 2 * self.kept))
        if count_entries(intake.spark_folder) <= most or not intake.is_even:
            return
        self.stop()
        intake.keeper.settle()
        order = [list(held) for held in intake.record.sources]
        listed = intake.sources.listed
        files = frozenset(n for n, held in enumerate(order) if held[0] in listed)
        log = rotate_spark(intake.options.folder, intake.record, files)
        entries = {s: min(entry, 0) for s, entry in intake.reach.entries.items()}
        intake.go_on_from(log, Reach(0, entries, intake.reach.offsets))
        self.kept = count_entries(intake.spark_folder)
        self.forget = max(self.forget, 2 * self.kept)
        self._start(order, streams)

    def is_over(self) -> bool:
        """Whether Spark's query has ended of itself.

        Raises:
            OntoweirError: the error that ended it.
        """
        from py4j.protocol import Py4JError
        from pyspark.errors import StreamingQueryException

        if self.query is None:
            return True
        self._watch_listing()
        if isinstance(follower := self.query, TopicFollower):
            over = follower.awaitTermination(0.01)
            if over and follower.begins_anew:
                # `begin` finds out which queries cannot go on
                self.query, self.anew = None, follower.anew
                return False
            return over
        try:
            # with a timeout: without one, the call would keep Spark from calling foreachBatch back
            return bool(self.query.awaitTermination(0.01))  # type: ignore[arg-type]  # takes parts
        except StreamingQueryException as error:
            raise self._explain(error) from None
        except (Py4JError, ConnectionError, EOFError):
            raise java_gone() from None

    def _watch_listing(self) -> None:
        """Count what Spark's listing takes, and say so if it is too much."""
        clock, watch = self.intake.clock, self.intake.watch
        clock.note_listing(count_listing(self.session))
        counts = {name: len(held.files) for name, held in list(watch.passed.items())}
        streams = {h.stream.name: h.stream for lane in self.intake.lanes for h in lane.histories}
        listed = clock.seconds[LIST]
        said = self.listing.look(time.monotonic(), listed, counts, streams.values())
        if said is not None:
            self.intake.options.tell(said)

    def _explain(self, error: Exception) -> OntoweirError:
        if self.intake.failed is not None:
            return self.intake.failed
        text = str(error)
        for options in self.secrets:
            text = redact_secrets(text, resolve_options(options))
        lines = [x.strip() for x in text.splitlines() if x.strip()]
        return stopped(lines[0][:300])

    def stop(self) -> None:
        """Stop Spark's query; a step that has begun is finished first."""
        from py4j.protocol import Py4JError

        query, self.query = self.query, None
        if query is not None:
            with contextlib.suppress(Py4JError, ConnectionError, EOFError):  # Java has gone
                query.stop()
        with self.intake.mutex:  # what it has called is over
            pass


def open_intake_run(
    intake: Intake, spark: "SparkSession", *, once: bool = False, seconds: float = 0.0
) -> IntakeRun:
    """An intake that does not run yet, with a session for it."""
    session = spark.newSession()
    tune_session(session, intake.options.folder)
    intake.spark = session
    return IntakeRun(intake, session, spark, once, seconds)


def is_listable(job: LiveJob) -> bool:
    """Whether all streams of a query come in files, which an intake reads itself."""
    return all(is_listed(history.stream) for history in job.histories)


def reads_topics(job: LiveJob) -> bool:
    """Whether some streams of a query come from Kafka, from their beginning, and others in files:
    an intake of topics reads them."""
    streams = [h.stream for h in job.histories if not is_listed(h.stream)]
    return bool(streams) and all(s.data.format == "kafka" and begins_with_all(s) for s in streams)


def sign_source(stream: Stream, together: int) -> str:
    """What makes the source of a stream another: its format, its path, its topics; of several
    streams `together`, how their files are listed, as that is the same of all."""
    data = stream.data
    listed = sorted((n, v) for n, v in data.options if n.lower() in LISTING)
    topics = sorted((n.lower(), v) for n, v in data.options if n.lower() in SUBSCRIBED)
    options = topics if data.format == "kafka" else listed if together > 1 else []
    return hashlib.sha256(repr((data.format, data.path, options)).encode()).hexdigest()


def _list_only(stream: Stream) -> History:
    """A stream of which only the files are listed."""
    return History(stream, (), (), staged=True)
