"""Prunes disjuncts that cannot have answers, or whose answers another disjunct gives."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.mappings.catalog import Catalog, Column, Scalar
from ontoweir.rewriter.contain_spj import is_contained
from ontoweir.rewriter.equality_classes import EqualityClasses, condition_attributes, map_condition
from ontoweir.rewriter.propagate_equalities import compare_scalars
from ontoweir.rewriter.query import ConjunctiveQuery
from ontoweir.rewriter.spj import Attribute, Compare, Constant, Op, SpjQuery


@dataclass(frozen=True, slots=True)
class Candidate:
    """An unfolded disjunct and the conjunctive query it came from."""

    query: SpjQuery
    origin: ConjunctiveQuery


def prune_disjuncts(
    candidates: Sequence[Candidate], catalog: Catalog, *, distinct: bool
) -> tuple[SpjQuery, ...]:
    """Drops contradictory and redundant disjuncts.

    Set semantics: a disjunct contained in another adds nothing.

    Bag semantics: multiplicities are those of the query as the user wrote it, over the triples
    that the mappings and the hierarchy make. Dropping is right only where two disjuncts are the
    same rows reached twice, by different axioms: equal up to the names of occurrences, from two
    conjunctive queries of one origin, at least one made by axioms. Equal disjuncts of one
    conjunctive query are different matches (q(x) ← P(x,y), P(x,z)) and stay, as do the
    user's own equal UNION branches. Contained assertions of one predicate are gone already
    (compile_tmappings).
    """
    kept: list[Candidate] = []
    for candidate in candidates:
        if is_contradictory(candidate.query, catalog):
            continue
        if any(_covers(k, candidate, catalog, distinct) for k in kept):
            continue
        kept = [k for k in kept if not (distinct and _covers(candidate, k, catalog, distinct))]
        kept.append(candidate)
    return tuple(k.query for k in kept)


def _covers(big: Candidate, small: Candidate, catalog: Catalog, distinct: bool) -> bool:
    if distinct:
        return is_contained(small.query, big.query, catalog)
    if big.origin is small.origin or big.origin.source != small.origin.source:
        return False
    if not (big.origin.axioms or small.origin.axioms):
        return False
    return is_contained(small.query, big.query, catalog, one_to_one=True) and is_contained(
        big.query, small.query, catalog, one_to_one=True
    )


def is_contradictory(query: SpjQuery, catalog: Catalog) -> bool:
    """Whether constants, declared domains, or `x < x` exclude every row. Sound, not complete."""
    classes = EqualityClasses(query.occurrences, query.conditions)
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    limits: dict[Attribute, list[tuple[Op, Scalar]]] = {}
    enums: dict[Attribute, list[tuple[Scalar, ...]]] = {}
    seen: set[Attribute] = set()
    for condition in query.conditions:
        mapped = map_condition(condition, classes.find)
        if isinstance(mapped, Compare):
            if isinstance(mapped.right, Constant):
                limits.setdefault(mapped.left, []).append((mapped.op, mapped.right.value))
            elif mapped.left == mapped.right and not compare_scalars(0, mapped.op, mapped.offset):
                return True
        for attribute in condition_attributes(condition):
            column = tables[attribute.alias].column(attribute.column)
            if column is not None and attribute not in seen:
                seen.add(attribute)
                _add_domain(column, classes.find(attribute), limits, enums)
    for attribute in {*limits, *enums}:
        if not _satisfiable(limits.get(attribute, []), enums.get(attribute, [])):
            return True
    return False


def _add_domain(
    column: Column,
    attribute: Attribute,
    limits: dict[Attribute, list[tuple[Op, Scalar]]],
    enums: dict[Attribute, list[tuple[Scalar, ...]]],
) -> None:
    if column.minimum is not None:
        limits.setdefault(attribute, []).append((Op.GE, column.minimum))
    if column.maximum is not None:
        limits.setdefault(attribute, []).append((Op.LE, column.maximum))
    if column.enum is not None:
        enums.setdefault(attribute, []).append(column.enum)


def _satisfiable(limits: list[tuple[Op, Scalar]], enums: list[tuple[Scalar, ...]]) -> bool:
    """Whether some value satisfies all limits (over a dense domain) and is in all enums."""
    points = [v for op, v in limits if op is Op.EQ]
    choices = [points[:1]] if points else [list(e) for e in enums[:1]]
    for values in choices:
        return any(
            all(compare_scalars(v, op, w) for op, w in limits) and all(v in e for e in enums)
            for v in values
        )
    lows = [(v, op) for op, v in limits if op in (Op.GE, Op.GT)]
    highs = [(v, op) for op, v in limits if op in (Op.LE, Op.LT)]
    return all(
        compare_scalars(low, Op.LT, high)
        or (low == high and a is Op.GE and b is Op.LE and (Op.NE, low) not in limits)
        for low, a in lows
        for high, b in highs
    )
