"""Decide the disjuncts of one query, or of one part of an aggregate query, and disprove them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ontoweir.checker.choose_plan import choose_plan
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
from ontoweir.checker.plan import SynopsisPlan
from ontoweir.checker.split_dates import split_dates
from ontoweir.checker.split_ranges import split_ranges
from ontoweir.checker.split_times import split_times
from ontoweir.checker.split_unequal import split_unequal
from ontoweir.checker.verdict import (
    Bounded,
    Criteria,
    DisjunctVerdict,
    Failing,
    Tier,
    Unsatisfiable,
)
from ontoweir.checker.witness import Witness
from ontoweir.errors import QueryError
from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.find_contradiction import find_contradiction
from ontoweir.rewriter.list_lags import apply_lags
from ontoweir.rewriter.spj import Attribute, Compare, SpjQuery, SpjUnion


class DisjunctChecker:
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
        self.known: dict[tuple[SpjQuery, bool], NormalForm] = {}

    def normal(self, query: SpjQuery, *, timed: bool | None = None) -> NormalForm:
        """The normal form of a disjunct, with all that is declared."""
        key = (query, self.timed if timed is None else timed)
        if key not in self.known:
            self.known[key] = self.normal_by(query, lambda _: True, timed=key[1])
        return self.known[key]

    def normal_by(
        self, query: SpjQuery, use: Callable[[Declaration], bool], *, timed: bool
    ) -> NormalForm:
        """The normal form with those declared constraints alone."""
        return normalise_query(
            query,
            distinct=self.union.distinct,
            catalog=self.catalog,
            statistics=self.statistics,
            use=use,
            timed=timed,
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
        plan = choose_plan(form) if lag.holds else ()
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

    def holds(self, query: SpjQuery, use: Callable[[Declaration], bool] | None = None) -> bool:
        """Whether a disjunct is bounded with those declared constraints alone (None: all)."""
        form = self.normal(query) if use is None else self.normal_by(query, use, timed=self.timed)
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
            if rest and self.holds(query, rest.__contains__):
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
        checker = DisjunctChecker(plain, self.catalog, self.statistics, self.timed, size=self.size)
        for query in failing:
            form = checker.normal(replace(query, folds=None))
            witness = find_witness(
                form, plain, decide_lag(form).failures, self.catalog, size=self.size
            )
            if witness is not None:
                return witness
        return None
