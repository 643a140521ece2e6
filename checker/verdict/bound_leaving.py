"""A bound on what is kept of the groups of sliding windows: all that is still to leave them."""

from collections.abc import Sequence

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.plans.bound_standing import bound_standing, least_bound
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction


def bound_leaving(
    part: AggregatePart,
    form: NormalForm,
    ends: Sequence[str],
    catalog: Catalog,
    *,
    late: bool = False,
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
        late: rows may be shown some time after their own. What is still to begin is kept beside
            what is still to leave, for each time at which it begins and leaves.
    """
    leaving = _bound_begun(part, form, ends, catalog)
    if not late:
        return leaving
    valued = part.aggregates[0].function.holistic
    among = _list_valued(part) if valued else part.group
    coming = bound_standing(form, ends, catalog, distinct=False, among=among, paired=True)
    return total_bound((leaving, coming))


def _list_valued(part: AggregatePart) -> tuple[str, ...]:
    """What tells values apart."""
    argument = part.aggregates[0].argument
    return part.group if argument is None else (*part.group, argument)


def _bound_begun(
    part: AggregatePart, form: NormalForm, ends: Sequence[str], catalog: Catalog
) -> Bound:
    first, valued = part.aggregates[0], _list_valued(part)

    def bound(among: Sequence[str], *, distinct: bool) -> Bound:
        return bound_standing(form, ends, catalog, distinct=distinct, among=among)

    match first.function:
        case AggregateFunction.COUNT_DISTINCT:
            return bound(valued, distinct=True)
        case AggregateFunction.MIN | AggregateFunction.MAX:
            return least_bound((bound(part.group, distinct=False), bound(valued, distinct=True)))
        case (
            AggregateFunction.MEDIAN
            | AggregateFunction.QUANTILE
            | AggregateFunction.PERCENTILE
            | AggregateFunction.SUM_DISTINCT
            | AggregateFunction.AVG_DISTINCT
            | AggregateFunction.LIST
            | AggregateFunction.LIST_DISTINCT
        ):
            return bound(valued, distinct=False)
        case (
            AggregateFunction.COUNT
            | AggregateFunction.SUM
            | AggregateFunction.AVG
            | AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.REGR_SXX
        ):
            return bound(part.group, distinct=False)
