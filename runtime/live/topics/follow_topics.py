"""Take in what topics bring without a streaming query of Spark's, by a thread of this process.

It writes the files that Spark would (`spark_folder`), so that either goes on where the other was.
"""

import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ontoweir.errors import RunError
from ontoweir.files.replace_file import replace_file
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.checkpoint.spark_folder import (
    NOTHING,
    SPARK_VERSION,
    Offsets,
    SparkFolder,
    commit_text,
)
from ontoweir.runtime.live.topics.read_messages import Came, Messages
from ontoweir.runtime.live.topics.topic_client import MessagesGone, TopicClient, name_broker
from ontoweir.runtime.live.topics.topic_offsets import read_topic_offsets

_PATIENCE = 0.25
"""Seconds to wait for a broker's messages at once."""
_GIVE_UP = 10.0
"""Seconds after which a run that is to end no longer waits for a broker."""
_TICK = 1.0
"""Seconds between two looks at whether streams idle."""


Take = Callable[[Came, int], None]
"""Takes a micro-batch in, by its number."""


@dataclass(slots=True)
class TopicFollower:
    """In the place of Spark's streaming query.

    `order`: the stream of each source, in Spark's order (None: it is the ticks); `batch`: the next
    micro-batch; `once`: it ends with what is there when it begins; `seconds`: at least so long
    between micro-batches; `begins_anew`: messages are gone; what reads them is to be found out, but
    of the streams in `anew`, of which it says why.
    """

    folder: SparkFolder
    order: Sequence[Stream | None]
    batch: int
    take: Take
    once: bool = False
    seconds: float = 0.0
    begins_anew: bool = False
    anew: dict[str, str] = field(default_factory=dict)
    error: BaseException | None = None
    clients: list[TopicClient] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _last: float = float("-inf")
    _began: float = field(default_factory=time.monotonic)
    _shown: tuple[str, ...] = ()
    _ids: dict[str, str] = field(default_factory=dict)

    @property
    def _names(self) -> Path:
        """The file that keeps what brokers call the topics that have been begun."""
        return self.folder.path.parent / "topics.json"

    def start(self) -> None:
        """Begin.

        Raises:
            RunError: the disk does not take it.
        """
        known: dict[str, dict[str, int]] = {}
        try:
            if self.batch > 0:
                text = self.folder.offsets_of(self.batch - 1).read_text(encoding="utf-8")
                self._shown = tuple(Offsets.parse(text).sources)
                for stream, held in zip(self.order, self._shown, strict=False):
                    if stream is not None and held != NOTHING:
                        known[stream.name] = read_topic_offsets(held)
            if self._names.exists():
                self._ids = json.loads(self._names.read_text(encoding="utf-8"))
            for place in (self.folder.offsets, self.folder.commits):
                place.mkdir(parents=True, exist_ok=True)
            if not self.folder.metadata.exists():
                name = json.dumps({"id": str(uuid.uuid4())}, separators=(",", ":"))
                replace_file(self.folder.metadata, name.encode(), durable=True)
        except (OSError, ValueError) as error:
            raise unwritable(self.folder.path, OSError(str(error))) from error
        together: dict[object, list[Stream]] = {}
        for stream in self.order:
            if stream is not None:
                together.setdefault(name_broker(stream), []).append(stream)
        for streams in together.values():
            reach = {s.name: known[s.name] for s in streams if s.name in known}
            self.clients.append(TopicClient(streams, reach, dict(self._ids)))
        self._thread = threading.Thread(target=self._run, name="ontoweir: topics", daemon=True)
        self._thread.start()

    def awaitTermination(self, timeout: float) -> bool:  # as Spark's query has it
        """Whether it has ended of itself.

        Raises:
            OntoweirError: the error that ended it.
        """
        assert self._thread is not None
        self._thread.join(timeout)
        if self._thread.is_alive():
            return False
        if self.error is not None:
            raise self.error
        return True

    def stop(self) -> None:
        """Stop; a step that has begun is finished first."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped.is_set() and not self._step():
                pass
        except MessagesGone as gone:
            self.begins_anew, self.anew = True, gone.anew
        except BaseException as error:  # who waits for the end is told
            self.error = error
        finally:
            for client in self.clients:
                client.close()

    def _step(self) -> bool:
        """Take in what comes next, if anything does: whether all is over."""
        found: dict[str, Messages] = {}
        for client in self.clients:
            found |= client.poll(_PATIENCE / len(self.clients))
        sources = self._describe()
        new = len(sources) != len(self._shown) or any(
            s != NOTHING and (n >= len(self._shown) or self._shown[n] == NOTHING)
            for n, s in enumerate(sources)
            if self.order[n] is not None
        )
        new = new and any(s != NOTHING for s, held in zip(sources, self.order, strict=True) if held)
        ticked = None in self.order and time.monotonic() - self._last >= _TICK
        if found or new or (ticked and self._shown):
            self._hand(found, sources)
            self._stopped.wait(max(0.0, self.seconds - (time.monotonic() - self._last)))
        if self.once and time.monotonic() - self._began > _GIVE_UP:
            for client in self.clients:
                if client.unanswered is not None:
                    raise client.unanswered
                if not client.is_open:
                    names = ", ".join(s.name for s in client.streams)
                    raise RunError(
                        f"the broker of {names} does not answer",
                        why="a run that ends is to read everything that is there",
                        fix="start the broker, and run again: it goes on where it was",
                    )
        return self.once and all(client.is_at_end for client in self.clients)

    def _describe(self) -> tuple[str, ...]:
        """Up to where each source is read, as Spark writes it."""
        reach: dict[str, dict[str, int]] = {}
        for client in self.clients:
            reach |= client.reach
        return tuple(
            self._tick(n) if stream is None else _write_offsets(reach.get(stream.name))
            for n, stream in enumerate(self.order)
        )

    def _tick(self, source: int) -> str:
        """Seconds since Spark's source of ticks, or this in its place, has begun."""
        log = self.folder.sources / str(source) / "0"
        now = time.time_ns() // 1_000_000
        try:
            begun = int(log.read_text(encoding="utf-8").splitlines()[1])
        except (OSError, ValueError, IndexError):
            begun = now
            log.parent.mkdir(parents=True, exist_ok=True)
            replace_file(log, f"{SPARK_VERSION}\n{now}".encode())
        before = self._shown[source] if source < len(self._shown) else NOTHING
        least = int(before) if before.isdigit() else 0
        return str(max((now - begun) // 1000, least))

    def _hand(self, found: Mapping[str, Messages], sources: tuple[str, ...]) -> None:
        self._last = time.monotonic()
        now = time.time_ns() // 1_000_000
        settings = {"batchWatermarkMs": 0, "batchTimestampMs": now, "conf": {}}
        written = json.dumps(settings, separators=(",", ":"))
        try:
            ids = {topic: id_ for client in self.clients for topic, id_ in client.ids.items()}
            if ids != self._ids:
                replace_file(self._names, json.dumps(ids).encode(), durable=True)
                self._ids = ids
            place = self.folder.offsets_of(self.batch)
            place.write_text(Offsets(SPARK_VERSION, written, sources).text, encoding="utf-8")
            self.take(Came(found), self.batch)
            self.folder.commit_of(self.batch).write_text(commit_text(0), encoding="utf-8")
            for old in (self.folder.offsets_of, self.folder.commit_of):
                _forget(old(self.batch - 2))
        except OSError as error:
            raise unwritable(self.folder.path, error) from error
        self.batch, self._shown = self.batch + 1, sources


def _forget(file: Path) -> None:
    file.unlink(missing_ok=True)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _write_offsets(reach: Mapping[str, int] | None) -> str:
    """Offsets as Spark writes them.

    >>> _write_offsets({"t/0": 5, "t/1": 7})
    '{"t":{"0":5,"1":7}}'
    """
    if reach is None:
        return NOTHING
    nested: dict[str, dict[str, int]] = {}
    for part, at in sorted(reach.items()):
        topic, _, number = part.rpartition("/")
        nested.setdefault(topic, {})[number] = at
    return json.dumps(nested, separators=(",", ":"))
