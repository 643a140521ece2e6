"""Whether two assertions of a predicate may make one triple."""

from dataclasses import replace

from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.model.spj import Compare, Op
from ontoweir.rewriter.passes.derive_equalities import derive_equalities
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.views.equate_triples import equate_triples


def may_coincide(first: MappingAssertion, second: MappingAssertion, catalog: Catalog) -> bool:
    """Whether a row of each may make the same triple at one time, as far as templates, types,
    constants, declared domains and keys tell: False only if never."""
    equal = equate_triples(first, second, catalog)
    if equal is None or not (equal.told and equal.same_steps):
        return equal is not None
    both = equal.query
    one, other = equal.times
    if one is not None and other is not None:
        both = replace(both, conditions=(*both.conditions, Compare(one, Op.EQ, other)))
    for change in (propagate_equalities, derive_equalities, remove_self_joins):
        both = change(both, catalog)
    return find_contradiction(both, catalog) is None
