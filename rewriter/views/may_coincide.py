"""Whether two assertions of a predicate may make one triple."""

from ontoweir.errors import QueryError
from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.spj import Compare, Condition, Op, SpjQuery
from ontoweir.rewriter.passes.derive_equalities import derive_equalities
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.tmappings.instantiate_assertion import instantiate_assertion
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs


def may_coincide(first: MappingAssertion, second: MappingAssertion, catalog: Catalog) -> bool:
    """Whether a row of each may make the same triple at one time, as far as templates, types,
    constants, declared domains and keys tell: False only if never."""
    one = instantiate_assertion(first, 1, catalog)
    other = instantiate_assertion(second, 1 + len(one.occurrences), catalog)
    occurrences = (*one.occurrences, *other.occurrences)
    types = Types(catalog, occurrences)
    conditions: list[Condition] = [*one.conditions, *other.conditions]
    try:
        for left, right in ((one.subject, other.subject), (one.object, other.object)):
            if left is None or right is None:
                continue
            if not (is_injective(left, types) and is_injective(right, types)):
                return True
            equations = unify_outputs(left, right, types, None)
            if equations is None:
                return False
            conditions.extend(equations)
    except QueryError:
        return True  # they may be equal, but no equations of columns say when
    if one.time is not None and other.time is not None:
        if types.step_of(one.time) != types.step_of(other.time):
            return True
        conditions.append(Compare(one.time, Op.EQ, other.time))
    both = SpjQuery(occurrences, tuple(conditions), ())
    for change in (propagate_equalities, derive_equalities, remove_self_joins):
        both = change(both, catalog)
    return find_contradiction(both, catalog) is None
