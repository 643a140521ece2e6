"""What topics bring between two reaches, for all lanes that are equally far."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.topics.open_topic import Histories, split_rows
from ontoweir.runtime.live.topics.read_range import (
    list_earliest,
    list_latest,
    list_partitions,
    read_range,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Offsets = Mapping[str, Mapping[str, int]]
"""By stream, the next offset of each of its partitions, by topic/partition."""
_END = 1 << 62
"""Behind all offsets."""
_NONE: Mapping[str, int] = {}


@dataclass(slots=True)
class Handed:
    """What Spark, or this process, hands over in a micro-batch: the messages from `since` (of a
    stream that is not there: from where its source begins) up to `to`. `keys`: the sets of columns
    that it has of each stream (None: all); `rows`: those of one stream, by what is read of it
    (None: they are to be read by their offsets)."""

    since: Offsets
    to: Offsets
    keys: Mapping[str, frozenset[str]] | None
    rows: Callable[[Histories], dict[str, pa.Table] | None]

    def has(self, stream: str, keys: frozenset[str], since: Offsets, to: Offsets) -> bool:
        """Whether it has just what a span brings of a stream."""
        mine = since.get(stream), to.get(stream)
        if mine != (self.since.get(stream), self.to.get(stream)):
            return False
        return self.keys is None or keys <= self.keys[stream]


def collect_once(collect: Callable[[], pa.Table]) -> Callable[[Histories], dict[str, pa.Table]]:
    """Rows by what is read, of one table that is made when they are first asked for."""
    kept: list[pa.Table] = []

    def rows(histories: Histories) -> dict[str, pa.Table]:
        if not kept:
            kept.append(collect())
        return split_rows(kept[0], histories)

    return rows


@dataclass(slots=True)
class TopicSpan:
    """`histories`: what is read of streams of Kafka's, by key; `since`, `to`: which messages;
    `gaps`: by stream, which messages are no longer there; `broken`: by stream, why it cannot be
    read."""

    histories: Histories
    since: Offsets
    to: Offsets
    spark: "SparkSession"
    gaps: dict[str, str] = field(default_factory=dict)
    broken: dict[str, OntoweirError] = field(default_factory=dict)

    def read(self, handed: Handed | None) -> dict[str, dict[str, pa.Table]]:
        """The rows, by key and stream: of a stream that cannot be read, none."""
        found: dict[str, dict[str, pa.Table]] = {key: {} for key in self.histories}
        for name in {h.stream.name: None for h in self.histories.values()}:
            histories = {k: h for k, h in self.histories.items() if h.stream.name == name}
            try:
                rows = self._read(name, histories, handed)
            except OntoweirError as error:
                self.broken[name] = error
                continue
            for key, table in rows.items():
                found[key] = {name: table}
        return found

    def _read(self, name: str, histories: Histories, handed: Handed | None) -> dict[str, pa.Table]:
        if handed is not None and handed.has(name, frozenset(histories), self.since, self.to):
            same = self.since.get(name) == self.to.get(name)
            rows = {} if same else handed.rows(histories)
            if rows is not None:
                return rows
        end = self.to.get(name, _NONE)
        stream = next(iter(histories.values())).stream
        if all(self.since.get(name, _NONE).get(p, 0) >= last for p, last in end.items()):
            return {}
        start, gap = begin_range(self.spark, stream, self.since.get(name, _NONE), end)
        if gap is not None:
            self.gaps[name] = gap
            return {}
        return read_range(self.spark, histories, start, end)


def begin_range(
    spark: "SparkSession", stream: Stream, since: Mapping[str, int], end: Mapping[str, int]
) -> tuple[dict[str, int], str | None]:
    """Where reading a stream begins: partitions that have no offset yet, with what is there; and
    which messages are no longer there (None: all are).

    Raises:
        RunError: the broker does not say.
    """
    earliest = list_earliest(spark, stream, sorted(end))
    gaps = []
    start = {}
    for part, last in sorted(end.items()):
        first = earliest.get(part, 0)
        start[part] = min(since.get(part, first), last)
        if part in since and start[part] < min(first, last):
            gaps.append(f"{part} has no longer its offsets from {start[part]} to {first - 1}")
            start[part] = min(first, last)
        elif part not in since:
            start[part] = min(first, last)
            if since and start[part] > 0:  # a partition that came since began with 0
                gaps.append(f"{part} has no longer its offsets from 0 to {start[part] - 1}")
    lost = f"messages have been removed from the topic ({'; '.join(gaps)})"
    return start, lost if gaps and not allows_loss(stream) else None


def find_lost(spark: "SparkSession", stream: Stream, since: Mapping[str, int]) -> str | None:
    """Which messages of a stream are not there, from offsets on that have been reached (None: all
    are): they have been removed, or the topic has been made anew.

    Raises:
        RunError: the broker does not say.
    """
    parts = dict.fromkeys([*since, *list_partitions(spark, stream)], _END)
    _, gap = begin_range(spark, stream, since, parts)
    if gap is not None or allows_loss(stream):
        return gap
    for part, last in sorted(list_latest(spark, stream, sorted(since)).items()):
        if last < since[part]:
            return f"{part} had messages up to offset {since[part]}, and ends before {last} now"
    return None


def allows_loss(stream: Stream) -> bool:
    """Whether a stream is declared to go on where messages are no longer there."""
    options = {n.lower(): v for n, v in stream.data.options}
    return options.get("failondataloss", "true").lower() == "false"


def limit_offsets(since: Mapping[str, int], end: Mapping[str, int], share: float) -> dict[str, int]:
    """Up to where a share of the messages is: of each partition one at least, where there are."""
    limited = {}
    for part, last in end.items():
        first = since[part]
        limited[part] = min(last, first + max(ceil((last - first) * share), 1))
    return limited
