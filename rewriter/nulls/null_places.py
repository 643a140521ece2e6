"""Which columns of a query may be NULL in its answers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NullPlaces:
    """Places in SELECT: `apart`, those whose rows with and without a value are disjuncts of their
    own, as what is said of either differs; `shown`, those that are only shown, NULL too."""

    apart: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()


NOWHERE = NullPlaces()
