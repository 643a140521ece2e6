"""Bounded verdicts that a process has found already."""

from ontoweir.checker.verdict.verdict import Verdict

REMEMBERED = 64
"""Of so many queries."""


class RememberedVerdicts:
    """Of the last queries that were decided, by identity, those verdicts that are bounded."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, Verdict]] = {}

    def find(self, query: object) -> Verdict | None:
        """The verdict on this very query."""
        known = self._known.get(id(query))
        return None if known is None or known[0] is not query else known[1]

    def keep(self, query: object, verdict: Verdict) -> None:
        """Remember a verdict, if it is bounded: others depend on the time that was allowed."""
        if verdict.plans is None:
            return
        while len(self._known) >= REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[id(query)] = (query, verdict)
