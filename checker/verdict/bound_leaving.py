"""A bound on what is kept of the groups of sliding windows: all that is still to leave them."""

from collections.abc import Sequence

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.plans.bound_standing import bound_standing, least_bound
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.checker.verdict.verdict import PartVerdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import output_attributes


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


def bound_one_each(decided: PartVerdict, ends: Sequence[str], catalog: Catalog) -> Bound | None:
    """A bound on what is kept of a part that cancels, where of each row of a window one 1 alone is
    not taken away at one time: a row for each (None: how many there are is not declared).

    Args:
        decided: with the disjuncts of the rows by themselves, and those with what replaces what.
        ends: its variables that say when rows leave their windows.
        catalog: with its views and buckets.
    """
    sizes: dict[int, str] = {}
    for form in (p.form for p in decided.plans if len(p.form.members) == 1):
        (member,), outputs = form.members, dict(form.query.outputs)
        stream, rate = catalog.streams[member.stream], form.rates[0]
        columns = [
            stream.column(a.column) for name in ends for a in output_attributes(outputs[name])
        ]
        lengths = [
            column.bucket.latest_us
            for column in columns
            if column is not None and column.bucket is not None and not column.bucket.is_never
        ]
        if rate is None or not lengths:
            return None
        steps = -(-min(lengths) // stream.step_us)
        sizes[rate * member.timestamps(steps)] = f"R({member.alias}) · {steps} steps"
    # in all disjuncts they are the same rows, with NULL in one column or another
    return Bound(*sizes.popitem()) if len(sizes) == 1 else None


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
