"""What is known of the files around a step: those of one modification time, and those to come."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ontoweir.runtime.live.arrivals.find_horizon import find_horizon
from ontoweir.runtime.live.arrivals.ingest import list_delivered
from ontoweir.runtime.live.arrivals.list_partitions import list_waiting
from ontoweir.runtime.live.arrivals.read_stream import is_listed
from ontoweir.runtime.live.intake.model import Lane
from ontoweir.runtime.live.intake.open_span import OpenSpan
from ontoweir.runtime.live.model.live_job import FileGroup, KnownSources
from ontoweir.runtime.sources.history import History

_Key = tuple[str, int, frozenset[str], frozenset[str]]


@dataclass(slots=True)
class _Passed:
    """Files of a stream modified before a time (ms), which need not be looked at again."""

    modified: int = -1
    files: set[str] = field(default_factory=set)


@dataclass(slots=True)
class FileWatch:
    """Looks at the folders of streams once for all lanes of a step.

    `firsts`: the first timestamps of files that wait, by stream; `passed`: what was modified
    before, by stream; `done`: files that are delivered, by stream.
    """

    firsts: dict[str, dict[str, int | None]] = field(default_factory=dict)
    passed: dict[str, _Passed] = field(default_factory=dict)
    looked: dict[_Key, tuple[frozenset[str], int | None]] = field(default_factory=dict)

    def begin_step(self) -> None:
        """Forget what was there at the step before."""
        self.looked.clear()

    def look_around(
        self, lane: Lane, span: OpenSpan, arrived: Mapping[str, pa.Table], *, last: bool
    ) -> KnownSources:
        """What is known of a lane's sources now.

        Args:
            lane: with its state before the step.
            span: the files that it takes in.
            arrived: the rows of this step, by stream.
            last: whether all rows of the span's files are there with this step.
        """
        peers: dict[str, frozenset[str]] = {}
        horizons: dict[str, int] = {}
        for history in lane.histories:
            name = history.stream.name
            if not is_listed(history.stream):
                continue
            taken = frozenset(f.path for o in span.opened.values() for f in o.files.get(name, ()))
            known = lane.state.files.get(name)
            peers[name], first = self._look_ahead(
                history, known, arrived.get(name), taken, last=last
            )
            if first is not None:
                horizons[name] = first
        return KnownSources({}, peers, horizons)

    def _look_ahead(
        self,
        history: History,
        known: FileGroup | None,
        rows: "pa.Table | None",
        taken: frozenset[str],
        *,
        last: bool,
    ) -> tuple[frozenset[str], int | None]:
        """Files there that were modified with the last ones of a stream; and the first timestamp
        that waits in files which come later. `taken`: the files of this span, all rows of which are
        there with its last step."""
        name = history.stream.name
        modified, delivered = list_delivered(known, rows)
        if modified is None:
            return frozenset(), None
        if last:
            delivered |= taken
        key = (name, modified, frozenset(delivered), taken)
        if key not in self.looked:
            self.looked[key] = self._look(history, modified, delivered, taken)
        return self.looked[key]

    def _look(
        self, history: History, modified: int, delivered: set[str], taken: frozenset[str]
    ) -> tuple[frozenset[str], int | None]:
        name = history.stream.name
        held = self.passed.setdefault(name, _Passed(modified))
        if held.modified > modified:
            held = _Passed(modified)  # of a lane that is behind: it is not kept
        else:
            held.modified = modified
        same, later = list_waiting(history.stream, modified, delivered, held.files)
        firsts = self.firsts.setdefault(name, {})
        return same, find_horizon(history.stream, (same | later) - delivered - taken, firsts)
