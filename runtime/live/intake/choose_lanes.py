"""Which lanes are advanced next: those that are equally far, together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.live.intake.model import Lane, Reach

_AT_ONCE = 16
"""Files in a micro-batch from which on more may be waiting to be listed."""
_PATIENCE = 64
"""Micro-batches after which a query begins though more files may be waiting to be listed."""
_FIRST = -(1 << 63)


@dataclass(slots=True)
class LaneChooser:
    """What the choice rests on. `reach`: how far Spark has listed; `brought`: of each stream how
    many entries of logs, or partitions with messages, the last micro-batch brought; `crowded`: the
    streams of which it brought so many files that more may be waiting; `waited`: by the ids of
    queries that have not begun, the micro-batches since they joined."""

    reach: Reach = field(default_factory=Reach)
    brought: dict[str, int] = field(default_factory=dict)
    crowded: frozenset[str] = frozenset()
    waited: dict[str, int] = field(default_factory=dict)

    def note(self, reach: Reach, sources: LiveSources, folder: SparkFolder) -> None:
        """A micro-batch has been listed, up to `reach`."""
        before, self.reach = self.reach, reach
        entries = reach.entries.items()
        self.brought = {s: last - before.entries.get(s, -1) for s, last in entries}
        for stream, held in reach.offsets.items():
            known = before.offsets.get(stream, {})
            self.brought[stream] = sum(last != known.get(p, 0) for p, last in held.items())
        self.waited = {id_: n + 1 for id_, n in self.waited.items()}
        self.crowded = frozenset(
            stream
            for stream, count in self.brought.items()
            if count
            and self.waited
            and stream in reach.entries
            and _count(folder, sources.numbers[stream], reach.entries[stream]) >= _AT_ONCE
        )

    def choose(self, lanes: Sequence[Lane], *, behind: bool) -> list[Lane]:
        """The lanes to advance next, all equally far: those that lack only the last micro-batch,
        or (`behind`) those that lack most, or all."""
        chosen: dict[Any, list[Lane]] = {}
        for lane in lanes:
            if (lane.at.batch >= self.reach.batch and lane.span is None) or self.waits(lane):
                continue
            if behind != (lane.at.batch < max(0, self.reach.batch - 1)):
                continue
            to = self.reach if lane.span is None else lane.span.to
            cut = None if lane.span is None else lane.span.cut_us
            key = (lane.at.key, lane.span is not None, to.key, _FIRST if cut is None else cut)
            chosen.setdefault(key, []).append(lane)
        return chosen[min(chosen)] if chosen else []

    def is_quiet(self, lane: Lane) -> bool:
        """Whether the last micro-batch brings nothing for a lane that has all before it."""
        if lane.at.batch < max(0, self.reach.batch - 1) or lane.span is not None:
            return False
        if any(stream in lane.job.idle_seconds for stream in lane.streams):
            return False
        return not any(self.brought.get(stream) for stream in lane.streams)

    def waits(self, lane: Lane) -> bool:
        """Whether a lane does not begin yet, as more files may be waiting to be listed."""
        if lane.begun:
            return False
        if not lane.streams <= self.reach.streams:
            return True  # Spark is about to begin anew, with its streams
        if all(self.waited.get(m.id, _PATIENCE) >= _PATIENCE for m in lane.members):
            return False
        return bool(lane.streams & self.crowded)


def _count(folder: SparkFolder, source: int, entry: int) -> int:
    """How many files an entry of a source's log has."""
    try:
        with open(folder.entry_of(source, entry), "rb") as opened:
            return sum(1 for _ in opened) - 1
    except OSError:
        return 0
