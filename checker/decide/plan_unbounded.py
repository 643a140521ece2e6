"""Plans for a query that is not bounded (`--allow-unbounded`): whatever is needed is kept.

The plan is that of the query with every value assumed bounded (theory §8 without its premise;
citations 17): the answers are the same, and the state grows with the streams.
"""

from dataclasses import dataclass, replace

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.model.normal_form import NormalForm, Statistics
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.normalise.reduce_union import reduce_union
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.checker.split.split_aggregates import AggregatePart, split_aggregates
from ontoweir.checker.split.split_by_keys import list_singly
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion


@dataclass(frozen=True, slots=True)
class UnboundedPlans:
    """What runs a query whatever it takes.

    `plans`: one for each satisfiable disjunct (part after part, for aggregates); `parts`: of an
    aggregate query, each with the number of its plans.
    """

    plans: tuple[SynopsisPlan, ...]
    parts: tuple[tuple[AggregatePart, int], ...]


def plan_unbounded(
    union: SpjUnion, catalog: Catalog, *, statistics: Statistics | None = None
) -> UnboundedPlans:
    """Plans that give the answers of any query, in memory that may grow without limit.

    Raises:
        QueryError: a comparison mixes types, or a plan would have too many steps.
    """
    catalog = extend_catalog(catalog, union)
    known = statistics or Statistics()
    if union.aggregation is None:
        plans = _plan_union(union, catalog, known)
        return UnboundedPlans(plans, ())
    if find_closing(union, catalog) is not None or union.aggregation.session_us is not None:
        raise QueryError(
            f"{union.name} is not bounded, and its groups are never final",
            why="a bucket of time, or a session, is final when all that may still match is over, "
            "which here may take for ever",
            fix="limit the time between its pattern and the others by a window; count no values "
            "without a domain in sessions",
            source=union.source,
        )
    split = split_aggregates(union, singly=list_singly(union, catalog))
    parts = [(p, _plan_union(p.union, catalog, known)) for p in split]
    return UnboundedPlans(
        tuple(plan for _, plans in parts for plan in plans),
        tuple((part, len(plans)) for part, plans in parts),
    )


def _plan_union(
    union: SpjUnion, catalog: Catalog, statistics: Statistics
) -> tuple[SynopsisPlan, ...]:
    if union.distinct:
        union = reduce_union(union, catalog)
    plans = (_plan(q, union.distinct, catalog, statistics) for q in union.disjuncts)
    return tuple(plan for plan in plans if plan is not None)


def _plan(
    query: SpjQuery, distinct: bool, catalog: Catalog, statistics: Statistics
) -> SynopsisPlan | None:
    """The plan of a disjunct; None where it is unsatisfiable."""
    form = normalise_query(query, distinct=distinct, catalog=catalog, statistics=statistics)
    if not form.satisfiable or find_contradiction(query, catalog) is not None:
        return None
    plan = make_plan(form) if decide_lag(form).holds else ()
    if not isinstance(plan, SynopsisPlan):
        plan = make_plan(_assume_bounded(form))
    assert isinstance(plan, SynopsisPlan)  # nothing is in the way of what may be kept
    return plan


def _assume_bounded(form: NormalForm) -> NormalForm:
    """The form with every domain assumed finite, of unknown size and unknown values."""
    classes = tuple(
        c
        if c.domain.finite
        else replace(c, domain=replace(c.domain, finite=True, size=None, awaited=True))
        for c in form.classes
    )
    return replace(form, classes=classes)
