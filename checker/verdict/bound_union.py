"""The bound of a union of disjuncts that have plans."""

from ontoweir.checker.model.plan import Bound, share_tuples, total_bound
from ontoweir.checker.plans.bound_standing import bound_standing
from ontoweir.checker.verdict.verdict import Bounded, DisjunctVerdict, Failing
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion


def bound_union(
    union: SpjUnion,
    disjuncts: tuple[DisjunctVerdict, ...],
    catalog: Catalog,
) -> Bound | None:
    """The bound of a union: the sum, and once more the results of DISTINCT across disjuncts, and of
    DISTINCT over windows, whose ends are told."""
    if any(isinstance(d, Failing) for d in disjuncts):
        return None
    plans = [d.plan for d in disjuncts if isinstance(d, Bounded)]
    bounds = [bound for p in plans for bound in p.bounds]
    if union.distinct and len(plans) > 1 and not union.ends:
        bounds += [p.tables[-1].bound for p in plans]
    if union.distinct and union.ends:
        once = not union.begins  # else every end, and what is still to begin, is kept
        bounds += [bound_standing(p.form, union.ends, catalog, distinct=once) for p in plans]
    return total_bound(share_tuples(bounds))
