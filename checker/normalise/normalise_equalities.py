"""Comparisons that say the same are written the same: `a <= b AND a >= b` is `a = b`."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses
from ontoweir.rewriter.model.spj import Attribute, Compare, Condition, Constant, Op, SpjQuery

_LESS, _EQUAL, _GREATER = 1, 2, 4
_OUTCOMES = {
    Op.LT: _LESS,
    Op.EQ: _EQUAL,
    Op.GT: _GREATER,
    Op.LE: _LESS | _EQUAL,
    Op.GE: _GREATER | _EQUAL,
    Op.NE: _LESS | _GREATER,
}
_OPS = {outcomes: op for op, outcomes in _OUTCOMES.items()}


def normalise_equalities(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """The same query with one comparison for each two sides, and with the equalities that its
    comparisons imply: keys, merging and uniqueness are read off equalities.

    `a <= b AND a <> b` is `a < b`; `a <= b AND b <= c AND c <= a` implies that all are equal.
    """
    combined = _combine(query)
    implied = tuple(_implied(combined, catalog))
    if not implied and combined is query:
        return query
    return replace(combined, conditions=(*combined.conditions, *implied))


def _combine(query: SpjQuery) -> SpjQuery:
    """With what all comparisons of the same two sides let pass, as one comparison."""
    found: dict[object, int] = {}
    conditions: list[Condition | None] = []
    changed = False
    for condition in query.conditions:
        if not isinstance(condition, Compare):
            conditions.append(condition)
            continue
        c = _oriented(condition)
        constant = isinstance(c.right, Constant)
        right = (type(c.right.value), c.right.value) if isinstance(c.right, Constant) else c.right
        key = (c.left, right, 0 if constant else c.offset)
        place = found.get(key)
        if place is None:
            found[key] = len(conditions)
            conditions.append(condition)
            continue
        known = conditions[place]
        assert isinstance(known, Compare)
        known = _oriented(known)
        outcomes = _OUTCOMES[known.op] & _OUTCOMES[c.op]
        if not outcomes:  # a contradiction, which others find
            conditions.append(condition)
            continue
        changed = True
        conditions[place] = replace(known, op=_OPS[outcomes])
    if not changed:
        return query
    return replace(query, conditions=tuple(c for c in conditions if c is not None))


def _oriented(c: Compare) -> Compare:
    """With the lesser attribute on the left."""
    if isinstance(c.right, Attribute) and c.right < c.left:
        return replace(c, left=c.right, op=c.op.flipped(), right=c.left, offset=-c.offset)
    return c


def _implied(query: SpjQuery, catalog: Catalog) -> Iterator[Compare]:
    """Equalities of attributes with each other, or with whole numbers, that comparisons by order
    imply together."""
    ordered = [c for c in query.conditions if isinstance(c, Compare) and c.op not in (Op.EQ, Op.NE)]
    if len(ordered) < 2:
        return
    limits = bound_differences(query, catalog, domains=False)
    if limits is None:
        return
    classes = EqualityClasses(query.occurrences, query.conditions)
    mentioned = [a for c in ordered for a in (c.left, c.right) if isinstance(a, Attribute)]
    known: set[tuple[Attribute, Attribute]] = set()
    for (left, right), (limit, strict) in limits.items():
        other = limits.get((right, left))
        if left is None or strict or other is None or other[1] or other[0] != -limit:
            continue
        if left not in mentioned:
            continue
        if right is None:
            if limit.denominator == 1 and not classes.constants.get(classes.find(left)):
                yield Compare(left, Op.EQ, Constant(int(limit)))
        elif limit == Fraction(0) and left < right and not classes.same(left, right):
            pair = (classes.find(left), classes.find(right))
            if pair not in known:
                known.add(pair)
                yield Compare(left, Op.EQ, right)
