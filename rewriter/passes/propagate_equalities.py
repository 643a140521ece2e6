"""Propagates equalities: one attribute stands for all that equal it."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    condition_attributes,
    map_condition,
    map_output,
)
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    IsNull,
    NotNull,
    OneOf,
    Op,
    SpjQuery,
)


def propagate_equalities(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Rewrites conditions and outputs to the earliest of equal attributes.

    A class of equal attributes keeps one equation for each other member; `x = x` and other
    conditions that hold for every value become NotNull; NotNull is dropped where a comparison
    says it already. `x < x` stays, for prune_disjuncts to see. An output keeps its own attribute
    if the representative has another type (its text would be another). A stream's timestamp is
    never NULL. Several lists of constants for one attribute become the list that they share, and
    none is kept beside the constant that it has.
    """
    classes = EqualityClasses(query.occurrences, query.conditions)
    types = Types(catalog, query.occurrences)
    members = classes.members()
    compares: dict[Condition, None] = {}
    not_null: dict[Condition, None] = {}
    null: dict[Condition, None] = {}
    sources = {
        (c.left, c.right): c.source
        for c in query.conditions
        if isinstance(c, Compare) and c.op is Op.EQ
    }
    for representative, others in members:
        for other in others:
            source = sources.get((representative, other)) or sources.get((other, representative))
            compares[Compare(representative, Op.EQ, other, source=source)] = None
    for condition in query.conditions:
        mapped = map_condition(condition, classes.find)
        if isinstance(mapped, NotNull):
            not_null[mapped] = None
        elif isinstance(mapped, OneOf):
            compares[mapped] = None
        elif isinstance(mapped, IsNull):
            null[mapped] = None
        elif mapped.left == mapped.right:
            if compare_scalars(0, mapped.op, mapped.offset):
                not_null[NotNull(mapped.left, mapped.source)] = None
            else:
                compares[mapped] = None
        else:
            compares[mapped] = None
    kept = _meet_lists(_drop_repeats(compares))
    said = {a for c in kept for a in condition_attributes(c)}
    extra = {c.attribute: c for c in not_null if isinstance(c, NotNull)}

    def choose(attribute: Attribute) -> Attribute:
        root = classes.find(attribute)
        return root if types.type_of(root) == types.type_of(attribute) else attribute

    return replace(
        query,
        conditions=(
            *kept,
            *(c for a, c in extra.items() if a not in said and types.step_of(a) is None),
            *null,
        ),
        outputs=tuple((n, map_output(o, choose)) for n, o in query.outputs),
    )


def _drop_repeats(compares: dict[Condition, None]) -> tuple[Condition, ...]:
    """Each comparison once, whatever its source and orientation."""
    distinct: dict[tuple[object, ...], Condition] = {}
    for c in compares:
        if not isinstance(c, Compare):
            distinct[(c,)] = c
            continue
        key: tuple[object, ...] = (c.left, c.op, c.right, c.offset)
        if isinstance(c.right, Constant):
            key = (c.left, c.op, type(c.right.value), c.right.value)
        elif (c.right, c.op.flipped(), c.left, -c.offset) in distinct:
            continue
        distinct.setdefault(key, c)
    return tuple(distinct.values())


def _meet_lists(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """One list for each attribute; lists that share nothing stay, for find_contradiction to see."""
    lists: dict[Attribute, list[OneOf]] = {}
    fixed: dict[Attribute, set[Scalar]] = {}
    for c in conditions:
        if isinstance(c, OneOf):
            lists.setdefault(c.attribute, []).append(c)
        elif isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Constant):
            fixed.setdefault(c.left, set()).add(c.right.value)
    made: dict[Condition, Condition | None] = {}
    for attribute, (first, *more) in lists.items():
        shared = set(first.values).intersection(*(c.values for c in more))
        known = fixed.get(attribute)
        if known is not None:
            if known <= shared:
                made |= dict.fromkeys((first, *more))
        elif more and shared:
            values = tuple(v for v in first.values if v in shared)
            made |= dict.fromkeys(more)
            made[first] = (
                replace(first, values=values)
                if len(values) > 1
                else Compare(attribute, Op.EQ, Constant(values[0]), source=first.source)
            )
    changed = (made.get(c, c) for c in conditions)
    return tuple(c for c in changed if c is not None)
