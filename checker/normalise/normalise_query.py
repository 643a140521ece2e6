"""Bring a disjunct into normal form: members, value classes, limits, lags ([S] Def. 4, 5)."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from ontoweir.checker.model.constraint_graph import (
    HIGH_NODE,
    LOW_NODE,
    ConstraintGraph,
    irredundant_limits,
)
from ontoweir.checker.model.declarations import (
    Declaration,
    closing_declaration,
    lag_declaration,
)
from ontoweir.checker.model.difference_bounds import DifferenceBounds, Limit
from ontoweir.checker.model.normal_form import (
    FoldedValue,
    NormalForm,
    SoleMatch,
    Statistics,
    TimeLimit,
    ValueClass,
)
from ontoweir.checker.model.units import kind_of
from ontoweir.checker.normalise.find_classes import find_classes
from ontoweir.checker.normalise.fold_members import find_lags, fold_members
from ontoweir.checker.normalise.relate_classes import (
    contradicts_disequality,
    relate_disequalities,
    relate_inequalities,
)
from ontoweir.checker.sizes.bound_rates import bound_rates, bound_totals, list_determined
from ontoweir.mappings.model.catalog import Catalog, Lag
from ontoweir.rewriter.algebra.list_lags import list_lags
from ontoweir.rewriter.model.aggregation import is_asked
from ontoweir.rewriter.model.spj import Attribute, Compare, Fold, SpjQuery


def normalise_query(
    query: SpjQuery,
    *,
    distinct: bool,
    catalog: Catalog,
    statistics: Statistics | None = None,
    use: Callable[[Declaration], bool] = lambda _: True,
    timed: bool = True,
) -> NormalForm:
    """Bring one disjunct into normal form.

    Args:
        query: the disjunct.
        distinct: set semantics.
        catalog: types, declared domains, keys, references.
        statistics: what is known of the static data.
        use: which declared constraints may be used.
        timed: False drops all timestamps: arrival order ([A]).

    Raises:
        QueryError: a comparison mixes types, or a column is unknown.
    """
    closed = query.closed
    declared = None
    if closed is not None and not is_asked(closed):
        declared = closing_declaration(closed.stream, closed.rule)
    if declared is not None and not use(declared):
        query = replace(query, closing=None, closed=None)
    lags = [found for found in list_lags(query, catalog) if use(lag_declaration(*found[:2]))]
    more = tuple(comparison for _, _, comparison in lags)
    if more:
        query = replace(query, conditions=(*query.conditions, *more))
    work = ConstraintGraph(query, distinct, catalog, statistics or Statistics(), use, timed)
    work.check_types()
    if not work.streams and work.query.occurrences:  # static: nothing waits, nothing is kept
        empty = SpjQuery((), (), (), query.provenance)
        work = ConstraintGraph(empty, distinct, catalog, work.statistics, use, timed)
    form = _assemble(work)
    ones = [(lag, comparison) for _, lag, comparison in lags if lag.one]
    return replace(form, sole=tuple(_join_one(form, *one) for one in ones)) if ones else form


def _join_one(form: NormalForm, lag: Lag, comparison: Compare) -> SoleMatch:
    """A many-one join of two members, which a lag compares."""
    assert isinstance(comparison.right, Attribute)
    late, early = comparison.left.alias, comparison.right.alias
    index = {m.alias: m.index for m in form.members}
    values = dict.fromkeys(form.class_of[Attribute(late, name)] for name in lag.columns)
    return SoleMatch(index[early], index[late], tuple(values))


def _assemble(work: ConstraintGraph) -> NormalForm:
    owner = work.fold_statics()
    explicit, declared = work.limits(), work.domains()
    bounds = DifferenceBounds(work.grains)
    bounds.add(LOW_NODE, HIGH_NODE, Limit(0))
    for step in (*declared, *explicit):
        bounds.add(step.left, step.right, step.limit)
    time_steps, different = work.time_steps(owner)
    if not work.timed:
        time_steps, different = [], []
    spacings = [work.catalog.streams[o.table].spacing for o in work.streams]
    times = DifferenceBounds([1, *spacings])
    for step in time_steps:
        times.add(step.left, step.right, step.limit)
    satisfiable = (
        bounds.satisfiable and times.satisfiable and not contradicts_disequality(work, bounds)
    )
    satisfiable = satisfiable and not any(
        times.implies(d.left + 1, d.right + 1, Limit(d.steps))
        and times.implies(d.right + 1, d.left + 1, Limit(-d.steps))
        for d in different
    )
    members = fold_members(work, owner, bounds, times)
    lag = find_lags(times, len(members))
    classes, class_of = find_classes(work, owner, bounds, members)
    inequalities = relate_inequalities(work, owner, explicit, declared, bounds, class_of, classes)
    disequalities = relate_disequalities(work, owner, bounds, class_of, classes)
    base = DifferenceBounds(times.grains)
    for step in time_steps:
        if 0 in (step.left, step.right):
            base.add(step.left, step.right, step.limit)
    between = [s for s in time_steps if s.left and s.right and s.left != s.right]
    limits = (
        tuple(
            TimeLimit(
                s.left - 1,
                s.right - 1,
                int(times.tighten(s.left, s.right, s.limit).value),
                s.source,
            )
            for s in irredundant_limits(base, between)
        )
        if satisfiable
        else ()
    )
    return NormalForm(
        query=work.query,
        distinct=work.distinct,
        satisfiable=satisfiable,
        unit=work.units.unit,
        floats=work.units.floats,
        members=members,
        classes=classes,
        class_of=class_of,
        kinds={a: kind_of(c.type) for a, c in work.columns.items()},
        inequalities=inequalities,
        disequalities=disequalities,
        times=limits,
        time_differences=tuple(d for d in different if d.left != d.right),
        lag=lag,
        bounds=bounds,
        class_nodes=tuple(work.values[c.attributes[0][0]] for c in classes),
        rates=bound_rates(work, members, class_of, classes),
        totals=bound_totals(work, members, class_of, classes),
        determined=list_determined(work, owner, class_of, classes),
        folds=None
        if work.query.folds is None
        else tuple(_fold(f, owner, classes, class_of) for f in work.query.folds),
    )


def _fold(
    fold: Fold,
    owner: Mapping[str, int],
    classes: tuple[ValueClass, ...],
    class_of: Mapping[Attribute, int],
) -> FoldedValue:
    index = class_of[fold.attribute]
    shift = dict(classes[index].attributes)[fold.attribute]
    return FoldedValue(fold.name, fold.function, index, shift, owner[fold.attribute.alias])
