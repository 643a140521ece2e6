"""Solve difference constraints: `first - second <= limit`, on a grid for every variable."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

Var: TypeAlias = tuple[Any, ...]
"""A variable of the layout: ("zero",), ("t", member, copy), ("v", class[, copy])."""

Edge: TypeAlias = tuple[Var, Var, int | Fraction]
"""`first - second <= limit`."""

Number: TypeAlias = int | Fraction

_ZERO: Var = ("zero",)
_MOST_ROUNDS = 40
"""Rounding down can go on for long; a layout that takes longer is given up."""


def solve_differences(
    edges: Sequence[Edge], grain: Callable[[Var], int]
) -> dict[Var, Number] | None:
    """Values with every difference within its limit, zero at ("zero",); None: none were found.

    They are the greatest up to some height (Bellman-Ford from above, rounding down).

    Args:
        edges: the limits.
        grain: what the values of a variable are multiples of (0: anything).
    """
    tightest: dict[tuple[Var, Var], Number] = {}
    for a, b, limit in edges:
        if a == b:
            if limit < 0:
                return None
            continue
        known = tightest.get((a, b))
        if known is None or limit < known:
            tightest[(a, b)] = limit
    names = dict.fromkeys(name for pair in tightest for name in pair)
    nodes: dict[Var, Number] = {_ZERO: 0, **dict.fromkeys(names, 0)}
    if not _lower(nodes, tightest, lambda _: 0, len(nodes) + 1):
        return None
    height = _heights(tightest)
    nodes = {name: _down(height.get(name, 0), grain(name)) for name in nodes}
    nodes[_ZERO] = 0
    if not _lower(nodes, tightest, grain, _MOST_ROUNDS + len(nodes)) or nodes[_ZERO] < 0:
        return None
    return nodes


def _lower(
    nodes: dict[Var, Number],
    limits: Mapping[tuple[Var, Var], Number],
    grain: Callable[[Var], int],
    rounds: int,
) -> bool:
    """Lower values until every limit holds; False: that takes more rounds."""
    grains = {name: grain(name) for name in nodes}
    for _ in range(rounds):
        changed = False
        for (a, b), limit in limits.items():
            if nodes[b] + limit < nodes[a]:
                nodes[a] = _down(nodes[b] + limit, grains[a])
                changed = True
        if not changed:
            return True
    return False


def _down(number: Number, grain: int) -> Number:
    return number // grain * grain if grain else number


def _heights(limits: Mapping[tuple[Var, Var], Number]) -> dict[Var, int]:
    """From where values are lowered: above all that ties those which limits connect to zero, with
    room for steps between them."""
    near: dict[Var, list[Var]] = {}
    own: dict[Var, int] = {}
    for (a, b), limit in limits.items():
        for name in (a, b):
            near.setdefault(name, [])
            own[name] = max(own.get(name, 0), int(max(limit, -limit)) + 1)
        if _ZERO not in (a, b):
            near[a].append(b)
            near[b].append(a)
    heights: dict[Var, int] = {}
    for name in near:
        if name in heights or name == _ZERO:
            continue
        part, waiting = {name}, [name]
        while waiting:
            found = set(near[waiting.pop()]) - part
            part |= found
            waiting.extend(found)
        room = sum(sorted((own[v] for v in part), reverse=True)[:2]) + 4 * len(part)
        steps = max(
            (int(max(n, -n)) + 1 for p, n in limits.items() if part.issuperset(p)), default=0
        )
        heights.update(dict.fromkeys(part, room + len(part) * steps))
    return heights
