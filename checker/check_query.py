"""Decide a query before anything runs: verdict, tier, bound, plan, or witness."""

from collections.abc import Callable

from ontoweir.checker.decide_lag import Failure, decide_lag
from ontoweir.checker.decide_published import decide_arasu, decide_set, decide_tree
from ontoweir.checker.declarations import Declaration, list_declarations
from ontoweir.checker.drop_windows import drop_windows
from ontoweir.checker.explain_failure import explain_failure, explain_obstacle
from ontoweir.checker.find_witness import find_witness
from ontoweir.checker.make_plan import make_plan
from ontoweir.checker.normal_form import NormalForm, Statistics
from ontoweir.checker.normalise_query import normalise_query
from ontoweir.checker.plan import Bound, SynopsisPlan, total_bound
from ontoweir.checker.split_times import split_times
from ontoweir.checker.verdict import (
    Bounded,
    Criteria,
    DisjunctVerdict,
    Failing,
    Tier,
    Unsatisfiable,
    Verdict,
)
from ontoweir.checker.witness import Witness
from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.spj import SpjQuery, SpjUnion


def check_query(
    union: SpjUnion,
    catalog: Catalog,
    *,
    statistics: Statistics | None = None,
    timed: bool = True,
) -> Verdict:
    """Decide an unfolded query.

    Args:
        union: the query.
        catalog: streams, relations, and what is declared of them.
        statistics: what is known of the static data; without it the schema alone decides.
        timed: False for the arrival model ([A]): timestamps are ignored.

    Raises:
        QueryError: a comparison mixes types.
    """
    checker = _Checker(union, catalog, statistics or Statistics(), timed)
    disjuncts = tuple(checker.decide(q) for q in union.disjuncts)
    witness = None
    if any(isinstance(d, Failing) for d in disjuncts):
        witness = checker.disprove(disjuncts)
    declarations: dict[Declaration, None] = {}
    for query in union.disjuncts:
        declarations.update(dict.fromkeys(list_declarations(query, catalog)))
    conditions: dict[Declaration, None] = {}
    for d in disjuncts:
        if isinstance(d, Bounded):
            conditions.update(dict.fromkeys(d.conditions))
    tier = max((d.tier for d in disjuncts), key=lambda t: t.rank, default=Tier.UNSATISFIABLE)
    if witness is not None:
        tier = Tier.UNBOUNDED
    return Verdict(
        union=union,
        disjuncts=disjuncts,
        tier=tier,
        bound=_bound(union, disjuncts),
        conditions=tuple(conditions),
        declarations=tuple(declarations),
        witness=witness,
    )


def _bound(union: SpjUnion, disjuncts: tuple[DisjunctVerdict, ...]) -> Bound | None:
    """The bound of a union: the sum, and once more the results of DISTINCT across disjuncts."""
    if any(isinstance(d, Failing) for d in disjuncts):
        return None
    plans = [d.plan for d in disjuncts if isinstance(d, Bounded)]
    bounds = [t.bound for p in plans for t in p.tables if t.stored]
    if union.distinct and len(plans) > 1:
        bounds += [p.tables[-1].bound for p in plans]
    return total_bound(bounds)


class _Checker:
    """What all disjuncts of one query share."""

    def __init__(
        self, union: SpjUnion, catalog: Catalog, statistics: Statistics, timed: bool
    ) -> None:
        self.union, self.catalog = union, catalog
        self.statistics, self.timed = statistics, timed
        self.forms: dict[SpjQuery, tuple[NormalForm, tuple[Failure, ...]]] = {}

    def normal(
        self,
        query: SpjQuery,
        use: Callable[[Declaration], bool] = lambda _: True,
        *,
        timed: bool | None = None,
    ) -> NormalForm:
        return normalise_query(
            query,
            distinct=self.union.distinct,
            catalog=self.catalog,
            statistics=self.statistics,
            use=use,
            timed=self.timed if timed is None else timed,
        )

    def decide(self, query: SpjQuery) -> DisjunctVerdict:
        form = self.normal(query)
        if not form.satisfiable:
            return Unsatisfiable(query)
        order = drop_windows(query, self.catalog)
        ordered = form if order == query else self.normal(order)
        parts = split_times(ordered)
        lag = decide_lag(form)
        criteria = Criteria(
            arasu=decide_arasu(self.normal(query, timed=False)),
            tree=decide_tree(ordered, parts),
            published_set=decide_set(ordered) if form.distinct else None,
            lag=lag,
        )
        plan = make_plan(form)
        if lag.holds and isinstance(plan, SynopsisPlan):
            conditions = self.conditions(query)
            tier = self.tier(form, ordered, criteria, conditions)
            return Bounded(query, tier, criteria, plan, conditions)
        self.forms[query] = (form, lag.failures)
        because = tuple(explain_failure(form, f, self.union, self.catalog) for f in lag.failures)
        if not because and not isinstance(plan, SynopsisPlan):
            because = tuple(explain_obstacle(form, o, self.union, self.catalog) for o in plan)
        return Failing(query, Tier.UNDECIDED, criteria, because)

    def holds(self, query: SpjQuery, use: Callable[[Declaration], bool]) -> bool:
        """Whether a disjunct is bounded with those declared constraints alone."""
        form = self.normal(query, use)
        if not form.satisfiable:
            return True
        return decide_lag(form).holds and isinstance(make_plan(form), SynopsisPlan)

    def conditions(self, query: SpjQuery) -> tuple[Declaration, ...]:
        """A minimal set of declared constraints that suffices; none where the query's own
        selection does."""
        needed = list(list_declarations(query, self.catalog))
        if not needed or self.holds(query, lambda _: False):
            return ()
        for declaration in list(needed):
            rest = [d for d in needed if d != declaration]
            if self.holds(query, rest.__contains__):
                needed = rest
        return tuple(needed)

    def tier(
        self,
        form: NormalForm,
        ordered: NormalForm,
        criteria: Criteria,
        conditions: tuple[Declaration, ...],
    ) -> Tier:
        if conditions:
            return Tier.CONDITIONALLY_BOUNDED
        plan = make_plan(form)
        if isinstance(plan, SynopsisPlan) and len(plan.tables) == 1:
            return Tier.STATELESS
        windowed = ordered is not form and not (
            decide_lag(ordered).holds and isinstance(make_plan(ordered), SynopsisPlan)
        )
        if windowed:
            return Tier.WINDOW_BOUNDED
        structure = {"C1", "C2"} & set(criteria.tree.failed)
        if criteria.tree.holds or (form.distinct and not structure):
            return Tier.TREE_BOUNDED
        return Tier.JOINTLY_BOUNDED

    def disprove(self, disjuncts: tuple[DisjunctVerdict, ...]) -> Witness | None:
        """A confirmed witness against the whole union, from some failing disjunct."""
        if not self.timed:
            return None
        for d in disjuncts:
            if isinstance(d, Failing):
                form, failures = self.forms[d.query]
                witness = find_witness(form, self.union, failures, self.catalog)
                if witness is not None:
                    return witness
        return None
