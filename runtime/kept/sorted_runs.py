"""Numbers with the places of rows, in sorted runs that are merged as they grow."""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array, expand, starts_of_runs

_MERGE = 2
"""Of two neighbours, the first run is at least so many times as long as the second one."""


class SortedRuns:
    """Entries (number, place): the number of an entry may be looked up.

    Entries are added in runs, each sorted; where a run is not much shorter than the one before it,
    both become one. So there are few runs, an entry is moved few times, and adding some costs time
    that follows their number, whatever there is already (O'Neil et al., The log-structured
    merge-tree, 1996).
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Array, Array]] = []

    def __len__(self) -> int:
        return sum(len(numbers) for numbers, _ in self._runs)

    def add(self, numbers: Array, places: Array) -> None:
        """Add entries, in any order."""
        if not len(numbers):
            return
        order = np.argsort(numbers, kind="stable")
        self._runs.append((numbers[order], places[order]))
        while len(self._runs) > 1:
            (first, _), (second, _) = self._runs[-2:]
            if len(first) >= _MERGE * len(second):
                break
            both = self._runs[-2:]
            del self._runs[-2:]
            self._runs.append(_merge(*both))

    def find(self, numbers: Array) -> Array:
        """The places of all entries with one of some distinct numbers; places may repeat."""
        return self.take(self.locate(numbers))

    def locate(self, numbers: Array) -> "list[tuple[Array, Array]]":
        """Where the entries with some distinct numbers, in order, are in each run: from where on,
        and how many."""
        located = []
        for mine, _ in self._runs:
            start = np.searchsorted(mine, numbers, side="left")
            located.append((start, np.searchsorted(mine, numbers, side="right") - start))
        return located

    def take(self, located: "Sequence[tuple[Array, Array]]") -> Array:
        """The places of the entries that were located."""
        found = [np.zeros(0, dtype=np.int64)]
        for (_, places), (start, length) in zip(self._runs, located, strict=True):
            found.append(places[expand(start, length)[1]])
        return np.concatenate(found)

    def up_to(self, number: int) -> Array:
        """The places of all entries whose number is not greater; places may repeat."""
        found = [np.zeros(0, dtype=np.int64)]
        for mine, places in self._runs:
            found.append(places[: np.searchsorted(mine, number, side="right")])
        return np.concatenate(found)

    def drop(self, number: int) -> None:
        """Forget the entries whose number is not greater."""
        cut = []
        for mine, places in self._runs:
            start = int(np.searchsorted(mine, number, side="right"))
            if start < len(mine):
                cut.append((mine[start:], places[start:]))
        self._runs = cut


def _merge(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Two runs as one."""
    at = np.searchsorted(first[0], second[0], side="right")
    return np.insert(first[0], at, second[0]), np.insert(first[1], at, second[1])


def sort_distinct(numbers: Array) -> Array:
    """Distinct whole numbers, in order: by sorting, which for these takes numpy a tenth of the time
    that its table of those seen does."""
    ordered = np.sort(numbers)
    distinct: Array = ordered[starts_of_runs(ordered)]
    return distinct
