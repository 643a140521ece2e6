"""The files that came since a lane was last fed, opened once for all lanes that want them."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ontoweir.errors import DataError, RunError, Source
from ontoweir.runtime.live.arrivals.list_arrivals import (
    ArrivedFile,
    add_archived,
    list_logged,
    place_files,
    read_logged,
)
from ontoweir.runtime.live.arrivals.open_batch import (
    OpenBatch,
    compare_files,
    cut_times,
    open_files,
    select_files,
)
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.arrivals.read_arrivals import BadFile
from ontoweir.runtime.live.checkpoint.spark_folder import (
    NOTHING,
    Offsets,
    SparkFolder,
)
from ontoweir.runtime.live.intake.model import Lane, Reach
from ontoweir.runtime.live.intake.resume_lane import cannot_go_on
from ontoweir.runtime.live.topics.topic_offsets import most_at_once, read_topic_offsets
from ontoweir.runtime.live.topics.topic_span import (
    Handed,
    TopicSpan,
    begin_range,
    limit_offsets,
)
from ontoweir.runtime.sources.history import History

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_ALL = 1 << 62


@dataclass(slots=True)
class OpenSpan:
    """The files of a span, by what is read of them: `opened` by sign_history, each of one stream;
    `since`, `to`: which arrivals they are; `cuts`: the times (µs) that part the steps; `passed`: by
    stream, files that are known not to be readable."""

    since: int
    to: Reach
    opened: dict[str, OpenBatch]
    cuts: tuple[int, ...]
    passed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    topics: TopicSpan | None = None
    _files: dict[str, list[list[Any]]] | None = None

    @property
    def keys(self) -> frozenset[str]:
        """What is read, by sign_history."""
        topics = () if self.topics is None else self.topics.histories
        return frozenset((*self.opened, *topics))

    def read(
        self, low: int | None, high: int | None, handed: Handed | None = None
    ) -> dict[str, dict[str, pa.Table]]:
        """The rows of a step, by sign_history and stream: all messages are in the first one.
        `handed`: what Spark hands over in this micro-batch. Who reads the same columns has the same
        tables: queries that need other ones of them differ where a file lacks some, and is bad for
        who needs most."""
        found: dict[str, dict[str, pa.Table]] = {}
        read: dict[tuple[str, tuple[str, ...]], list[tuple[str, OpenBatch]]] = {}
        for key, held in sorted(self.opened.items(), key=lambda e: len(e[1].histories[0].spare)):
            (history,) = held.histories
            others = read.setdefault((history.stream.name, tuple(history.columns)), [])
            same = next((k for k, o in others if _has_all(o, history)), None)
            found[key] = held.read(low, high) if same is None else found[same]
            others.append((key, held))
        if self.topics is not None and low is None:
            found |= self.topics.read(handed)
        return {**{key: {} for key in self.keys}, **found}

    def count_bad(self) -> dict[str, int]:
        """How many files are known not to be readable, by what is read."""
        return {key: sum(map(len, held.bad.values())) for key, held in self.opened.items()}

    def list_bad(self, told: Mapping[str, int]) -> dict[str, list[BadFile]]:
        """The files that cannot be read, without so many that were told before."""
        return {
            key: [b for bad in held.bad.values() for b in bad][told.get(key, 0) :]
            for key, held in self.opened.items()
        }

    def list_unread(self) -> set[str]:
        """The files that cannot be read."""
        found = [bad for held in self.opened.values() for bad in held.bad.values()]
        return {file.file for bad in found for file in bad}

    def name_bad(self) -> dict[str, list[str]]:
        """The files that cannot be read and go into quarantine, by stream: of other streams they
        fail who reads them, and are read again when they are mended."""
        named: dict[str, list[str]] = {}
        for held in self.opened.values():
            (history,) = held.histories
            name = history.stream.name
            if history.stream.on_bad_file == "stop":
                continue
            for bad in held.bad[name]:
                if "://" not in bad.file:
                    named.setdefault(name, []).append(bad.file)
        return named

    def files(self) -> Mapping[str, bytes]:
        """What the files are that can be read, as far as is known, by stream: JSON of
        OpenBatch.describe. Those that cannot may go into quarantine, or be mended."""
        if self._files is None:
            self._files = {}
            for held in self.opened.values():
                self._files = {**held.describe(), **self._files}
        bad = self.list_unread()
        return {
            name: json.dumps([f for f in found if f[0] not in bad]).encode()
            for name, found in self._files.items()
        }

    def check_same(self, lane: Lane) -> None:
        """A lane that has taken in a part of the span goes on with the same files; and the messages
        that it is to take in are there.

        Raises:
            RunError: a file has changed since, or is gone; the broker does not give messages.
            UsageError: messages are no longer there.
        """
        if self.topics is not None:
            for name in sorted(lane.streams & self.topics.broken.keys()):
                raise self.topics.broken[name]
            for name in sorted(lane.streams & self.topics.gaps.keys()):
                raise cannot_go_on(lane.members[0].name, self.topics.gaps[name])
        for name, then in ({} if lane.span is None else lane.span.files).items():
            now = self.files().get(name, b"[]")
            if then != now:
                gone = self.passed.get(name, ())
                before = [file for file in json.loads(then) if file[0] not in gone]
                compare_files({name: before}, {name: json.loads(now)})

    def close(self) -> None:
        """Remove what was staged."""
        for held in self.opened.values():
            held.close()


@dataclass(frozen=True, slots=True)
class SpanContext:
    """What opening takes. `sources`: where each stream comes from; `folder`: Spark's; `spark` reads
    what this process does not; `passed`: by stream, files that are known not to be readable."""

    sources: LiveSources
    folder: SparkFolder
    spark: "SparkSession"
    passed: Mapping[str, Sequence[str]]


def find_reach(folder: SparkFolder, sources: LiveSources, batch: int) -> Reach:
    """How far the logs of all sources are read by a micro-batch of Spark's.

    Raises:
        RunError: Spark's offsets are not as expected.
    """
    try:
        offsets = Offsets.parse(folder.offsets_of(batch).read_text(encoding="utf-8")).sources
        entries, topics = {}, {}
        for stream, number in sources.numbers.items():
            text = offsets[number]
            if stream in sources.listed:
                entries[stream] = -1 if text == NOTHING else int(json.loads(text)["logOffset"])
            elif text != NOTHING:
                topics[stream] = read_topic_offsets(text)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise _unknown(folder.offsets_of(batch), error) from error
    return Reach(batch, entries, topics)


def limit_reach(lanes: Sequence[Lane], to: Reach, context: "SpanContext", most: int) -> Reach:
    """Up to where lanes that are equally far take arrivals in at once: as far as is asked, or until
    the files of text on the way, which are read whole when they are opened, have `most` bytes. In
    the order of the files' modification times, and always a part of the way.

    Raises:
        RunError: Spark's log is not as expected.
    """
    since = lanes[0].at
    streams = {
        h.stream.name: h.stream
        for lane in lanes
        for h in lane.histories
        if h.stream.name in context.sources.listed
    }
    logged: list[tuple[int, str, int, int]] = []
    for name, stream in streams.items():
        text = stream.data.format != "parquet"
        span = (since.entries.get(name, -1), to.entries.get(name, -1))
        sizes: dict[int, tuple[int, int]] = {}
        for entry, file in read_logged(context.folder, context.sources.numbers[name], *span):
            first, size = sizes.get(entry, (file.modified, 0))
            more = _measure(file) if text else 0
            sizes[entry] = (min(first, file.modified), size + more)
        logged += [(first, name, entry, size) for entry, (first, size) in sizes.items()]
    if sum(size for *_, size in logged) <= most:
        return to
    entries, taken = dict(since.entries), 0
    ends: dict[str, int] = {}
    for _, name, entry, size in sorted(logged):
        taken += size
        entries.setdefault(name, -1)
        if taken > most and taken > size:
            ends[name] = min(entry, ends.get(name, entry))
        else:
            entries[name] = max(entry, entries[name])
    for name, end in ends.items():  # entries are taken in their order
        entries[name] = min(entries[name], end - 1)
    if all(entries[name] <= since.entries.get(name, -1) for _, name, _, _ in logged):
        one = min(logged)[1]
        entries[one] = min(entry for _, name, entry, _ in logged if name == one)
    return Reach(since.batch, entries, to.offsets)


def limit_topics(lanes: Sequence[Lane], to: Reach, context: "SpanContext") -> Reach:
    """Up to where lanes that are equally far take arrivals in at once: as far as is asked, unless
    of a topic more messages are on the way than a micro-batch of Spark's takes of it; then the same
    share of everything that is on the way, and always a part of it.

    Raises:
        RunError: a broker does not say where its topics begin.
    """
    since = lanes[0].at
    streams = {h.stream.name: h.stream for lane in lanes for h in lane.histories}
    starts: dict[str, Mapping[str, int]] = {}
    share = 1.0
    for name in streams.keys() & to.offsets.keys():
        known, end = since.offsets.get(name, {}), to.offsets[name]
        if sum(end.values()) - sum(known.values()) > most_at_once(streams[name]):
            known, _ = begin_range(context.spark, streams[name], known, end)
        starts[name] = {p: known.get(p, 0) for p in end}
        way = sum(end[p] - starts[name][p] for p in end)
        share = min(share, most_at_once(streams[name]) / max(way, 1))
    if share >= 1:
        return to
    offsets = dict(since.offsets)
    for name, start in starts.items():
        offsets[name] = limit_offsets(start, to.offsets[name], share)
    entries = dict(since.entries)
    for name in streams.keys() & to.entries.keys():
        first = since.entries.get(name, -1)
        entries[name] = first + ceil((to.entries[name] - first) * share)
    return Reach(since.batch, entries, offsets)


def _measure(file: ArrivedFile) -> int:
    try:
        return os.path.getsize(file.place)
    except OSError:
        return 0


def open_span(
    lanes: Sequence[Lane], to: Reach, context: SpanContext, staged: Path, step: tuple[int, int]
) -> OpenSpan:
    """Open the files that lanes which have come equally far are to take in.

    Args:
        lanes: at least one.
        to: up to where.
        context: what that takes.
        staged: a folder for what Spark reads.
        step: about how many rows and bytes a step takes in.

    Raises:
        RunError: Spark's log is not as expected.
    """
    since = lanes[0].at
    histories: dict[str, History] = {}
    for lane in lanes:
        histories |= {lane.reads[h.stream.name]: h for h in lane.histories}
    logged: dict[tuple[int, int, int], tuple[ArrivedFile, ...]] = {}
    files: dict[str, list[ArrivedFile]] = {}
    twice: dict[str, list[tuple[str, DataError]]] = {}
    shutil.rmtree(staged, ignore_errors=True)
    opened: dict[str, OpenBatch] = {}
    messages = {k: h for k, h in histories.items() if h.stream.name not in context.sources.listed}
    for place, (key, history) in enumerate(histories.items()):
        name = history.stream.name
        if key in messages:
            continue
        if name not in files:
            number = context.sources.numbers[name]
            span = (number, since.entries.get(name, -1), to.entries.get(name, -1))
            if span not in logged:
                logged[span] = list_logged(context.folder, *span)
            known = context.passed.get(name, ())
            chosen = select_files(history, context.sources, logged[span])
            chosen = [f for f in chosen if f.path not in known]
            files[name] = place_files(history.stream.data, chosen)
            if since == Reach():  # whoever begins now finds what is there now
                files[name], twice[name] = _begin(history, files[name], span, context)
        mine: Mapping[str, Sequence[ArrivedFile]] = {name: files[name]}
        opened[key] = open_files([history], mine, context.spark, staged / str(place))
        opened[key].bad[name] += [BadFile(*held) for held in twice.get(name, ())]
    portions = [p for held in opened.values() for p in held.portions[next(iter(held.portions))]]
    cuts = tuple(cut_times(portions, *step))
    topics = TopicSpan(messages, since.offsets, to.offsets, context.spark) if messages else None
    return OpenSpan(since.batch, to, opened, cuts, context.passed, topics)


def _has_all(opened: OpenBatch, history: History) -> bool:
    """Whether files that are read are so, too, by who needs no more of their columns: none was
    found not to be readable."""
    (other,) = opened.histories
    whole = not any(opened.bad.values())
    return whole and other.stream == history.stream and other.spare <= history.spare


def _begin(
    history: History,
    logged: Sequence[ArrivedFile],
    span: tuple[int, int, int],
    context: SpanContext,
) -> tuple[list[ArrivedFile], list[tuple[str, DataError]]]:
    """Of the files that a source has logged up to an entry those that are there, and those that the
    archive had before; and those whose names it has otherwise."""
    there = [f for f in logged if "://" in f.path or os.path.exists(f.place)]
    data = history.stream.data
    if data.archive is None:
        return there, []
    known = set(context.passed.get(history.stream.name, ()))
    if (context.folder.sources / str(span[0])).is_dir():
        known |= {f.path for f in list_logged(context.folder, span[0], span[2], _ALL)}
    return add_archived(data, there, known)


def _unknown(file: Path, error: Exception) -> RunError:
    return RunError(
        f"Spark's log of files is not as expected: {error}",
        why="it says which files have come",
        fix="restore the whole folder of the intake; or remove it, and register the queries again "
        "with --replace",
        source=Source(str(file)),
    )
