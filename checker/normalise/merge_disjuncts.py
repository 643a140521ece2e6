"""Disjuncts that differ in one comparison are one: `a < b` or `a >= b` is `a` and `b` not NULL, and
`a = 1` or `a = 2` is `a IN (1, 2)`."""

from collections import deque
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    NotNull,
    OneOf,
    Op,
    SpjQuery,
    SpjUnion,
)

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
_ALL = _LESS | _EQUAL | _GREATER

MAX_DISJUNCTS = 1_000
"""Of larger unions every pair would take long: they stay as they are."""


def merge_disjuncts(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The union with as few disjuncts: each match keeps its multiplicity.

    Two disjuncts that are alike but for one comparison of the same two sides are the disjunct with
    what either lets pass (of bags only if none lets pass what the other does). If that is
    everything, it stays that both sides are not NULL.
    """
    if not 1 < len(union.disjuncts) <= MAX_DISJUNCTS:
        return union
    bag = not union.distinct or union.aggregation is not None
    rest: dict[int, SpjQuery] = {}
    alike: dict[object, list[int]] = {}  # the places in `rest` of those that may be merged
    waiting, place = deque(union.disjuncts), 0
    while waiting:
        query = waiting.popleft()
        near = alike.setdefault((query.occurrences, query.outputs, query.folds), [])
        for other in near:
            whole = _merge(rest[other], query, catalog, bag=bag)
            if whole is not None:  # it may meet others that neither of the two did
                del rest[other]
                near.remove(other)
                waiting.appendleft(whole)
                break
        else:
            rest[place] = query
            near.append(place)
            place += 1
    return replace(union, disjuncts=tuple(rest.values()))


def _merge(one: SpjQuery, other: SpjQuery, catalog: Catalog, *, bag: bool) -> SpjQuery | None:
    """Of queries that have the same occurrences, outputs and folds."""
    first = {_plain(c): c for c in one.conditions}
    second = {_plain(c): c for c in other.conditions}
    only = [c for c in first if c not in second], [c for c in second if c not in first]
    if not only[0] and not only[1] and not bag:
        return one
    if len(only[0]) == len(only[1]) == 1:
        listed = _list_values(only[0][0], only[1][0], catalog, one, bag=bag)
        if listed is not None:
            return replace(one, conditions=(*_shared(first, second), listed))
    # NOT NULL that a comparison on the other side says
    mine, theirs = ([c for c in side if isinstance(c, Compare)] for side in only)
    if len(mine) != 1 or len(theirs) != 1:
        return None
    a, b = mine[0], theirs[0]
    if (a.left, a.right, a.offset) != (b.left, b.right, b.offset):
        return None
    for c in (c for side in only for c in side if c not in (a, b)):
        if not isinstance(c, NotNull) or c.attribute not in (a.left, a.right):
            return None
    outcomes = _OUTCOMES[a.op] | _OUTCOMES[b.op]
    if bag and _OUTCOMES[a.op] & _OUTCOMES[b.op]:
        return None
    kept = _shared(first, second)
    source = first[a].source
    if outcomes != _ALL:
        kept.append(replace(a, op=_OPS[outcomes], source=source))
    else:
        types = Types(catalog, one.occurrences)
        sides = [s for s in (a.left, a.right) if isinstance(s, Attribute)]
        kept += [NotNull(s, source) for s in sides if types.step_of(s) is None]
    return replace(one, conditions=tuple(dict.fromkeys(kept)))


def _shared(
    first: dict[Condition, Condition], second: dict[Condition, Condition]
) -> list[Condition]:
    return [condition for plain, condition in first.items() if plain in second]


def _list_values(
    first: Condition, second: Condition, catalog: Catalog, query: SpjQuery, *, bag: bool
) -> OneOf | None:
    """The constants that either condition equates one attribute with, as a list."""
    sides = [_listed(c) for c in (first, second)]
    if sides[0] is None or sides[1] is None or sides[0][0] != sides[1][0]:
        return None
    attribute, mine = sides[0]
    _, theirs = sides[1]
    if (bag and set(mine) & set(theirs)) or Types(catalog, query.occurrences).step_of(attribute):
        return None
    return OneOf(attribute, tuple(dict.fromkeys((*mine, *theirs))), first.source)


def _listed(condition: Condition) -> tuple[Attribute, tuple[Scalar, ...]] | None:
    match condition:
        case OneOf(attribute=attribute, values=values):
            return attribute, values
        case Compare(left=attribute, op=Op.EQ, right=Constant(value=value)):
            return attribute, (value,)
        case _:
            return None


def _plain(condition: Condition) -> Condition:
    """Without its source, and of two attributes the same one left."""
    plain = replace(condition, source=None)
    if (
        isinstance(plain, Compare)
        and isinstance(plain.right, Attribute)
        and plain.right < plain.left
    ):
        return replace(
            plain,
            left=plain.right,
            op=plain.op.flipped(),
            right=plain.left,
            offset=-plain.offset,
        )
    return plain
