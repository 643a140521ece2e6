"""Unfolds conjunctive queries over the ontology into SPJ queries over the catalog.

[PLC] Poggi et al., Linking Data to Ontologies, J. Data Semantics X, 2008: unfolding.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from ontoweir.diagnostics import Label, Reason
from ontoweir.errors import Source, UsageError
from ontoweir.mappings.model.assertion import MappingAssertion, MappingSet, TriplesMapName
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.list_derived import list_derived
from ontoweir.rewriter.algebra.print_spj import first_axioms
from ontoweir.rewriter.algebra.trace_steps import OnStep, TraceStep, ignore_steps
from ontoweir.rewriter.buckets.add_buckets import add_buckets
from ontoweir.rewriter.covered.cover_joins import cover_joins
from ontoweir.rewriter.model.add_views import used_views
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.model.query import (
    ANSWERS,
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Counts,
    Variable,
)
from ontoweir.rewriter.model.spj import (
    Compare,
    Condition,
    NotNull,
    Op,
    Provenance,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.model.work_budget import WorkBudget
from ontoweir.rewriter.passes.explain_first import explain_first
from ontoweir.rewriter.passes.prune_disjuncts import Candidate
from ontoweir.rewriter.passes.run_passes import excluded_by, run_passes
from ontoweir.rewriter.tmappings.name_graphs import name_graphs
from ontoweir.rewriter.tmappings.share_tmappings import TMappings
from ontoweir.rewriter.unfold.add_columns import add_columns
from ontoweir.rewriter.unfold.bind_times import bind_times
from ontoweir.rewriter.unfold.date_statics import date_statics, is_mixed, refuse_bags
from ontoweir.rewriter.unfold.hold_constants import hold_constants
from ontoweir.rewriter.unfold.hold_nothing import hold_nothing
from ontoweir.rewriter.unfold.make_outputs import list_moments, make_buckets, make_outputs
from ontoweir.rewriter.unfold.match_atoms import (
    Match,
    OnWarning,
    find_assertions,
    ignore_warnings,
    say_unmet,
)
from ontoweir.rewriter.unfold.match_stars import match_stars
from ontoweir.rewriter.unfold.translate_filters import (
    translate_choice,
    translate_filter,
)
from ontoweir.rewriter.unfold.translate_times import begin_in_windows, check_steps
from ontoweir.rewriter.views.make_sets import SetMaker

MAX_DISJUNCTS = 10_000
"""How many disjuncts a query may be unfolded into, before the passes."""


@dataclass(frozen=True, slots=True)
class Observer:
    """Who hears of what happens while a query is unfolded: warnings (a predicate without mapping),
    steps of the trace (what the passes did, from how many assertions), and how much work is done.
    """

    on_warning: OnWarning = ignore_warnings
    on_step: OnStep = ignore_steps
    on_work: OnProgress = ignore_progress


@dataclass(frozen=True, slots=True)
class UnfoldOptions:
    """How to unfold.

    `skip`: the names of passes to leave out, for measurements. `names`: of the answer variables
    (None: those of the first disjunct, unless an axiom made two of them one there). `counts`: what
    is counted. `shared`: T-mappings that other queries use too, if they are of the same mappings,
    ontology and catalog. `holds`: streams are named where nothing can match (hold_nothing).
    """

    skip: frozenset[str] = frozenset()
    names: tuple[str, ...] | None = None
    counts: Counts = Counts.SPARQL
    shared: TMappings | None = None
    holds: bool = False


def unfold_query(
    ucq: Sequence[ConjunctiveQuery],
    mappings: MappingSet,
    catalog: Catalog,
    tbox: Hierarchy,
    *,
    observer: Observer | None = None,
    options: UnfoldOptions | None = None,
) -> SpjUnion:
    """The union of SPJ queries that computes `ucq` over the mapped tables.

    Args:
        ucq: disjuncts with the same head and semantics, at least one.
        mappings: if not compiled yet, the hierarchy is compiled in for the predicates of `ucq`.
        observer, options: who hears of warnings, steps and progress; how to unfold.

    Returns:
        a union, possibly of no disjunct, when nothing can match; the views that it reads are with
        it (add_views), and its disjuncts are over the catalog with these.

    Raises:
        QueryError: an unknown predicate, an unsafe time variable, triples of streams that are
            counted outside GRAPH and may come again, values that do not compare, application time
            in the result, or more than MAX_DISJUNCTS disjuncts.
    """
    if not ucq:
        raise UsageError(
            "an empty union of queries", why="it has no head", fix="pass at least one disjunct"
        )
    first = ucq[0]
    options, (observer, excluded) = options or UnfoldOptions(), _listen(observer or Observer())
    named, shared = options.names or tuple(v.name for v in first.head), options.shared
    if shared is None or not shared.are_of(mappings, tbox, catalog):
        shared = TMappings(mappings, tbox, catalog)
    catalog, compiled = shared.whole, _compile(ucq, mappings, shared, observer)
    sets = _set_maker(shared, mappings, observer, first, options)
    unfolder = _Unfolder(mappings, compiled, catalog, tbox, options.skip, observer, sets)
    matches = [unfolder.find_matches(query) for query in ucq]
    buckets = (*first.buckets, *list_moments(ucq, matches, sets.catalog))
    catalog = unfolder.catalog = add_buckets(sets.catalog, buckets)
    head = _name_columns(first, named)
    candidates = (
        Candidate(_name_outputs(disjunct, named, head), query)
        for query, found in zip(ucq, matches, strict=True)
        for disjunct in unfolder.disjuncts(query, found)
    )
    budget = WorkBudget(
        "disjuncts over the tables",
        MAX_DISJUNCTS,
        "each way to match all its patterns by triples maps and facts is one, and decided",
        "put facts into a static relation, ask for narrower classes, or register several queries",
        first.source,
        observer.on_work,
    )
    union = SpjUnion(
        name=first.name,
        variables=head,
        disjuncts=run_passes(
            cover_joins(budget.over(candidates), sets.views, catalog, observer.on_step),
            catalog,
            distinct=first.distinct,
            skip=options.skip,
            on_step=observer.on_step,
            on_progress=observer.on_work,
        ),
        distinct=first.distinct,
        source=first.source,
        aggregation=first.aggregation,
    )
    if not union.disjuncts:
        held = unfolder.hold_nothing(ucq, named, head) if options.holds else ()
        union = replace(union, disjuncts=held, excluded=explain_first(excluded))
    union = hold_constants(union, sets)
    if is_mixed(union.disjuncts, sets.catalog):
        refuse_bags(first.source, distinct=first.distinct)
        union = replace(union, disjuncts=date_statics(union.disjuncts, sets, first.source))
    read = {o.table for query in union.disjuncts for o in query.occurrences}
    union = replace(union, views=used_views(read, sets.views))
    union = replace(union, derived=list_derived(union, mappings.derived))
    return add_columns(union, sets.catalog, first, buckets)


def _listen(observer: Observer) -> tuple[Observer, list[Callable[[], Reason | None]]]:
    """The observer, and what it hears of why disjuncts have no rows."""
    excluded: list[Callable[[], Reason | None]] = []

    def hear(step: TraceStep) -> None:
        if step.excludes is not None:
            excluded.append(step.excludes)
        observer.on_step(replace(step, excludes=None))

    return replace(observer, on_step=hear), excluded


def _set_maker(
    shared: TMappings,
    mappings: MappingSet,
    observer: Observer,
    query: ConjunctiveQuery,
    options: UnfoldOptions,
) -> SetMaker:
    """What makes sets of triples, where these count, not rows."""
    return SetMaker(
        shared.whole,
        observer.on_step,
        not query.distinct and options.counts is Counts.SPARQL,
        mappings.windowed,
        known=shared.sets,
    )


def _name_columns(query: ConjunctiveQuery, named: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of the matches, in order."""
    if query.computation is not None:
        return (*named, *(bucket.name for bucket in query.buckets))
    if query.aggregation is not None and query.buckets:
        shown = query.aggregation.variables
        return (*shown, *(b.name for b in query.buckets if b.name not in shown))
    names = [*named]
    for bucket in query.buckets:
        names.insert(len(names) if bucket.place is None else bucket.place, bucket.name)
    return tuple(names)


def _compile(
    ucq: Sequence[ConjunctiveQuery], mappings: MappingSet, shared: TMappings, observer: Observer
) -> MappingSet:
    """The mappings of the graphs that are asked for, with the hierarchy compiled in."""
    graphs = ucq[0].graphs
    selected = compiled = shared.select(mappings, graphs)
    if not selected.compiled:
        compiled = shared.compile(selected, graphs, {_iri(a) for q in ucq for a in q.atoms})
    for atom in {_iri(a): a for q in ucq for a in q.atoms}.values():
        iri, is_class = _iri(atom), isinstance(atom, ClassAtom)
        known = shared.described.get((graphs, iri, is_class))
        if known is None:
            own, all_of = (
                m.classes_of(iri) if is_class else m.properties_of(iri)
                for m in (selected, compiled)
            )
            known = shared.described[graphs, iri, is_class] = _count_assertions(own, all_of)
        observer.on_step(TraceStep("mappings closed under the hierarchy", iri, known))
    return compiled


def _name_outputs(disjunct: SpjQuery, names: Sequence[str], order: Sequence[str]) -> SpjQuery:
    """Heads correspond by position: an axiom can put one variable in two places. Buckets of time,
    which come after them, have their own names."""
    made = [output for _, output in disjunct.outputs]
    named = dict(zip(names, made, strict=False))
    named |= disjunct.outputs[len(names) :]
    return replace(disjunct, outputs=tuple((name, named[name]) for name in order))


def _count_assertions(own: Sequence[MappingAssertion], compiled: Sequence[MappingAssertion]) -> str:
    """How many assertions of its own a predicate has, and with those of all below it."""
    axioms = dict.fromkeys(b.text for a in compiled for b in a.because)
    why = f", by {'; '.join(first_axioms(tuple(axioms)))}" if axioms else ""
    names = {n for a in compiled for n in (TriplesMapName(a.id, a.place), *a.others)}
    many = f" of {len(names)} triples maps" if any(a.others for a in compiled) else ""
    return f"{len(own)} assertions of its own, {len(compiled)} in all{many}{why}"


def _iri(atom: Atom) -> str:
    return atom.cls if isinstance(atom, ClassAtom) else atom.prop


@dataclass(slots=True)
class _Unfolder:
    """The inputs of unfolding, which `disjuncts` does: `compiled` are the mappings with the
    hierarchy compiled in; `sets` makes them sets, and views."""

    mappings: MappingSet
    compiled: MappingSet
    catalog: Catalog
    tbox: Hierarchy
    skip: frozenset[str]
    observer: Observer
    sets: SetMaker

    def find_matches(self, query: ConjunctiveQuery) -> tuple[Match, ...]:
        """The ways to match a conjunctive query; none where axioms exclude it."""
        found = tuple(self.list_assertions(query, atom) for atom in query.atoms)
        atoms = tuple(
            replace(atom, always=True)
            if atom.time is None and all(a.stream_alias is None for a in chosen)
            else atom
            for atom, chosen in zip(query.atoms, found, strict=True)
        )
        query = replace(query, atoms=atoms)
        choices = tuple(
            self.sets.make_sets(
                chosen,
                atom.source,
                in_graph=atom.time is not None and not self.mappings.windowed,
            )
            for atom, chosen in zip(atoms, found, strict=True)
        )
        if (step := excluded_by(query, self.tbox, skip=self.skip)) is not None:
            self.observer.on_step(step)
            return ()
        matches = match_stars(query, choices, self.sets, on_progress=self.observer.on_work)
        matches = bind_times(query, matches, self.sets)
        many = prod(len(c) for c in choices)
        told = f"{len(matches)} of {many} combinations of assertions can meet"
        unmet = None
        if not matches and (why := say_unmet(query, choices, self.sets.catalog)):
            what, source = f"no mappings make {why}", query.source
            label = None if source is None else Label("query", source, what)
            unmet = partial(Reason, what, label)
            told += f": {what}"
        step = TraceStep("terms unified", f"branch {query.branch + 1}", told, unmet)
        self.observer.on_step(step)
        return matches

    def disjuncts(self, query: ConjunctiveQuery, matches: tuple[Match, ...]) -> Iterator[SpjQuery]:
        """The SPJ queries of a conjunctive query's matches: one for each case of its filters."""
        for match in matches:
            outputs = make_outputs(query, match, self.catalog)
            buckets = make_buckets(query, match, self.catalog)
            there = tuple(NotNull(output.value) for _, output in buckets)
            for conditions in _filter_cases(query, match, self.catalog):
                yield SpjQuery(
                    match.occurrences,
                    (*match.conditions, *conditions, *there),
                    (*outputs, *buckets),
                    tuple((alias, _with_axioms(p, query)) for alias, p in match.provenance),
                    merged=self.sets.keys_of(o.table for o in match.occurrences),
                )

    def hold_nothing(
        self, ucq: Sequence[ConjunctiveQuery], named: Sequence[str], order: Sequence[str]
    ) -> tuple[SpjQuery, ...]:
        """Queries of the streams of conjunctive queries that have no solution (hold_nothing)."""
        never = hold_nothing(ucq, self.list_assertions, self.catalog)
        return tuple(_name_outputs(query, named, order) for query in never)

    def list_assertions(self, query: ConjunctiveQuery, atom: Atom) -> tuple[MappingAssertion, ...]:
        admit = self.mappings.admit
        if admit is not None and atom.time is None and not _iri(atom).startswith(ANSWERS):
            atom = replace(atom, always=True)
        found = find_assertions(
            atom,
            self.compiled,
            self.tbox,
            self.observer.on_warning,
            mapped=self.mappings,
            derived=bool(query.axioms),
            graphs=lambda iri: name_graphs(iri, self.mappings, self.tbox, self.catalog),
        )
        if admit is None or _iri(atom).startswith(ANSWERS):
            return found
        return admit(None if atom.time is None else atom.time.name, found)


def _with_axioms(provenance: Provenance, query: ConjunctiveQuery) -> Provenance:
    """The axioms of the rewriting come first, then those of the T-mapping."""
    texts = (*(text for text, _ in query.axioms), *provenance.axioms)
    places = (*(s for _, s in query.axioms if s is not None), *provenance.axiom_sources)
    return replace(
        provenance,
        axioms=tuple(dict.fromkeys(texts)),
        axiom_sources=tuple(dict.fromkeys(places)),
    )


def _filter_cases(
    query: ConjunctiveQuery, match: Match, catalog: Catalog
) -> Iterator[tuple[Condition, ...]]:
    """Equal times, and the filters: conjunctions that exclude each other."""
    types = Types(catalog, match.occurrences)
    equal: list[Condition] = []
    for variable, (first, *others) in match.times.items():
        for other in others:
            check_steps(first, other, types, _time_source(query, variable))
            equal.append(Compare(first, Op.EQ, other, source=_time_source(query, variable)))
    equal += begin_in_windows(query, match.bindings, match.times, types)
    conjunctions: list[tuple[Condition, ...]] = [tuple(equal)]
    said = [translate_filter(f, match.bindings, match.times, types) for f in query.filters]
    said += (
        translate_choice(choice, match.bindings, match.times, types)
        for choice in query.choices
        if choice not in match.said
    )
    for cases in said:
        conjunctions = [(*conditions, *case) for conditions in conjunctions for case in cases]
    yield from conjunctions


def _time_source(query: ConjunctiveQuery, variable: Variable) -> Source | None:
    return next((a.source for a in query.atoms if a.time == variable), query.source)
