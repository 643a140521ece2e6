"""The ways in which the rows of all plans of a query can be divided."""

from collections.abc import Sequence

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.partition.find_places import Place
from ontoweir.checker.partition.list_ways import list_ways
from ontoweir.checker.partition.way import Scene, Way, multiply_ways


def unite_ways(plans: Sequence[SynopsisPlan], scene: Scene, place: Place | None) -> list[Way]:
    """The ways that are ways of all plans."""
    ways: list[Way] = [{}]
    for plan in plans:
        mine = list_ways(plan, scene, place)
        ways = multiply_ways(ways, mine)
    return ways
