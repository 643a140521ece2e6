"""Remember how long whole replays of a query took in this process, of files that are the same."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ontoweir.runtime.sources.history import History
from ontoweir.runtime.verified.identify_streams import Identity
from ontoweir.runtime.verified.verification import Verification

_WHAT = "pace"
"""How entries of the cache are called that say so."""
_ALIKE = 1.5
"""What is so many times as long, or as short, is kept in the place of what was kept before."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Where it is kept how long whole replays of a query take.

    `seconds`: what the last one took that was kept (None: none was).
    """

    verification: Verification
    place: Identity
    seconds: float | None

    def keep(self, seconds: float) -> None:
        """What a replay took."""
        known = self.seconds
        if known is None or not known / _ALIKE <= seconds <= known * _ALIKE:
            self.verification.cache.write(_WHAT, self.place, seconds)


def recall_pace(
    verification: Verification | None, histories: Sequence[History], query: Iterable[str]
) -> Pace | None:
    """How long whole replays of a query take (None: its files are not known).

    Args:
        verification: what is known of the streams' files (None: nothing).
        histories: what the query reads.
        query: texts that tell it from others.
    """
    names = [h.stream.name for h in histories]
    if verification is None or any(h.verified is None for h in histories):
        return None
    if any(name not in verification.known for name in names):
        return None
    columns = tuple(column for h in histories for column in h.columns)
    files = tuple(verification.known[name] for name in names)
    place: Identity = (files, columns, tuple(query))
    return Pace(verification, place, verification.cache.read(_WHAT, place, float))
