"""The streams, or static data, that may make the triples of patterns which share variables."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.rewriter.tmappings.may_meet import differ_at_ends

Ends = tuple[str, str] | None
"""How an IRI begins and ends (None: it may be any term)."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to make a triple: of the rows of which stream (None: static data), with which subject
    and object."""

    maker: str | None
    ends: tuple[Ends, Ends]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern: the names of its subject and object, and the ways to match it."""

    terms: tuple[str, str]
    ways: tuple[Way, ...]


def meet_makers(patterns: Sequence[Pattern]) -> list[frozenset[str | None]]:
    """Of each pattern, who may make a triple that is in a solution of all: one with terms that some
    triple of every other pattern may have, too, but for patterns that nobody makes. If there is
    none, all who make such triples.

    Args:
        patterns: of one group.
    """
    left = [list(pattern.ways) for pattern in patterns]
    places: dict[str, list[tuple[int, int]]] = {}
    made = [(number, pattern) for number, pattern in enumerate(patterns) if pattern.ways]
    for number, pattern in made:
        for place, name in enumerate(pattern.terms):
            places.setdefault(name, []).append((number, place))
    shrinks = True
    while shrinks:
        shrinks = False
        for shared in places.values():
            for number, place in shared:
                kept = [
                    way
                    for way in left[number]
                    if all(
                        any(_may_be_one(way.ends[place], w.ends[p]) for w in left[other])
                        for other, p in shared
                        if other != number
                    )
                ]
                shrinks = shrinks or len(kept) < len(left[number])
                left[number] = kept
    if not all(left[number] for number, _ in made):
        return [frozenset(way.maker for way in pattern.ways) for pattern in patterns]
    return [frozenset(way.maker for way in ways) for ways in left]


def _may_be_one(one: Ends, other: Ends) -> bool:
    return one is None or other is None or not differ_at_ends(one, other)
