"""Note where the rows are that a replay rejects."""

from collections.abc import Mapping, Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.sources.history import Cursor, History


class RejectWatch:
    """What is rejected of each stream, by reason and by file, chunk after chunk.

    `rows`: how many rows were seen; `spoiled`: streams with rows of no time, which no chunk places.
    """

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.spoiled: set[str] = set()
        self._parts: dict[str, dict[str, dict[str, list[Array]]]] = {}

    def see(
        self,
        histories: Sequence[History],
        before: Mapping[str, Cursor],
        admitted: Mapping[str, Admitted],
    ) -> None:
        """A chunk of some streams, from their cursors on."""
        for history in histories:
            name = history.stream.name
            rows = admitted[name]
            self.rows[name] = self.rows.get(name, 0) + rows.read
            if sum(rows.rejected.values()) != sum(len(index) for _, index in rows.rejects):
                self.spoiled.add(name)
            mine = self._parts.setdefault(name, {})
            for reason, index in rows.rejects:
                files = mine.setdefault(reason, {})
                for file, numbers in _spread(history, before[name], index):
                    files.setdefault(file, []).append(numbers)

    def rejects(self, name: str) -> dict[str, dict[str, Array]]:
        """Of a stream, the numbers (from 0) of the rejected rows, by reason and by file."""
        return {
            reason: {file: np.sort(np.concatenate(parts)) for file, parts in files.items()}
            for reason, files in self._parts.get(name, {}).items()
        }


def _spread(history: History, cursor: Cursor, index: Array) -> list[tuple[str, Array]]:
    """Rows after a cursor as numbers of rows in their files, by row group."""
    found = []
    piece, offset, position, done = cursor.piece, cursor.offset, 0, 0
    while done < len(index):
        held = history.pieces[piece]
        end = position + held.rows - offset
        stop = int(np.searchsorted(index, end))
        if stop > done:
            first = held.first - 1 + offset
            found.append((held.shown, index[done:stop] - position + first))
        piece, offset, position, done = piece + 1, 0, end, stop
    return found
