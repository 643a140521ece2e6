"""A slice of the exhaustive family: every query has a plan or a witness, and each is right.

The whole: `PYTHONPATH=. python benchmarks/decide/exhaustive_family.py --long`.
"""

from itertools import permutations, product
from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from tests.oracle.exhaustive_family import CATALOG, Family, Shape, make_family, show
from tests.oracle.random_queries import Case
from tests.oracle.run_family import Outcome, check_plan, decide_shape, make_histories
from tests.oracle.test_witness_against_oracle import check_witness

_SLICE = (
    (Family(1, 1, 2, "UBLH", ("<", "=", "<="), local=True), None),
    (Family(2, 1, 1), 75),
    (Family(2, 2, 2), 50),
    (Family(2, 3, 1, "ULH", ("<", "<="), local=True), 50),
    (Family(3, 2, 1), 50),
    (Family(3, 2, 0, "UBL"), 30),
)
"""Families, and how many queries of each are taken (None: all)."""


@pytest.mark.parametrize(("family", "count"), _SLICE, ids=[str(f) for f, _ in _SLICE])
def test_every_query_has_a_plan_or_a_witness(family: Family, count: int | None) -> None:
    shapes = list(make_family(family))
    if count is not None:
        shapes = Random(0).sample(shapes, count)
    histories = make_histories(4)
    for place, shape in enumerate(shapes):
        for decided in decide_shape(shape):
            assert decided.outcome is not Outcome.NEITHER, show(decided.query)
            if decided.plans:
                check_plan(decided, histories[place % 4], [(0, 0), (1, 3), (4, 5)])
            elif decided.witness is not None and place % 8 == 0:
                check_witness(Case(CATALOG, decided.query, {}, 0), decided.witness)


def test_decided_as_check_query_does() -> None:
    tiers = {Tier.UNDECIDED: Outcome.NEITHER, Tier.UNBOUNDED: Outcome.WITNESS}
    tiers[Tier.UNSATISFIABLE] = Outcome.UNSATISFIABLE
    shapes = list(make_family(Family(2, 2, 1, "UBLH")))
    for shape in Random(1).sample(shapes, 60):
        for decided in decide_shape(shape):
            verdict = check_query(decided.query, CATALOG)
            assert tiers.get(verdict.tier, Outcome.PLAN) is decided.outcome, show(decided.query)


def _forms(shape: Shape) -> set[object]:
    """A query under all renamings of streams and attributes."""
    found: set[object] = set()
    flipped = {"<": ">", ">": "<", "=": "="}
    for streams in permutations(range(shape.streams)):
        for swap in product((0, 1), repeat=shape.streams):
            to = {(i, k): (streams[i], k ^ swap[i]) for i in range(shape.streams) for k in range(2)}
            joins = {
                (to[a], op, to[b]) if to[a] < to[b] else (to[b], flipped[op], to[a])
                for a, op, b in shape.joins
            }
            order = {
                (min(streams[a], streams[b]), op, max(streams[a], streams[b]))
                if op == "="
                else (streams[a], op, streams[b])
                for a, op, b in shape.order
            }
            kinds = {(to[i], k) for i, k in shape.kinds}
            projected = {to[i] for i in shape.projected}
            found.add((frozenset(joins), frozenset(order), frozenset(kinds), frozenset(projected)))
    return found


@pytest.mark.parametrize("family", [Family(2, 1, 2), Family(3, 1, 0)], ids=str)
def test_isomorphic_queries_are_made_once(family: Family) -> None:
    seen: set[object] = set()
    for shape in make_family(family):
        forms = _forms(shape)
        assert seen.isdisjoint(forms)
        seen |= forms


def test_counts() -> None:
    """One stream, one attribute unbounded or not, projected or not, or none: counted by hand."""
    assert len(list(make_family(Family(1, 0, 1)))) == 1 + 2
    assert len(list(make_family(Family(1, 0, 2)))) == 1 + 2 + 3
    # times: unordered, =, <, < within a window; an attribute of either stream, or of the latter
    assert len(list(make_family(Family(2, 0, 0)))) == 4
    assert len(list(make_family(Family(2, 0, 1)))) == 4 + 2 * (1 + 1 + 2 + 2)


@pytest.mark.parametrize("order", [(), ((0, "<", 1),), ((1, "<", 0),), ((0, "=", 1),)], ids=str)
@pytest.mark.parametrize("projected", [(), ((1, 1),)], ids=str)
def test_parts_of_a_split_set_are_one_set(
    order: tuple[tuple[int, str, int], ...], projected: tuple[tuple[int, int], ...]
) -> None:
    """s0.u <= 1 and s0.v >= 1 and s0.u < s1.u <= s0.v, perhaps with a bounded s1.q."""
    joins = (((0, 0), "<", (1, 0)), ((0, 1), ">=", (1, 0)))
    kinds = (((0, 0), "H"), ((0, 1), "L"), ((1, 0), "U"), *((i, "B") for i in projected))
    bag, decided = decide_shape(Shape(2, order, joins, kinds, projected))
    assert decided.outcome is Outcome.PLAN
    equal = order == ((0, "=", 1),)
    assert len(decided.plans) == (1 if equal else 2)
    assert bag.outcome is (Outcome.PLAN if equal else Outcome.WITNESS)
    for history in make_histories(6, markers=9, seed=3):
        check_plan(decided, history, [(0, 0), (1, 1), (2, 5), (6, 8)])
