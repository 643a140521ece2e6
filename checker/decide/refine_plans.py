"""The plans of a bounded verdict made again with what the static data says, which only tightens
them: without its tiers, conditions and criteria, which the schema alone has decided."""

from dataclasses import replace

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.share_waits import share_waits
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import SynopsisPlan, total_bound
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.choose_plan import choose_plan
from ontoweir.checker.plans.use_open import use_open
from ontoweir.checker.verdict.bound_union import bound_union
from ontoweir.checker.verdict.verdict import Bounded, DisjunctVerdict, Unsatisfiable, Verdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog


def refine_plans(verdict: Verdict, catalog: Catalog, statistics: Statistics) -> Verdict:
    """A bounded verdict with plans and bound for this static data.

    Args:
        verdict: found without statistics; every disjunct has a plan or is unsatisfiable.
        catalog: as it was.
        statistics: of the static relations that the query reads.
    """
    if not statistics.rows:
        return verdict
    union = verdict.union
    if union.blocks or union.standing is not None or union.joined is not None:
        return check_query(verdict.union, catalog, statistics=statistics, disprove=False)
    catalog = extend_catalog(catalog, verdict.union)
    if verdict.parts:
        return check_query(verdict.union, catalog, statistics=statistics, disprove=False)
    refined: list[DisjunctVerdict] = []
    for d in verdict.disjuncts:
        if not isinstance(d, Bounded):
            refined.append(d)
            continue
        form = normalise_query(
            d.query, distinct=d.plan.form.distinct, catalog=catalog, statistics=statistics
        )
        form = use_open(form, catalog)
        plan = choose_plan(form) if form.satisfiable else None
        if isinstance(plan, SynopsisPlan):
            refined.append(replace(d, plan=plan))
        else:
            assert plan is None, "statistics only tighten a plan"
            refined.append(Unsatisfiable(d.query))
    disjuncts = share_waits(refined, catalog)
    bound = bound_union(verdict.union, disjuncts, catalog)
    if bound is not None:
        bound = total_bound([bound, *verdict.waiting, *verdict.remembered])
    return replace(verdict, disjuncts=disjuncts, bound=bound)
