"""Solve difference constraints: `first - second <= limit`, on a grid for every variable."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ontoweir.rewriter.model.watch_time import tick

Var: TypeAlias = tuple[Any, ...]
"""A variable of the layout: ("zero",), ("t", member, copy), ("v", class[, copy])."""

Edge: TypeAlias = tuple[Var, Var, int | Fraction]
"""`first - second <= limit`."""

Number: TypeAlias = int | Fraction

_ZERO: Var = ("zero",)
_MAX_ROUNDS = 40
"""Rounding down can go on for long; a layout that takes longer is given up."""


def solve_differences(
    edges: Sequence[Edge], grain: Callable[[Var], int]
) -> dict[Var, Number] | None:
    """Values with every difference within its limit, zero at ("zero",); None: none were found.

    They are the greatest up to some height (Bellman-Ford from above, rounding down), which is not
    much more than it takes: what static data has to hold for a layout must not leave room for a
    larger one.

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
    parts = list(_parts(tightest, grain))
    room = 1
    while True:
        nodes = {_ZERO: 0}
        for part, fixed, step in parts:
            nodes.update((v, _down(fixed + room * step, grain(v))) for v in part)
        if _lower(nodes, tightest, grain, _MAX_ROUNDS + len(nodes)) and nodes[_ZERO] == 0:
            return nodes
        if room > 2 * len(nodes):
            return None
        room *= 2


def _lower(
    nodes: dict[Var, Number],
    limits: Mapping[tuple[Var, Var], Number],
    grain: Callable[[Var], int],
    rounds: int,
) -> bool:
    """Lower values until every limit holds; False: that takes more rounds.

    The limits that depend on a value are looked at again where it was lowered, in rounds.
    """
    names = list(nodes)
    place = {name: n for n, name in enumerate(names)}
    grains, values = [grain(name) for name in names], list(nodes.values())
    below: list[list[tuple[int, Number]]] = [[] for _ in names]
    for (first, second), limit in limits.items():
        below[place[second]].append((place[first], limit))
    looked = [0] * len(names)
    waiting = deque(range(len(names)))
    inside = [True] * len(names)
    while waiting:
        tick()
        b = waiting.popleft()
        inside[b] = False
        value = values[b]
        for a, limit in below[b]:
            if value + limit < values[a]:
                values[a] = _down(value + limit, grains[a])
                if not inside[a]:
                    looked[a] += 1
                    if looked[a] > rounds:
                        return False
                    inside[a] = True
                    waiting.append(a)
    nodes.update(zip(names, values, strict=True))
    return True


def _down(number: Number, grain: int) -> Number:
    return number // grain * grain if grain else number


def _parts(
    limits: Mapping[tuple[Var, Var], Number], grain: Callable[[Var], int]
) -> Iterator[tuple[list[Var], Number, Number]]:
    """The variables that limits connect, how high limits that tie them to zero lie, and the
    greatest step between them, or between two timestamps of one."""
    near: dict[Var, list[Var]] = {}
    for a, b in limits:
        for one, other in ((a, b), (b, a)):
            near.setdefault(one, []).append(other)
    done: set[Var] = {_ZERO}
    for name in near:
        if name in done:
            continue
        part, waiting = {name}, [name]
        while waiting:
            reached = set(near[waiting.pop()]) - part - {_ZERO}
            part |= reached
            waiting.extend(reached)
        done |= part
        fixed: Number = 0
        step: Number = max((1, *(grain(v) for v in part if v[0] == "t")))
        for (a, b), limit in limits.items():
            if _ZERO in (a, b) and (a in part or b in part):
                fixed = max(fixed, limit, -limit)
            elif a in part and b in part:
                step = max(step, limit, -limit)
        yield list(part), fixed, step
