"""The ways in which the rows of all plans of a query can be divided."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.partition.find_places import Place
from ontoweir.checker.partition.list_ways import list_ways
from ontoweir.checker.partition.way import Scene, Way, multiply_ways


@dataclass(frozen=True, slots=True)
class Together:
    """Plans that divide streams which no other plan does, and the ways that are ways of all of
    them; a way of each of several such is a way of the whole query."""

    plans: tuple[SynopsisPlan, ...]
    ways: tuple[Way, ...]


def unite_ways(
    plans: Sequence[SynopsisPlan], scene: Scene, place: Place | None
) -> list[Together] | None:
    """The ways of all plans, apart where they are of different streams (None: there is none)."""
    found: list[tuple[frozenset[str], Together]] = []
    for plan in plans:
        mine = list_ways(plan, scene, place)
        streams = frozenset(stream for way in mine for stream in way)
        near = [held for held in found if streams & held[0]]
        ways: Sequence[Way] = [{}]
        for _, held in near:
            ways = multiply_ways(ways, held.ways)
        ways = multiply_ways(ways, mine)
        if not ways:
            return None
        one = Together((*(p for _, held in near for p in held.plans), plan), tuple(ways))
        whole = streams.union(*(held[0] for held in near))
        found = [*(held for held in found if not streams & held[0]), (whole, one)]
    return [one for _, one in found]
