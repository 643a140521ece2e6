"""What a process has found already of queries."""

from typing import Generic, TypeVar

REMEMBERED = 64
"""Of so many queries."""

Found = TypeVar("Found")


class Remembered(Generic[Found]):
    """Of the last queries, by identity, what was found."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, Found]] = {}

    def find(self, query: object) -> Found | None:
        """What was found of this very query."""
        known = self._known.get(id(query))
        return None if known is None or known[0] is not query else known[1]

    def keep(self, query: object, found: Found) -> None:
        """Remember it."""
        while len(self._known) >= REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[id(query)] = (query, found)
