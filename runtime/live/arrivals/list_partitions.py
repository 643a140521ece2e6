"""What a source still has to deliver: Kafka's partitions, and files of one modification time."""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.checkpoint.spark_folder import Offsets
from ontoweir.runtime.live.model.live_job import PARTITION_OF
from ontoweir.runtime.located.data_files import is_data, is_finished, local_path
from ontoweir.runtime.located.locate_source import find_matches


def list_partitions(stream: Stream, offsets: Path) -> tuple[str, ...]:
    """All partitions of the topics that a stream from Kafka reads, those without messages too.

    Args:
        stream: the stream.
        offsets: Spark's file of the micro-batch's offsets (a line for each source).
    """
    wanted = _subscribed({n.lower(): v for n, v in stream.data.options})
    partitions_read: dict[str, None] = {}
    for parts in _topics(offsets):
        for topic, partitions in parts.items():
            if wanted(topic):
                for partition in partitions:
                    partitions_read[f"{stream.name}{PARTITION_OF}{topic}/{partition}"] = None
    return tuple(partitions_read)


def _subscribed(options: Mapping[str, str]) -> Callable[[str], bool]:
    """Whether a source reads a topic: its option is subscribe, subscribePattern or assign."""
    if "subscribe" in options:
        named = {t.strip() for t in options["subscribe"].split(",")}
        return lambda topic: topic in named
    if "subscribepattern" in options:
        pattern = re.compile(options["subscribepattern"])
        return lambda topic: pattern.fullmatch(topic) is not None
    assigned = json.loads(options.get("assign", "{}"))
    return lambda topic: topic in assigned


def _topics(offsets: Path) -> Iterator[Mapping[str, Mapping[str, int]]]:
    """The offsets of Kafka sources: {topic: {partition: offset}}."""
    for line in Offsets.parse(offsets.read_text(encoding="utf-8")).sources:
        try:
            entry: Any = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry and all(isinstance(v, dict) for v in entry.values()):
            yield entry


def list_waiting(
    stream: Stream, modified: int, delivered: Collection[str], passed: set[str] | None = None
) -> tuple[frozenset[str], frozenset[str]]:
    """The local files of a stream that are there and not among those delivered: those that were
    modified at a time (ms since 1970) and have rows, and those that were modified after it.

    A folder that is not local has none.

    `passed`: files known to have been modified before; it is added to, and they are not looked at
    again: what is delivered never goes back in these times, and files do not change.
    """
    passed = set() if passed is None else passed
    path = local_path(stream.data.path or "")
    if "://" in path:
        return frozenset(), frozenset()
    same_time: set[str] = set()
    later: set[str] = set()
    there: set[str] = set()
    for place in [path] if os.path.exists(path) else find_matches(path):
        for file in walk_files(place):
            there.add(file)
            if file in passed or file in delivered:
                continue
            try:
                status = os.stat(file)
            except OSError:
                continue
            when = status.st_mtime_ns // 1_000_000
            if when < modified:
                passed.add(file)
            elif when > modified and is_data(stream.data, file):
                later.add(file)
            same = when == modified and is_data(stream.data, file)
            if same and status.st_size and not _is_empty(file, stream.data.format):
                same_time.add(file)
    passed &= there  # what has been moved away is forgotten
    return frozenset(same_time), frozenset(later)


def walk_files(place: str) -> Iterator[str]:
    """The files in a folder and those in it, except hidden ones; a file is itself."""
    if os.path.isfile(place):
        yield place
        return
    try:
        with os.scandir(place) as entries:
            there = [e for e in entries if is_finished(e.name)]
    except OSError:
        return
    for entry in there:
        if entry.is_file():  # no pipe: whoever opened it would wait
            yield entry.path
        elif entry.is_dir(follow_symlinks=False):
            yield from walk_files(entry.path)


def _is_empty(file: str, form: str) -> bool:
    if form != "parquet":
        return False
    try:
        return bool(pq.read_metadata(file).num_rows == 0)
    except (OSError, pa.ArrowInvalid):
        return False
