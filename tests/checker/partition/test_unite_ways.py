"""Ways of plans that share no stream are apart; together they are all ways, by brute force."""

from itertools import product
from random import Random
from typing import Any, cast

import pytest

from ontoweir.checker.partition import unite_ways as module
from ontoweir.checker.partition.unite_ways import unite_ways
from ontoweir.checker.partition.way import Free, Role, Scene, Way, Whole, merge_ways

ROLES: tuple[Role, ...] = ("k", "k2", Whole(), Free())


def _draw(random: Random) -> list[Way]:
    """The ways of a plan over one or two of five streams."""
    streams = random.sample("abcde", random.choice([1, 1, 2]))
    count = random.choice([0, 1, 2, 2, 3, 3])
    return [{s: random.choice(ROLES) for s in streams} for _ in range(count)]


def _freeze(way: Way) -> frozenset[tuple[str, Role]]:
    return frozenset(way.items())


def test_together_they_are_all_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "list_ways", lambda plan, scene, place: plan)
    random, none, several = Random(3), 0, 0
    for _ in range(2000):
        plans = [_draw(random) for _ in range(random.randint(1, 4))]
        whole: list[Way] = [{}]
        for mine in plans:
            merged = (merge_ways(one, other) for one, other in product(whole, mine))
            whole = [way for way in merged if way is not None]
        found = unite_ways(cast(Any, plans), cast(Scene, None), None)
        none += found is None
        if found is None:
            assert not whole
            continue
        streams = [{s for way in one.ways for s in way} for one in found]
        assert sum(map(len, streams)) == len(set().union(*streams))
        assert sorted(map(id, (p for one in found for p in one.plans))) == sorted(map(id, plans))
        several += len(found) > 1
        made = [
            {s: r for way in ways for s, r in way.items()}
            for ways in product(*(o.ways for o in found))
        ]
        assert {_freeze(way) for way in made} == {_freeze(way) for way in whole}
    assert none > 100
    assert several > 100
