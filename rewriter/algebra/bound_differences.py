"""Bounds the differences of attributes: the closure of a query's comparisons of numbers and times.

Dechter, Meiri, Pearl: Temporal Constraint Networks. Artificial Intelligence 49, 1991: a system of
differences has a solution iff its graph has no negative cycle; shortest paths are its closure.
"""

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import TypeAlias, TypeVar

from ontoweir.mappings.model.catalog import Catalog, DecimalType, IntType
from ontoweir.rewriter.algebra.equality_classes import Types, valued_attributes
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, Op, SpjQuery

Node: TypeAlias = Attribute | None
"""An attribute, or None for the constant zero."""
Limit: TypeAlias = tuple[Fraction, bool]
"""A bound, and whether it is not reached."""
_MAX_NODES = 40
_Node = TypeVar("_Node")


def bound_differences(
    query: SpjQuery, catalog: Catalog, *, domains: bool
) -> dict[tuple[Node, Node], Limit] | None:
    """`left - right` is at most (or, where not reached, below) the limit; None: no solution.

    Of integers, decimals and the timestamps of streams: floating point numbers do not add up
    exactly. Complete for comparisons but <>; between whole numbers `<` is `<=` less one.

    Args:
        query: an SPJ query.
        catalog: the types of its columns.
        domains: use the declared ranges too.
    """
    types = Types(catalog, query.occurrences)
    limits: dict[tuple[Node, Node], Limit] = {}
    whole: set[Node] = {None}
    nodes: dict[Node, None] = {None: None}

    def knows(attribute: Attribute) -> bool:
        kind = types.type_of(attribute)
        if types.step_of(attribute) is not None or isinstance(kind, IntType):
            whole.add(attribute)
        elif not isinstance(kind, DecimalType):
            return False
        nodes[attribute] = None
        return True

    def add(left: Node, right: Node, limit: Fraction, strict: bool) -> None:
        if left in whole and right in whole:
            below = floor(limit)
            limit = Fraction(below - 1 if strict and below == limit else below)
            strict = False
        if (old := limits.get((left, right))) is None or is_tighter((limit, strict), old):
            limits[left, right] = (limit, strict)

    for condition in query.conditions:
        if not isinstance(condition, Compare) or condition.op is Op.NE:
            continue
        right: Node = None
        if isinstance(condition.right, Constant):
            value = condition.right.value
            if isinstance(value, (str, bool)) or not knows(condition.left):
                continue
            offset = Fraction(str(value))
        else:
            right = condition.right
            if not (knows(condition.left) and knows(condition.right)):
                continue
            offset = Fraction(condition.offset)
        if condition.op in (Op.LT, Op.LE, Op.EQ):
            add(condition.left, right, offset, condition.op is Op.LT)
        if condition.op in (Op.GT, Op.GE, Op.EQ):
            add(right, condition.left, -offset, condition.op is Op.GT)
    if domains:
        used = {a for c in query.conditions for a in valued_attributes(c)}
        for attribute in sorted(used & {n for n in nodes if n is not None}):
            column = types.tables[attribute.alias].column(attribute.column)
            if column is None:
                continue
            if isinstance(column.maximum, (int, Decimal)):
                add(attribute, None, Fraction(column.maximum), False)
            if isinstance(column.minimum, (int, Decimal)):
                add(None, attribute, -Fraction(column.minimum), False)
    return close_limits(limits, tuple(nodes)) if len(nodes) <= _MAX_NODES else limits


def is_tighter(a: Limit, b: Limit) -> bool:
    """Whether the first says more."""
    return a[0] < b[0] or (a[0] == b[0] and a[1] and not b[1])


def close_limits(
    limits: dict[tuple[_Node, _Node], Limit], nodes: tuple[_Node, ...]
) -> dict[tuple[_Node, _Node], Limit] | None:
    """All shortest paths (Floyd, Warshall); None if there is a negative cycle."""
    place = {node: n for n, node in enumerate(nodes)}
    rows: list[list[Limit | None]] = [[None] * len(nodes) for _ in nodes]
    known = [(place[left], place[right]) for left, right in limits]
    for (i, j), limit in zip(known, limits.values(), strict=True):
        rows[i][j] = limit
    for middle in range(len(nodes)):
        out = [(j, b) for j, b in enumerate(rows[middle]) if b is not None]
        for i, row in enumerate(rows):
            a = row[middle]
            if a is None:
                continue
            for j, b in out:
                limit = (a[0] + b[0], a[1] or b[1])
                old = row[j]
                if i == j:
                    if limit[0] < 0 or (limit[0] == 0 and limit[1]):
                        return None
                elif old is None:
                    row[j] = limit
                    known.append((i, j))
                elif is_tighter(limit, old):
                    row[j] = limit
    closed = ((i, j, rows[i][j]) for i, j in known)
    return {(nodes[i], nodes[j]): limit for i, j, limit in closed if limit is not None}
