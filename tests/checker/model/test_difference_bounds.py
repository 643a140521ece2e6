"""Difference-bound matrices against brute force over small boxes of whole numbers."""

from fractions import Fraction
from itertools import product
from random import Random

from hypothesis import given

from ontoweir.checker.model.difference_bounds import DifferenceBounds, Limit
from tests.oracle.budget import SEEDS, budget

_BOX = range(-6, 7)
Constraint = tuple[int, int, int, bool]


def _solutions(count: int, constraints: list[Constraint]) -> list[tuple[int, ...]]:
    """All assignments of the nodes (node 0 is zero) within the box."""
    return [
        (0, *rest)
        for rest in product(_BOX, repeat=count - 1)
        if all(
            ((0, *rest)[x] - (0, *rest)[y] < c) if strict else ((0, *rest)[x] - (0, *rest)[y] <= c)
            for x, y, c, strict in constraints
        )
    ]


def _random_constraints(random: Random, count: int) -> list[Constraint]:
    found = []
    for _ in range(random.randint(1, 5)):
        x, y = random.sample(range(count), 2)
        found.append((x, y, random.randint(-2, 3), random.random() < 0.3))
    # the box itself, so that what is implied is what holds in it
    for node in range(1, count):
        found.append((node, 0, _BOX[-1], False))
        found.append((0, node, -_BOX[0], False))
    random.shuffle(found)
    return found


def _build(count: int, constraints: list[Constraint]) -> DifferenceBounds:
    bounds = DifferenceBounds([0, *[1] * (count - 1)])
    for x, y, c, strict in constraints:
        bounds.add(x, y, Limit(c, strict))
    return bounds


@budget(1.0)
@given(seed=SEEDS)
def test_limits_are_exact_over_whole_numbers(seed: int) -> None:
    random = Random(seed)
    count = random.choice([2, 3, 4])
    constraints = _random_constraints(random, count)
    bounds, solutions = _build(count, constraints), _solutions(count, constraints)
    assert bounds.satisfiable == bool(solutions)
    if not solutions:
        return
    for x, y in product(range(count), repeat=2):
        if x == y:
            continue
        most = max(s[x] - s[y] for s in solutions)
        assert bounds.limit(x, y) == Limit(most)
        assert bounds.implies(x, y, Limit(most))
        assert bounds.implies(x, y, Limit(most + 1, strict=True))
        assert not bounds.implies(x, y, Limit(most - 1))


@budget(0.5)
@given(seed=SEEDS)
def test_order_does_not_matter(seed: int) -> None:
    random = Random(seed)
    constraints = _random_constraints(random, 4)
    one, other = _build(4, constraints), _build(4, random.sample(constraints, len(constraints)))
    assert one.satisfiable == other.satisfiable
    if one.satisfiable:
        for x, y in product(range(4), repeat=2):
            assert one.limit(x, y) == other.limit(x, y)


@budget(0.5)
@given(seed=SEEDS)
def test_mixed_grains_are_sound(seed: int) -> None:
    """Nodes of grain 2 and 1: what is implied holds for every solution."""
    random = Random(seed)
    grains = [0, *(random.choice([1, 2]) for _ in range(2))]
    constraints = _random_constraints(random, 3)
    bounds = DifferenceBounds(grains)
    for x, y, c, strict in constraints:
        bounds.add(x, y, Limit(c, strict))
    solutions = [
        s
        for s in _solutions(3, constraints)
        if all(not g or v % g == 0 for v, g in zip(s, grains, strict=True))
    ]
    if not bounds.satisfiable:
        assert not solutions
        return
    for x, y in product(range(3), repeat=2):
        limit = bounds.limit(x, y)
        if x != y and limit is not None:
            assert all(s[x] - s[y] <= limit.value for s in solutions)


def test_a_chain_over_whole_numbers_pins_its_values() -> None:
    """10 < A < B < 13 gives A = 11, B = 12; with 12 there is no solution."""
    bounds = DifferenceBounds([0, 1, 1])
    bounds.add(0, 1, Limit(-10, strict=True))
    bounds.add(1, 2, Limit(0, strict=True))
    bounds.add(2, 0, Limit(13, strict=True))
    assert bounds.limit(1, 0) == Limit(11)
    assert bounds.limit(0, 1) == Limit(-11)
    assert bounds.limit(2, 0) == Limit(12)
    tighter = bounds.copy()
    tighter.add(2, 0, Limit(12, strict=True))
    assert not tighter.satisfiable
    assert bounds.satisfiable


def test_dense_nodes_keep_strictness() -> None:
    """0 < x < 1 is not a contradiction for a float, and no number of values."""
    bounds = DifferenceBounds([0, 0])
    bounds.add(0, 1, Limit(0, strict=True))
    bounds.add(1, 0, Limit(1, strict=True))
    assert bounds.satisfiable
    assert bounds.limit(1, 0) == Limit(1, strict=True)
    assert bounds.implies(1, 0, Limit(1))
    assert not bounds.implies(1, 0, Limit(Fraction(1, 2)))
    bounds.add(1, 0, Limit(0))
    assert not bounds.satisfiable


def test_a_strict_limit_between_whole_numbers() -> None:
    """x < 2.5 leaves x <= 2 to a whole number, x < 2 leaves x <= 1."""
    bounds = DifferenceBounds([0, 1])
    assert bounds.tighten(1, 0, Limit(Fraction(5, 2), strict=True)) == Limit(2)
    assert bounds.tighten(1, 0, Limit(2, strict=True)) == Limit(1)
    assert bounds.tighten(1, 0, Limit(Fraction(-5, 2), strict=True)) == Limit(-3)
    tens = DifferenceBounds([0, 10])
    assert tens.tighten(1, 0, Limit(10, strict=True)) == Limit(0)
    assert tens.tighten(1, 0, Limit(Fraction(21, 2), strict=True)) == Limit(10)
    assert tens.tighten(1, 0, Limit(19, strict=True)) == Limit(10)
