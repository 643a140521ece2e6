"""A bound on what is kept of the groups of sliding windows: all that is still to leave them."""

from collections.abc import Sequence

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound
from ontoweir.checker.plans.bound_standing import bound_standing, least_bound
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction


def bound_leaving(
    part: AggregatePart, form: NormalForm, ends: Sequence[str], catalog: Catalog
) -> Bound:
    """The least bound found on what is kept of a part: for each group and each time at which
    matches of it leave their windows one row, which counts and sums them; of minima and maxima the
    best that leaves then, if nothing better leaves later; of distinct values each once, with the
    last time; and for medians every value by itself.

    Args:
        part: what is computed.
        form: one of its disjuncts.
        ends: its variables that say when rows leave their windows.
        catalog: with its views and buckets.
    """
    first = part.aggregates[0]
    valued = part.group if first.argument is None else (*part.group, first.argument)

    def bound(among: Sequence[str], *, distinct: bool) -> Bound:
        return bound_standing(form, ends, catalog, distinct=distinct, among=among)

    match first.function:
        case AggregateFunction.COUNT_DISTINCT:
            return bound(valued, distinct=True)
        case AggregateFunction.MIN | AggregateFunction.MAX:
            return least_bound((bound(part.group, distinct=False), bound(valued, distinct=True)))
        case AggregateFunction.MEDIAN | AggregateFunction.QUANTILE:
            return bound(valued, distinct=False)
        case AggregateFunction.COUNT | AggregateFunction.SUM | AggregateFunction.AVG:
            return bound(part.group, distinct=False)
