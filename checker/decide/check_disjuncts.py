"""Decide the disjuncts of one query, or of one part of an aggregate query, and disprove them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ontoweir.checker.criteria.decide_aggregates import decide_aggregates
from ontoweir.checker.criteria.decide_lag import decide_lag, is_final_once
from ontoweir.checker.criteria.decide_published import decide_arasu, decide_set, decide_tree
from ontoweir.checker.criteria.is_unique import is_unique
from ontoweir.checker.explain.blame_branches import blame_branches
from ontoweir.checker.explain.explain_failure import explain_failure, explain_obstacle
from ontoweir.checker.explain.explain_stop import explain_stop, name_stopped
from ontoweir.checker.model.criterion import Failure
from ontoweir.checker.model.declarations import Declaration, key_declaration, list_declarations
from ontoweir.checker.model.normal_form import NormalForm, Statistics
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.drop_windows import drop_windows
from ontoweir.checker.normalise.find_open import find_open
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.normalise.split_times import split_times
from ontoweir.checker.plans.choose_plan import choose_plan
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.checker.plans.use_open import is_bounded, use_open
from ontoweir.checker.split.split_dates import split_dates
from ontoweir.checker.split.split_ranges import split_ranges
from ontoweir.checker.split.split_unequal import split_unequal
from ontoweir.checker.verdict.verdict import (
    Bounded,
    Criteria,
    DisjunctVerdict,
    Failing,
    Tier,
    Unsatisfiable,
)
from ontoweir.checker.witness.canonical_orders import canonical_orders
from ontoweir.checker.witness.confirm.confirm_aggregates import MAX_SUBSETS
from ontoweir.checker.witness.evaluate_naively import counting_steps
from ontoweir.checker.witness.find_witness import find_witness
from ontoweir.checker.witness.query_to_refute import add_times, is_rounded, query_to_refute
from ontoweir.checker.witness.witness import Witness
from ontoweir.diagnostics import Diagnostic
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.aggregation import Aggregate
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.model.watch_time import OutOfTimeError, look
from ontoweir.rewriter.views.expand_views import expand_views

_FEW = 4
"""Of at most so many occurrences, witnesses are looked for in several orders."""

_SEVERAL = 16
"""In so many choices of branches of a query's views, witnesses are looked for."""


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
        if is_rounded(self.whole, catalog):
            catalog = add_times(catalog)
        self.union, self.catalog, self.aggregates = union, catalog, aggregates
        self.statistics, self.timed = statistics, timed
        self.forms: dict[SpjQuery, tuple[NormalForm, tuple[Failure, ...]]] = {}
        self.known: dict[tuple[SpjQuery, bool], NormalForm] = {}
        self.same: dict[tuple[int, bool], tuple[SpjQuery, NormalForm]] = {}

    @property
    def is_special(self) -> bool:
        """Whether no counterexample is looked for: floats are added; groups are never final."""
        chosen = bool(self.aggregates) and self.aggregates[0].function.chooses
        if not chosen and any(q.added for q in self.union.disjuncts):
            return True
        if self.whole.aggregation is None or self.whole.ends:
            return False
        if find_closing(self.whole, self.catalog) is None:
            return False
        forms = map(self.normal, self.union.disjuncts)
        return not all(is_final_once(form) for form in forms if form.satisfiable)

    @property
    def told_by_groups(self) -> bool:
        """Whether rows of groups are told when these are final, or come and go with windows."""
        if self.whole.aggregation is None:
            return False
        return bool(self.whole.ends or find_closing(self.whole, self.catalog))

    def normal(self, query: SpjQuery, *, timed: bool | None = None) -> NormalForm:
        """The normal form of a disjunct, with all that is declared."""
        how = self.timed if timed is None else timed
        same = self.same.get((id(query), how))
        if same is not None:  # comparing long queries takes its time
            return same[1]
        key = (query, how)
        if key not in self.known:
            self.known[key] = self.normal_by(query, lambda _: True, timed=how)
        self.same[id(query), how] = (query, self.known[key])
        return self.known[key]

    def normal_by(
        self, query: SpjQuery, use: Callable[[Declaration], bool], *, timed: bool
    ) -> NormalForm:
        """The normal form with those declared constraints alone."""
        form = self._normalise(query, use, timed, distinct=self.union.distinct)
        if timed:
            form = use_open(form, self.catalog, use)
        # (groups of aggregates are kept whatever determines them)
        alone = len(self.union.disjuncts) == 1 and not self.aggregates
        if not (form.distinct and alone and is_unique(query, self.catalog, use)):
            return form
        query = replace(query, closing=None)
        if is_unique(query, self.catalog, lambda d: d.kind != "key" and use(d)):
            return self._normalise(query, use, timed, distinct=False)
        # what rests on a key that no run can enforce is taken only where nothing else helps
        if form.satisfiable and not is_bounded(form):
            return self._normalise(query, use, timed, distinct=False)
        return form

    def _normalise(
        self,
        query: SpjQuery,
        use: Callable[[Declaration], bool],
        timed: bool,
        *,
        distinct: bool,
    ) -> NormalForm:
        return normalise_query(
            query,
            distinct=distinct,
            catalog=self.catalog,
            statistics=self.statistics,
            use=use,
            timed=timed,
        )

    def decide(self, query: SpjQuery) -> DisjunctVerdict:
        """The verdict on a disjunct; without a plan too where the time is over."""
        try:
            look()
            return self._decide(query)
        except OutOfTimeError:
            unknown = name_stopped()
            criteria = Criteria(unknown, unknown, None, unknown)
            because = (explain_stop("a plan", self.union),)
            return Failing(query, Tier.UNDECIDED, criteria, because)

    def _decide(self, query: SpjQuery) -> DisjunctVerdict:
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
            conditions += self.limiting(query, plan, conditions)
            keys = ((self.catalog.streams[name], key) for name, key in query.merged)
            merged = (key_declaration(stream, key) for stream, key in keys)
            conditions = tuple(dict.fromkeys((*conditions, *merged)))
            tier = self.tier(form, ordered, criteria, conditions)
            return Bounded(query, tier, criteria, plan, conditions)
        self.forms[query] = (form, lag.failures)
        because = self._explain(form, lag.failures)
        if because and self.union.views:
            blamed = tuple(blame_branches(query, self.union, self.catalog, self.holds_over(query)))
            first = because[0]
            because = (replace(first, because=(*first.because, *blamed)), *because[1:])
        if not because and not isinstance(plan, SynopsisPlan):
            because = tuple(explain_obstacle(form, o, self.union, self.catalog) for o in plan)
        return Failing(query, Tier.UNDECIDED, criteria, because)

    def _explain(self, form: NormalForm, failures: Sequence[Failure]) -> tuple[Diagnostic, ...]:
        """Why a disjunct has no plan: of joins by values that a rule closes, what else is kept."""
        opened = find_open(form, self.catalog, lambda _: True) if self.timed else form
        rest = () if opened is form else decide_lag(opened).failures
        shown = (opened, rest) if rest else (form, failures)
        return tuple(explain_failure(shown[0], f, self.whole, self.catalog) for f in shown[1])

    def holds_over(self, query: SpjQuery) -> Callable[[Catalog], bool]:
        """Whether a disjunct is bounded over another catalog."""

        def holds(catalog: Catalog) -> bool:
            form = normalise_query(
                query, distinct=self.union.distinct, catalog=catalog, timed=self.timed
            )
            return not form.satisfiable or is_bounded(form)

        return holds

    def decide_parts(self, query: SpjQuery) -> tuple[DisjunctVerdict, ...]:
        """The verdict on a disjunct; of a set query without a plan, those on parts of it that
        have plans, if it can be split so."""
        whole = self.decide(query)
        if not isinstance(whole, Failing):
            return (whole,)
        try:
            for parts in self.splits(query):
                decided = tuple(map(self.decide, parts))
                if not any(isinstance(d, Failing) for d in decided):
                    return decided
        except OutOfTimeError:
            because = (*whole.because, explain_stop("a plan of its parts", self.union))
            return (replace(whole, because=because),)
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
        return is_bounded(form)

    def conditions(self, query: SpjQuery) -> tuple[Declaration, ...]:
        """A minimal set of declared constraints that suffices; none where the query's own
        selection does."""
        needed = list(list_declarations(query, self.catalog))
        if not needed or self.holds(query, lambda _: False):
            return ()
        # keys go first, if they can: no run can enforce them
        for declaration in sorted(needed, key=lambda d: d.kind != "key"):
            rest = [d for d in needed if d != declaration]
            if rest and self.holds(query, rest.__contains__):
                needed = rest
        return tuple(needed)

    def limiting(
        self, query: SpjQuery, plan: SynopsisPlan, conditions: tuple[Declaration, ...]
    ) -> tuple[Declaration, ...]:
        """Of a verdict that rests on declarations, the keys and sizes of static relations without
        which its bound would be greater, or have no number."""
        if not conditions:
            return ()
        declared = list_declarations(query, self.catalog)
        declarations = []
        for one in declared:
            if one.kind not in ("key", "max_rows") or one in conditions:
                continue
            form = self.normal_by(query, lambda d, one=one: d != one, timed=self.timed)  # type: ignore[misc]
            other = choose_plan(form) if decide_lag(form).holds else ()
            rows = other.bound.rows if isinstance(other, SynopsisPlan) else None
            if rows != plan.bound.rows:
                declarations.append(one)
        return tuple(declarations)

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
            grouped = self.whole.aggregation is not None
            # what holds is kept, to tell its end; and groups until their bucket of time is over
            held = self.whole.ends and (grouped or self.union.distinct)
            open_groups = grouped and form.query.closing is not None
            return Tier.WINDOW_BOUNDED if held or open_groups else Tier.STATELESS
        windowed = ordered is not form and not (
            decide_lag(ordered).holds and isinstance(make_plan(ordered, sized=False), SynopsisPlan)
        )
        if windowed:
            return Tier.WINDOW_BOUNDED
        structure = {"C1", "C2"} & set(criteria.tree.failed)
        if criteria.tree.holds or (form.distinct and not structure):
            return Tier.TREE_BOUNDED
        return Tier.JOINTLY_BOUNDED

    def query_to_refute(self, union: SpjUnion) -> SpjUnion:
        """The query that a witness is confirmed against."""
        return query_to_refute(union, self.whole, self.catalog, timed=self.timed)

    def disprove(
        self, disjuncts: tuple[DisjunctVerdict, ...]
    ) -> tuple[Witness | None, tuple[DisjunctVerdict, ...]]:
        """A confirmed witness against the whole union, from some failing disjunct; and the
        verdicts, which name the time limit where it ended the search."""
        try:
            failing = [d.query for d in disjuncts if isinstance(d, Failing)]
            with counting_steps():
                return self._disprove([q for q in failing if q in self.forms]), disjuncts
        except OutOfTimeError:
            stopped = explain_stop("a counterexample", self.union)
            return None, tuple(
                replace(d, because=(*d.because, stopped)) if isinstance(d, Failing) else d
                for d in disjuncts
            )

    def _disprove(self, failing: Sequence[SpjQuery]) -> Witness | None:
        if not failing:
            return None
        look()
        sizes: tuple[int, ...] = (self.size,)
        if self.aggregates:
            sizes = tuple(dict.fromkeys((self.size, min(self.size, MAX_SUBSETS))))
        if self.told_by_groups:
            return self.disprove_groups(failing)
        answers = self.query_to_refute(self.whole)
        for query in failing:
            for form, failures in self._orders(query):
                for size in sizes:
                    witness = find_witness(form, answers, failures, self.catalog, size=size)
                    if witness is not None:
                        return witness
        return self.disprove_groups(failing) if self.aggregates else None

    def _orders(self, query: SpjQuery) -> Iterator[tuple[NormalForm, tuple[Failure, ...]]]:
        """A failing disjunct as it is written; and, of few occurrences, in other orders, so that
        how it is written does not decide whether a witness is found. Of one that reads views, what
        their branches read."""
        if any(view.name == o.table for o in query.occurrences for view in self.union.views):
            for expanded in islice(expand_views(query, self.union.views), _SEVERAL):
                form = self.normal(expanded)
                yield form, decide_lag(form).failures
            return
        yield self.forms[query]
        if 1 < len(query.occurrences) <= _FEW:
            for other in canonical_orders(query):
                form = self.normal(other)
                yield form, decide_lag(form).failures

    def disprove_groups(self, failing: Sequence[SpjQuery]) -> Witness | None:
        """A witness that tells subsets of tuples apart by which groups a suffix brings: whatever
        is aggregated then has to tell them apart too."""
        aggregation = self.whole.aggregation
        assert aggregation is not None

        def grouped(query: SpjQuery) -> SpjQuery:
            outputs = tuple((v, o) for v, o in query.outputs if v in aggregation.group)
            return replace(query, outputs=outputs, folds=None, closing=None)

        plain = replace(
            self.union,
            variables=aggregation.group,
            disjuncts=tuple(map(grouped, self.union.disjuncts)),
            distinct=True,
        )
        answers = self.query_to_refute(self.whole if self.told_by_groups else plain)
        checker = DisjunctChecker(plain, self.catalog, self.statistics, self.timed, size=self.size)
        for query in failing:
            for expanded in islice(expand_views(grouped(query), self.union.views), _SEVERAL):
                form = checker.normal(expanded)
                witness = find_witness(
                    form,
                    answers,
                    decide_lag(form).failures,
                    self.catalog,
                    size=self.size,
                    again=False,  # a group that was there may get the update of one that was not
                )
                if witness is not None:
                    return witness
        return None
