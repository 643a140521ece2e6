"""Decide a query before anything runs: verdict, tier, bound, plan, or witness."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ontoweir.checker.decide.check_disjuncts import DisjunctChecker
from ontoweir.checker.model.declarations import Declaration, list_declarations
from ontoweir.checker.model.normal_form import NormalForm, Statistics
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.normalise.simplify_union import simplify_union
from ontoweir.checker.normalise.unorder_chains import unorder_chains
from ontoweir.checker.plans.bound_table import bound_groups
from ontoweir.checker.split.split_aggregates import split_aggregates
from ontoweir.checker.verdict.verdict import (
    Bounded,
    DisjunctVerdict,
    Failing,
    PartVerdict,
    Tier,
    Verdict,
)
from ontoweir.checker.witness.witness import Witness
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.model.aggregation import AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion, output_attributes
from ontoweir.rewriter.passes.remove_redundant_occurrences import remove_redundant_occurrences

MOST_STEPS = 20_000
"""How long redundant occurrences are looked for: a query with all of them is decided, too."""


def check_query(
    union: SpjUnion,
    catalog: Catalog,
    *,
    statistics: Statistics | None = None,
    timed: bool = True,
    disprove: bool = True,
    size: int = 4,
) -> Verdict:
    """Decide an unfolded query.

    Args:
        union: the query.
        catalog: streams, relations, and what is declared of them.
        statistics: what is known of the static data; without it the schema alone decides.
        timed: False for the arrival model ([A]): timestamps are ignored.
        disprove: look for a witness where there is no plan.
        size: how many optional tuples the witness has.

    Raises:
        QueryError: a comparison mixes types.
    """
    known = statistics or Statistics()
    union = simplify_union(union, catalog)
    if union.distinct:
        union = reduce_union(union, catalog)
    parts: list[PartVerdict] = []
    witness: Witness | None = None
    if union.aggregation is None:
        checker = DisjunctChecker(union, catalog, known, timed, size=size)
        disjuncts = tuple(d for q in union.disjuncts for d in checker.decide_parts(q))
        union = replace(union, disjuncts=tuple(d.query for d in disjuncts))
        witness = checker.disprove(disjuncts) if disprove else None
        bound = bound_union(union, disjuncts)
    else:
        for part in split_aggregates(union):
            if part.union.distinct:
                part = replace(part, union=reduce_union(part.union, catalog))
            checker = DisjunctChecker(
                part.union, catalog, known, timed, part.aggregates, size, union
            )
            found = PartVerdict(part, tuple(checker.decide(q) for q in part.union.disjuncts))
            parts.append(found)
            if disprove and witness is None:
                witness = checker.disprove(found.disjuncts)
        across = zip(*(p.disjuncts for p in parts), strict=True)
        disjuncts = tuple(max(of, key=lambda d: d.tier.rank) for of in across)
        bound = _aggregate_bound(union.aggregation, parts)
    declarations: dict[Declaration, None] = {}
    for query in union.disjuncts:
        declarations.update(dict.fromkeys(list_declarations(query, catalog)))
    conditions: dict[Declaration, None] = {}
    for d in (d for p in parts for d in p.disjuncts) if parts else disjuncts:
        if isinstance(d, Bounded):
            conditions.update(dict.fromkeys(d.conditions))
    tier = max((d.tier for d in disjuncts), key=lambda t: t.rank, default=Tier.UNSATISFIABLE)
    if witness is not None:
        tier = Tier.UNBOUNDED
    return Verdict(
        union=union,
        disjuncts=disjuncts,
        tier=tier,
        bound=bound,
        conditions=tuple(conditions),
        declarations=tuple(declarations),
        witness=witness,
        parts=tuple(parts),
    )


def reduce_union(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """[A] section 8.1: under set semantics, first without redundant occurrences, and without
    disjuncts whose answers another one gives (of parts of aggregates, which are told by their
    places, those stay: another one may give a group, but not its minimum)."""
    reduced = [_without_redundant(q, catalog) for q in union.disjuncts]
    reduced = [unorder_chains(q, catalog) for q in reduced]
    if any(query.folds is not None for query in reduced):
        return replace(union, disjuncts=tuple(reduced))
    kept: list[SpjQuery] = []
    for query in reduced:
        try:
            if any(is_contained(query, other, catalog) for other in kept):
                continue
            kept = [other for other in kept if not is_contained(other, query, catalog)]
        except QueryError:  # too long a search: it stays
            pass
        kept.append(query)
    return replace(union, disjuncts=tuple(kept))


def _without_redundant(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Without redundant occurrences, where they are found in good time."""
    try:
        return remove_redundant_occurrences(query, catalog, limit=MOST_STEPS)
    except QueryError:
        return query


def has_plan(union: SpjUnion, catalog: Catalog, *, timed: bool = True) -> bool:
    """Whether a query is bounded, and nothing else of its verdict."""
    return not any(True for _ in _undecided(union, catalog, timed))


def undecided_forms(
    union: SpjUnion, catalog: Catalog, *, timed: bool = True
) -> tuple[NormalForm, ...]:
    """The disjuncts, of an aggregate query those of its parts, that have no plan."""
    return tuple(_undecided(union, catalog, timed))


def _undecided(union: SpjUnion, catalog: Catalog, timed: bool) -> Iterator[NormalForm]:
    union = simplify_union(union, catalog)
    unions = [union]
    if union.aggregation is not None:
        unions = [part.union for part in split_aggregates(union)]
    for one in unions:
        if one.distinct:
            one = reduce_union(one, catalog)
        checker = DisjunctChecker(one, catalog, Statistics(), timed)
        for query in one.disjuncts:
            form = checker.normal(query)
            if not form.satisfiable or checker.holds(query):
                continue
            if find_contradiction(query, catalog) is not None:
                continue
            splits = checker.splits(query) if union.aggregation is None else iter(())
            if not any(all(map(checker.holds, parts)) for parts in splits):
                yield form


def bound_union(union: SpjUnion, disjuncts: tuple[DisjunctVerdict, ...]) -> Bound | None:
    """The bound of a union: the sum, and once more the results of DISTINCT across disjuncts."""
    if any(isinstance(d, Failing) for d in disjuncts):
        return None
    plans = [d.plan for d in disjuncts if isinstance(d, Bounded)]
    bounds = [t.bound for p in plans for t in p.tables if t.stored]
    if union.distinct and len(plans) > 1:
        bounds += [p.tables[-1].bound for p in plans]
    return total_bound(bounds)


def _aggregate_bound(aggregation: Aggregation, parts: Sequence[PartVerdict]) -> Bound | None:
    """What the parts keep, the current answer (one row a group), and what medians are made of."""
    bounds: list[Bound] = []
    whole = next(p for p in parts if p.part.over is None)
    for found in parts:
        bound = bound_union(found.part.union, found.disjuncts)
        if bound is None:
            return None
        bounds.append(bound)
        for plan in found.plans:
            if found is whole:
                form, outputs = plan.form, dict(plan.form.query.outputs)
                group = [a for v in aggregation.group for a in output_attributes(outputs[v])]
                bounds.append(bound_groups(form, (form.class_of[a] for a in group)))
            if found.part.aggregates[0].function is AggregateFunction.MEDIAN:
                bounds.append(plan.tables[-1].bound)
    return total_bound(bounds)
