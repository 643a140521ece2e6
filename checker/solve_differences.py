"""Solve difference constraints: `first - second <= limit` (Bellman-Ford)."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

Var: TypeAlias = tuple[Any, ...]
"""A variable of the layout: ("zero",), ("t", member, copy), ("v", class[, copy])."""

Edge: TypeAlias = tuple[Var, Var, int | Fraction]
"""`first - second <= limit`."""


def solve_differences(edges: Sequence[Edge]) -> dict[Var, int | Fraction] | None:
    """Values with every difference within its limit, zero at ("zero",); None: there are none."""
    nodes: dict[Var, int | Fraction] = {("zero",): 0}
    for a, b, _ in edges:
        nodes.setdefault(a, 0)
        nodes.setdefault(b, 0)
    tightest: dict[tuple[Var, Var], int | Fraction] = {}
    for a, b, limit in edges:
        if a == b:
            if limit < 0:
                return None
            continue
        known = tightest.get((a, b))
        if known is None or limit < known:
            tightest[(a, b)] = limit
    for _ in range(len(nodes) + 1):
        changed = False
        for (a, b), limit in tightest.items():
            if nodes[b] + limit < nodes[a]:
                nodes[a] = nodes[b] + limit
                changed = True
        if not changed:
            zero = nodes[("zero",)]
            return {name: number - zero for name, number in nodes.items()}
    return None
