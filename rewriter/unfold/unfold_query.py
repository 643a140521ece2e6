"""Unfolds conjunctive queries over the ontology into SPJ queries over the catalog.

[PLC] Poggi et al., Linking Data to Ontologies, J. Data Semantics X, 2008: unfolding.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from ontoweir.errors import QueryError, Source, UsageError
from ontoweir.mappings.model.assertion import MappingAssertion, MappingSet, TriplesMapName
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.trace_steps import OnStep, TraceStep, ignore_steps
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.model.query import Atom, ClassAtom, ConjunctiveQuery, TimeFilter, Variable
from ontoweir.rewriter.model.spj import (
    Compare,
    Condition,
    LiteralOutput,
    Op,
    Output,
    Provenance,
    SpjQuery,
    SpjUnion,
    first_axioms,
    output_attributes,
)
from ontoweir.rewriter.model.work_budget import WorkBudget
from ontoweir.rewriter.passes.prune_disjuncts import Candidate
from ontoweir.rewriter.passes.run_passes import excluded_by, run_passes
from ontoweir.rewriter.tmappings.compile_tmappings import compile_tmappings
from ontoweir.rewriter.tmappings.name_graphs import name_graphs
from ontoweir.rewriter.tmappings.select_graphs import select_graphs
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.rewriter.unfold.match_atoms import (
    Match,
    OnWarning,
    find_assertions,
    ignore_warnings,
    match_atoms,
)
from ontoweir.rewriter.unfold.refuse_float_texts import refuse_float_texts
from ontoweir.rewriter.unfold.translate_filters import (
    check_steps,
    term_output,
    translate_time_filter,
    translate_value_filter,
)

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


def unfold_query(
    ucq: Sequence[ConjunctiveQuery],
    mappings: MappingSet,
    catalog: Catalog,
    tbox: Hierarchy,
    *,
    observer: Observer | None = None,
    skip: frozenset[str] = frozenset(),
    names: Sequence[str] | None = None,
) -> SpjUnion:
    """The union of SPJ queries that computes `ucq` over the mapped tables.

    Args:
        ucq: disjuncts with the same head and semantics, at least one.
        mappings: if not compiled yet, the hierarchy is compiled in for the predicates of `ucq`.
        observer: hears of warnings, steps and progress.
        skip: the names of passes to leave out, for measurements.
        names: of the answer variables; those of the first disjunct, unless an axiom made two of
            them one there.

    Returns:
        a union, possibly of no disjunct, when nothing can match.

    Raises:
        QueryError: an unknown predicate, a stream's predicate outside GRAPH, an unsafe time
            variable, values that do not compare, application time in the result, or more than
            MAX_DISJUNCTS disjuncts.
    """
    if not ucq:
        raise UsageError(
            "an empty union of queries", why="it has no head", fix="pass at least one disjunct"
        )
    first = ucq[0]
    head = tuple(names or (v.name for v in first.head))
    selected = select_graphs(mappings, first.graphs, catalog)
    if not selected.compiled:
        asked = {a.cls if isinstance(a, ClassAtom) else a.prop for q in ucq for a in q.atoms}
        compiled = compile_tmappings(selected, tbox, catalog, predicates=asked)
    else:
        compiled = selected
    observer = observer or Observer()
    for step in _count_assertions(ucq, selected, compiled):
        observer.on_step(step)
    unfolder = _Unfolder(mappings, compiled, catalog, tbox, skip, observer)
    candidates = (
        Candidate(_name_outputs(disjunct, head), query)
        for query in ucq
        for disjunct in unfolder.disjuncts(query)
    )
    budget = WorkBudget(
        "disjuncts over the tables",
        MAX_DISJUNCTS,
        "each way to match all its patterns by triples maps and facts is one, and every one is "
        "decided",
        "put facts into a static relation, ask for narrower classes, or register several queries",
        first.source,
        observer.on_work,
    )
    numbered = (replace(c, number=n) for n, c in enumerate(budget.over(candidates), 1))
    union = SpjUnion(
        name=first.name,
        variables=head,
        disjuncts=run_passes(
            numbered,
            catalog,
            distinct=first.distinct,
            skip=skip,
            on_step=observer.on_step,
            on_progress=observer.on_work,
        ),
        distinct=first.distinct,
        source=first.source,
        aggregation=first.aggregation,
    )
    check_aggregates(union, catalog)
    return union


def _name_outputs(disjunct: SpjQuery, names: Sequence[str]) -> SpjQuery:
    """Heads correspond by position: an axiom can put one variable in two places."""
    named = zip(names, disjunct.outputs, strict=True)
    return replace(disjunct, outputs=tuple((name, output) for name, (_, output) in named))


def _count_assertions(
    ucq: Sequence[ConjunctiveQuery], mappings: MappingSet, compiled: MappingSet
) -> Iterator[TraceStep]:
    for atom in {_iri(a): a for q in ucq for a in q.atoms}.values():
        iri, is_class = _iri(atom), isinstance(atom, ClassAtom)
        own, compiled_own = (
            m.classes_of(iri) if is_class else m.properties_of(iri) for m in (mappings, compiled)
        )
        axioms = dict.fromkeys(b.text for a in compiled_own for b in a.because)
        why = f", by {'; '.join(first_axioms(tuple(axioms)))}" if axioms else ""
        names = {n for a in compiled_own for n in (TriplesMapName(a.id, a.place), *a.others)}
        many = f" of {len(names)} triples maps" if any(a.others for a in compiled_own) else ""
        yield TraceStep(
            "mappings closed under the hierarchy",
            iri,
            f"{len(own)} assertions of its own, {len(compiled_own)} in all{many}{why}",
        )


def _iri(atom: Atom) -> str:
    return atom.cls if isinstance(atom, ClassAtom) else atom.prop


@dataclass(frozen=True, slots=True)
class _Unfolder:
    """The inputs of unfolding, which `disjuncts` does: `compiled` are the mappings with the
    hierarchy compiled in."""

    mappings: MappingSet
    compiled: MappingSet
    catalog: Catalog
    tbox: Hierarchy
    skip: frozenset[str]
    observer: Observer

    def disjuncts(self, query: ConjunctiveQuery) -> Iterator[SpjQuery]:
        """The SPJ queries of a conjunctive query: a choice of assertions for its atoms each."""
        catalog = self.catalog
        choices = tuple(self._assertions(query, atom) for atom in query.atoms)
        if (step := excluded_by(query, self.tbox, skip=self.skip)) is not None:
            self.observer.on_step(step)
            return
        matches = cases = 0
        for match in match_atoms(query, choices, catalog, on_progress=self.observer.on_work):
            outputs = _outputs(query, match, catalog)
            matches += 1
            for conditions in _filter_cases(query, match, catalog):
                cases += 1
                yield SpjQuery(
                    match.occurrences,
                    (*match.conditions, *conditions),
                    outputs,
                    tuple((alias, _with_axioms(p, query)) for alias, p in match.provenance),
                )
        self.observer.on_step(
            TraceStep(
                "terms unified",
                f"branch {query.branch + 1}",
                f"{matches} of {prod(len(c) for c in choices)} combinations of assertions can "
                f"meet; {cases} disjuncts",
            )
        )

    def _assertions(self, query: ConjunctiveQuery, atom: Atom) -> tuple[MappingAssertion, ...]:
        return find_assertions(
            atom,
            self.compiled,
            self.tbox,
            self.observer.on_warning,
            mapped=self.mappings,
            derived=bool(query.axioms),
            graphs=lambda iri: name_graphs(iri, self.mappings, self.tbox, self.catalog),
        )


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
    conjunctions: list[tuple[Condition, ...]] = [tuple(equal)]
    for filter_ in query.filters:
        if isinstance(filter_, TimeFilter):
            cases = translate_time_filter(filter_, match.times, types)
        else:
            cases = translate_value_filter(filter_, match.bindings, types)
        conjunctions = [(*conditions, *case) for conditions in conjunctions for case in cases]
    yield from conjunctions


def _time_source(query: ConjunctiveQuery, variable: Variable) -> Source | None:
    return next((a.source for a in query.atoms if a.time == variable), query.source)


def _outputs(
    query: ConjunctiveQuery, match: Match, catalog: Catalog
) -> tuple[tuple[str, Output], ...]:
    types = Types(catalog, match.occurrences)
    outputs: list[tuple[str, Output]] = []
    fixed = dict(query.constants)
    for variable in query.head:
        if variable in fixed:
            outputs.append((variable.name, term_output(fixed[variable])))
            continue
        output = match.bindings.get(variable)
        is_time = any(a.time == variable for a in query.atoms)
        if output is None or is_time:
            raise QueryError(
                f"?{variable.name} is selected but "
                + ("is a time" if is_time else "occurs in no pattern"),
                why="results are made of terms; every result carries its own time `at`"
                if is_time
                else "it would have no value",
                fix=f"remove ?{variable.name} from SELECT",
                source=query.source,
            )
        if not isinstance(output, LiteralOutput):
            refuse_float_texts(variable, output, types, query.source)
        for attribute in output_attributes(output):
            if types.step_of(attribute) is not None:
                raise QueryError(
                    f"?{variable.name} is made from {attribute}, a stream's timestamp",
                    why="results must not hold application time ([S] Def. 4): their number "
                    "would have no bound",
                    fix="leave the timestamp out of the mapping's template, or do not select "
                    f"?{variable.name}",
                    source=query.source,
                )
        outputs.append((variable.name, output))
    return tuple(outputs)
