"""Decide a query before anything runs: verdict, tier, bound, plan, or witness."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ontoweir.checker.bound_table import bound_groups
from ontoweir.checker.confirm_aggregates import MOST_SUBSETS
from ontoweir.checker.decide_aggregates import decide_aggregates
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
from ontoweir.checker.split_aggregates import split_aggregates
from ontoweir.checker.split_dates import split_dates
from ontoweir.checker.split_ranges import split_ranges
from ontoweir.checker.split_times import split_times
from ontoweir.checker.split_unequal import split_unequal
from ontoweir.checker.verdict import (
    Bounded,
    Criteria,
    DisjunctVerdict,
    Failing,
    PartVerdict,
    Tier,
    Unsatisfiable,
    Verdict,
)
from ontoweir.checker.witness import Witness
from ontoweir.errors import QueryError
from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.contain_spj import is_contained
from ontoweir.rewriter.find_contradiction import find_contradiction
from ontoweir.rewriter.list_lags import apply_lags
from ontoweir.rewriter.remove_redundant_occurrences import remove_redundant_occurrences
from ontoweir.rewriter.spj import Attribute, Compare, SpjQuery, SpjUnion, output_attributes


def check_query(
    union: SpjUnion,
    catalog: Catalog,
    *,
    statistics: Statistics | None = None,
    timed: bool = True,
    disprove: bool = True,
    size: int = 4,
) -> Verdict:
    """Decide an unfolded query.

    Args:
        union: the query.
        catalog: streams, relations, and what is declared of them.
        statistics: what is known of the static data; without it the schema alone decides.
        timed: False for the arrival model ([A]): timestamps are ignored.
        disprove: look for a witness where there is no plan.
        size: how many optional tuples the witness has.

    Raises:
        QueryError: a comparison mixes types.
    """
    known = statistics or Statistics()
    if union.distinct:
        union = _reduce(union, catalog)
    parts: list[PartVerdict] = []
    witness: Witness | None = None
    if union.aggregation is None:
        checker = _Checker(union, catalog, known, timed, size=size)
        disjuncts = tuple(d for q in union.disjuncts for d in checker.decide_parts(q))
        union = replace(union, disjuncts=tuple(d.query for d in disjuncts))
        witness = checker.disprove(disjuncts) if disprove else None
        bound = _bound(union, disjuncts)
    else:
        for part in split_aggregates(union):
            if part.union.distinct:
                part = replace(part, union=_reduce(part.union, catalog))
            checker = _Checker(part.union, catalog, known, timed, part.aggregates, size, union)
            found = PartVerdict(part, tuple(checker.decide(q) for q in part.union.disjuncts))
            parts.append(found)
            if disprove and witness is None:
                witness = checker.disprove(found.disjuncts)
        across = zip(*(p.disjuncts for p in parts), strict=True)
        disjuncts = tuple(max(of, key=lambda d: d.tier.rank) for of in across)
        bound = _aggregate_bound(union.aggregation, parts)
    declarations: dict[Declaration, None] = {}
    for query in union.disjuncts:
        declarations.update(dict.fromkeys(list_declarations(query, catalog)))
    conditions: dict[Declaration, None] = {}
    for d in (d for p in parts for d in p.disjuncts) if parts else disjuncts:
        if isinstance(d, Bounded):
            conditions.update(dict.fromkeys(d.conditions))
    tier = max((d.tier for d in disjuncts), key=lambda t: t.rank, default=Tier.UNSATISFIABLE)
    if witness is not None:
        tier = Tier.UNBOUNDED
    return Verdict(
        union=union,
        disjuncts=disjuncts,
        tier=tier,
        bound=bound,
        conditions=tuple(conditions),
        declarations=tuple(declarations),
        witness=witness,
        parts=tuple(parts),
    )


def _reduce(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """[A] section 8.1: under set semantics, first without redundant occurrences, and without
    disjuncts whose answers another one gives (of parts of aggregates, which are told by their
    places, those stay)."""
    reduced = [remove_redundant_occurrences(q, catalog) for q in union.disjuncts]
    kept: list[SpjQuery] = []
    for query in reduced:
        try:
            if any(is_contained(query, other, catalog) for other in kept):
                continue
            kept = [other for other in kept if not is_contained(other, query, catalog)]
        except QueryError:  # too long a search: it stays
            pass
        kept.append(query)
    return replace(union, disjuncts=tuple(kept if union.aggregation is None else reduced))


def has_plan(union: SpjUnion, catalog: Catalog, *, timed: bool = True) -> bool:
    """Whether a query is bounded, and nothing else of its verdict."""
    return not any(True for _ in _undecided(union, catalog, timed))


def undecided_forms(
    union: SpjUnion, catalog: Catalog, *, timed: bool = True
) -> tuple[NormalForm, ...]:
    """The disjuncts, of an aggregate query those of its parts, that have no plan."""
    return tuple(_undecided(union, catalog, timed))


def _undecided(union: SpjUnion, catalog: Catalog, timed: bool) -> Iterator[NormalForm]:
    unions = [union]
    if union.aggregation is not None:
        unions = [part.union for part in split_aggregates(union)]
    for one in unions:
        if one.distinct:
            one = _reduce(one, catalog)
        checker = _Checker(one, catalog, Statistics(), timed)
        for query in one.disjuncts:
            form = checker.normal(query)
            if not form.satisfiable or checker.holds(query):
                continue
            if find_contradiction(query, catalog) is not None:
                continue
            splits = checker.splits(query) if union.aggregation is None else iter(())
            if not any(all(map(checker.holds, parts)) for parts in splits):
                yield form


def _bound(union: SpjUnion, disjuncts: tuple[DisjunctVerdict, ...]) -> Bound | None:
    """The bound of a union: the sum, and once more the results of DISTINCT across disjuncts."""
    if any(isinstance(d, Failing) for d in disjuncts):
        return None
    plans = [d.plan for d in disjuncts if isinstance(d, Bounded)]
    bounds = [t.bound for p in plans for t in p.tables if t.stored]
    if union.distinct and len(plans) > 1:
        bounds += [p.tables[-1].bound for p in plans]
    return total_bound(bounds)


def _aggregate_bound(aggregation: Aggregation, parts: Sequence[PartVerdict]) -> Bound | None:
    """What the parts keep, the current answer (one row a group), and what medians are made of."""
    bounds: list[Bound] = []
    for place, found in enumerate(parts):
        bound = _bound(found.part.union, found.disjuncts)
        if bound is None:
            return None
        bounds.append(bound)
        for plan in found.plans:
            if place == 0:
                form, outputs = plan.form, dict(plan.form.query.outputs)
                group = [a for v in aggregation.group for a in output_attributes(outputs[v])]
                bounds.append(bound_groups(form, (form.class_of[a] for a in group)))
            if found.part.aggregates[0].function is AggregateFunction.MEDIAN:
                bounds.append(plan.tables[-1].bound)
    return total_bound(bounds)


class _Checker:
    """What all disjuncts of one query, or of one part of an aggregate query, share."""

    def __init__(
        self,
        union: SpjUnion,
        catalog: Catalog,
        statistics: Statistics,
        timed: bool,
        aggregates: tuple[Aggregate, ...] = (),
        size: int = 4,
        whole: SpjUnion | None = None,
    ) -> None:
        self.size, self.whole = size, union if whole is None else whole
        self.union, self.catalog, self.aggregates = union, catalog, aggregates
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
        if not form.satisfiable or find_contradiction(query, self.catalog) is not None:
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
            grouped=decide_aggregates(self.normal(query, timed=False), self.aggregates)
            if self.aggregates
            else None,
        )
        plan = make_plan(form) if lag.holds else ()
        if isinstance(plan, SynopsisPlan):
            conditions = self.conditions(query)
            tier = self.tier(form, ordered, criteria, conditions)
            return Bounded(query, tier, criteria, plan, conditions)
        self.forms[query] = (form, lag.failures)
        because = tuple(explain_failure(form, f, self.union, self.catalog) for f in lag.failures)
        if not because and not isinstance(plan, SynopsisPlan):
            because = tuple(explain_obstacle(form, o, self.union, self.catalog) for o in plan)
        return Failing(query, Tier.UNDECIDED, criteria, because)

    def decide_parts(self, query: SpjQuery) -> tuple[DisjunctVerdict, ...]:
        """The verdict on a disjunct; of a set query without a plan, those on parts of it that
        have plans, if it can be split so."""
        whole = self.decide(query)
        if isinstance(whole, Failing):
            for parts in self.splits(query):
                decided = tuple(map(self.decide, parts))
                if not any(isinstance(d, Failing) for d in decided):
                    return decided
        return (whole,)

    def splits(self, query: SpjQuery) -> Iterator[tuple[SpjQuery, ...]]:
        """Ways to split a disjunct that has no plan into parts that may have one."""
        dated = split_dates(query, self.catalog, self.normal) if self.timed else (query,)
        if len(dated) > 1:
            yield dated
        if self.union.distinct:
            unequal = tuple(p for part in dated for p in self.split_unequal(part))
            if len(unequal) > len(dated):
                yield unequal
            ranged = tuple(p for part in unequal for p in split_ranges(part, self.normal))
            if len(ranged) > len(unequal):
                yield ranged

    def split_unequal(self, query: SpjQuery) -> tuple[SpjQuery, ...]:
        """The satisfiable parts of a set query without `≠` of unbounded numbers."""
        parts = split_unequal(self.normal(query))
        if len(parts) == 1:
            return parts
        return tuple(p for p in parts if self.normal(p).satisfiable)

    def holds(self, query: SpjQuery, use: Callable[[Declaration], bool] = lambda _: True) -> bool:
        """Whether a disjunct is bounded with those declared constraints alone."""
        form = self.normal(query, use)
        if not form.satisfiable:
            return True
        try:
            return decide_lag(form).holds and isinstance(make_plan(form), SynopsisPlan)
        except QueryError:  # too large a plan; `decide` says so
            return False

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

    def told_apart(self, union: SpjUnion) -> SpjUnion:
        """The query that a witness is confirmed against: with declared lags; in the arrival model
        without timestamps, so that tuples may arrive in the order of any timestamps."""
        if self.timed:
            return apply_lags(union, self.catalog)
        streams = self.catalog.streams

        def drop(query: SpjQuery) -> SpjQuery:
            times = {
                Attribute(o.alias, streams[o.table].timestamp)
                for o in query.occurrences
                if o.table in streams
            }
            kept = (c for c in query.conditions if not (isinstance(c, Compare) and c.left in times))
            return replace(query, conditions=tuple(kept))

        return replace(union, disjuncts=tuple(map(drop, union.disjuncts)))

    def disprove(self, disjuncts: tuple[DisjunctVerdict, ...]) -> Witness | None:
        """A confirmed witness against the whole union, from some failing disjunct."""
        failing = [d.query for d in disjuncts if isinstance(d, Failing)]
        if not failing:
            return None
        functions = {a.function for a in self.aggregates}
        if not functions or AggregateFunction.COUNT in functions:
            for query in failing:
                form, failures = self.forms[query]
                answers = self.told_apart(self.union)
                witness = find_witness(form, answers, failures, self.catalog, size=self.size)
                if witness is not None:
                    return witness
        if not functions:
            return None
        for query in failing:
            form, failures = self.forms[query]
            for size in dict.fromkeys((self.size, min(self.size, MOST_SUBSETS))):
                answers = self.told_apart(self.whole)
                witness = find_witness(form, answers, failures, self.catalog, size=size)
                if witness is not None:
                    return witness
        return self.disprove_groups(failing)

    def disprove_groups(self, failing: Sequence[SpjQuery]) -> Witness | None:
        """A witness that tells subsets of tuples apart by which groups (or counted values) exist:
        whatever is aggregated then has to tell them apart too. A median need not tell which of
        its values exist, so it is left out."""
        if any(a.function is AggregateFunction.MEDIAN for a in self.aggregates):
            return None
        plain = replace(
            self.union,
            disjuncts=tuple(replace(q, folds=None) for q in self.union.disjuncts),
            distinct=True,
        )
        plain = self.told_apart(plain)
        checker = _Checker(plain, self.catalog, self.statistics, self.timed, size=self.size)
        for query in failing:
            form = checker.normal(replace(query, folds=None))
            witness = find_witness(
                form, plain, decide_lag(form).failures, self.catalog, size=self.size
            )
            if witness is not None:
                return witness
        return None
