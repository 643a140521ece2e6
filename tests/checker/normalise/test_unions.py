"""Disjuncts are merged, and contained ones dropped, as where every pair is looked at."""

from dataclasses import replace
from random import Random

from hypothesis import given

from ontoweir.checker.normalise.merge_disjuncts import _merge, merge_disjuncts
from ontoweir.checker.normalise.reduce_union import reduce_union
from ontoweir.checker.normalise.relax_chains import relax_chains
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.model.spj import Compare, Condition, Constant, Op, SpjQuery, SpjUnion
from ontoweir.rewriter.passes.remove_redundant_occurrences import remove_redundant_occurrences
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import make_case


def _draw(random: Random) -> tuple[SpjUnion, Catalog]:
    """A union of many disjuncts, of which several are alike, or say less than others."""
    while True:
        case = make_case(random)
        if case.query.aggregation is None and not case.query.blocks:
            break
    made = []
    for _ in range(random.randint(2, 9)):
        query = random.choice(case.query.disjuncts)
        kept = [c for c in query.conditions if random.random() < 0.7]
        made.append(replace(query, conditions=tuple(_vary(random, c) for c in kept)))
    return replace(case.query, disjuncts=tuple(made)), case.catalog


def _vary(random: Random, condition: Condition) -> Condition:
    if not isinstance(condition, Compare) or random.random() < 0.5:
        return condition
    if isinstance(condition.right, Constant) and isinstance(condition.right.value, int):
        condition = replace(condition, right=Constant(random.randrange(4)))
    return replace(condition, op=random.choice(list(Op)))


def _merge_pairs(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    bag = not union.distinct or union.aggregation is not None
    rest: list[SpjQuery] = []
    waiting = list(union.disjuncts)
    while waiting:
        query = waiting.pop(0)
        for place, other in enumerate(rest):
            if (other.occurrences, other.outputs, other.folds) != (
                query.occurrences,
                query.outputs,
                query.folds,
            ):
                continue
            whole = _merge(other, query, catalog, bag=bag)
            if whole is not None:
                del rest[place]
                waiting.insert(0, whole)
                break
        else:
            rest.append(query)
    return replace(union, disjuncts=tuple(rest))


def _reduce_pairs(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    kept: list[SpjQuery] = []
    for drawn in union.disjuncts:
        query = relax_chains(remove_redundant_occurrences(drawn, catalog), catalog)
        if any(is_contained(query, other, catalog) for other in kept):
            continue
        kept = [other for other in kept if not is_contained(other, query, catalog)]
        kept.append(query)
    return replace(union, disjuncts=tuple(kept))


@given(SEEDS)
@budget(3)
def test_as_every_pair(seed: int) -> None:
    union, catalog = _draw(Random(seed))
    for distinct in (False, True):
        asked = replace(union, distinct=distinct)
        assert merge_disjuncts(asked, catalog) == _merge_pairs(asked, catalog)
    assert reduce_union(union, catalog) == _reduce_pairs(union, catalog)
