"""Removes occurrences that another one covers, under set semantics ([A] Def. 8.2; cores, [CM])."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import plain_number
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.algebra.contain_spj import Implied, is_contained
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    condition_attributes,
    map_output,
    valued_attributes,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    Fold,
    LiteralOutput,
    NotNull,
    NullOutput,
    Op,
    Output,
    SpjQuery,
    output_attributes,
)


def remove_redundant_occurrences(
    query: SpjQuery, catalog: Catalog, *, limit: int | None = None
) -> SpjQuery:
    """The query without every occurrence whose row may as well be that of another one.

    Keeps the set of answers, and when each is first given: the rows of a match of the smaller
    query are a match of the larger one. [A] Def. 8.2 asks that one occurrence covers another;
    here several may be mapped at once, and conditions on timestamps count (theory §6, erratum 6).
    Only for set semantics. What is folded (a minimum, a maximum) is kept as answers are.

    Raises:
        QueryError: a search takes more steps than `limit` (None: is_contained's own).
    """
    if query.folds:
        shown = tuple((f"fold {n}", LiteralOutput(f.attribute)) for n, f in enumerate(query.folds))
        plain = replace(query, outputs=(*query.outputs, *shown), folds=None)
        core = remove_redundant_occurrences(plain, catalog, limit=limit)
        kept, values = core.outputs[: -len(shown)], core.outputs[-len(shown) :]
        folds = tuple(_refold(f, o) for f, (_, o) in zip(query.folds, values, strict=True))
        return replace(core, outputs=kept, folds=folds)
    changed = True
    while changed:
        changed = False
        implied = Implied(query, catalog)
        for occurrence in reversed(query.occurrences):
            alias = occurrence.alias
            if sum(o.table == occurrence.table for o in query.occurrences) < 2:
                continue
            whole = is_contained(query, query, catalog, avoid=alias, implied=implied, limit=limit)
            if not whole:
                continue  # not even with all that is said of this occurrence
            smaller = _without(query, alias, catalog)
            if smaller is not None and is_contained(smaller, query, catalog, limit=limit):
                query, changed = smaller, True
                break
    return query


def _refold(fold: Fold, output: Output) -> Fold:
    assert isinstance(output, LiteralOutput)
    return replace(fold, attribute=output.value)


def _without(query: SpjQuery, alias: str, catalog: Catalog) -> SpjQuery | None:
    """What the query says of the other occurrences; None where a result is made of this one
    alone."""
    classes = EqualityClasses(query.occurrences, query.conditions)
    types = Types(catalog, query.occurrences)
    others: dict[Attribute, Attribute] = {}
    for first, more in classes.members():
        for attribute in (first, *more):
            for other in (first, *more):
                same = types.type_of(attribute) == types.type_of(other)
                if attribute.alias == alias != other.alias and same:
                    others.setdefault(attribute, other)

    def move(attribute: Attribute) -> Attribute:
        return others.get(attribute, attribute)

    outputs = tuple((name, map_output(o, move)) for name, o in query.outputs)
    if any(a.alias == alias for _, o in outputs for a in output_attributes(o)):
        return None
    if any(isinstance(o, NullOutput) and o.value.alias == alias for _, o in outputs):
        return None  # its column says which type of NULL it is
    kept: list[Condition] = []
    for condition in query.conditions:
        if all(a.alias != alias for a in condition_attributes(condition)):
            kept.append(condition)
    kept += _implied(query, alias, classes, catalog)
    needed = {a for c in query.conditions for a in valued_attributes(c) if a.alias != alias}
    said = {a for c in kept for a in valued_attributes(c)}
    kept += [NotNull(a) for a in sorted(needed - said) if types.step_of(a) is None]
    return replace(
        query,
        occurrences=tuple(o for o in query.occurrences if o.alias != alias),
        conditions=tuple(dict.fromkeys(kept)),
        outputs=outputs,
        provenance=tuple((a, p) for a, p in query.provenance if a != alias),
    )


def _implied(
    query: SpjQuery, alias: str, classes: EqualityClasses, catalog: Catalog
) -> list[Condition]:
    """What the conditions on an occurrence imply for the others: equalities, and comparisons of
    numbers and times that nothing else says."""
    implied: list[Condition] = []
    for first, more in classes.members():
        members = {first, *more}
        rest = sorted(a for a in members if a.alias != alias)
        if len(rest) < len(members):
            implied += [Compare(rest[0], Op.EQ, other) for other in rest[1:]]
    bounds = bound_differences(query, catalog, domains=False)
    if bounds is None:
        return implied
    types = Types(catalog, query.occurrences)
    others = tuple(
        c
        for c in (*query.conditions, *implied)
        if all(a.alias != alias for a in condition_attributes(c))
    )
    said = bound_differences(replace(query, conditions=others), catalog, domains=False) or {}
    for (left, right), (limit, strict) in bounds.items():
        if (left is not None and left.alias == alias) or (
            right is not None and right.alias == alias
        ):
            continue
        old = said.get((left, right))
        if old is not None and (old[0] < limit or old == (limit, strict)):
            continue
        if left is not None and right is not None:
            if types.step_of(left) != types.step_of(right):
                continue  # a time and a number: by way of constants, which say so on their own
            op = Op.LT if strict else Op.LE
            implied.append(Compare(left, op, right, plain_number(limit)))
        elif left is not None:
            implied.append(Compare(left, Op.LT if strict else Op.LE, Constant(plain_number(limit))))
        elif right is not None:
            implied.append(
                Compare(right, Op.GT if strict else Op.GE, Constant(plain_number(-limit)))
            )
    return implied
