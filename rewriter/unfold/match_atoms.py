"""Matches the atoms of a conjunctive query with mapping assertions, in all ways."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import TypeAlias

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.assertion import ConstantMap, MappingAssertion, MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.r2rml.r2rml_document import DEFAULT_GRAPH
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.closest_term import closest_term
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.model.query import (
    ANSWERS,
    AnyFilter,
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Term,
    Variable,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    Condition,
    ConstantOutput,
    LiteralOutput,
    Occurrence,
    Output,
    Provenance,
)
from ontoweir.rewriter.model.work_budget import WorkBudget
from ontoweir.rewriter.tmappings.index_prefixes import PrefixIndex
from ontoweir.rewriter.tmappings.instantiate_assertion import Instance, instantiate_assertion
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs
from ontoweir.rewriter.ucq.show_ucq import format_cq
from ontoweir.rewriter.unfold.translate_filters import term_output

OnWarning: TypeAlias = Callable[[str, Source | None], None]
"""Takes a warning: a sentence, and its place."""


def ignore_warnings(message: str, source: Source | None) -> None:
    """No warnings wanted."""


MAX_COMBINATIONS = 1_000_000
"""How many combinations of assertions may be tried for a conjunctive query."""

FEW = 10_000
"""Of so many combinations say_unmet tries all."""
MANY = 50
"""From so many assertions of one atom on, the atoms are put into the order that tries least."""


@dataclass(frozen=True, slots=True)
class Match:
    """A choice of one assertion for every atom so far, and what it binds."""

    occurrences: tuple[Occurrence, ...] = ()
    conditions: tuple[Condition, ...] = ()
    bindings: dict[Variable, Output] = field(default_factory=dict)
    times: dict[Variable, tuple[Attribute, ...]] = field(default_factory=dict)
    provenance: tuple[tuple[str, Provenance], ...] = ()
    repeating: tuple[Atom, MappingAssertion] | None = None
    """The first choice whose rows may repeat (MappingAssertion.repeats)."""
    said: frozenset[AnyFilter] = frozenset()
    """The query's choices that the conditions say already."""


def find_assertions(
    atom: Atom,
    mappings: MappingSet,
    tbox: Hierarchy,
    on_warning: OnWarning,
    *,
    mapped: MappingSet,
    derived: bool,
    graphs: Callable[[str], tuple[str, ...]] = lambda _: (),
) -> tuple[MappingAssertion, ...]:
    """The assertions that can match an atom: any, of what holds at every time only static ones.

    In a disjunct `derived` by axioms nothing is the user's mistake: it just has no answers.
    `mapped` is what the user wrote; `graphs` tells the graphs in which a predicate is mapped.

    Raises:
        QueryError: an unknown class or property.
    """
    iri = atom.cls if isinstance(atom, ClassAtom) else atom.prop
    is_class = isinstance(atom, ClassAtom)
    assertions = mappings.classes_of(iri) if is_class else mappings.properties_of(iri)
    if not assertions and derived:
        return ()
    if not assertions:
        _refuse_unknown(iri, atom, mapped, tbox)
        if not iri.startswith(ANSWERS):
            on_warning(_say_why_none(iri, graphs(iri)), atom.source)
        return ()
    static = tuple(a for a in assertions if a.stream_alias is None)
    if atom.always:
        return static
    if atom.time is None and 0 < len(static) < len(assertions):
        flowing = next(a for a in assertions if a.stream_alias is not None)
        on_warning(
            f"{iri} is mapped statically ({static[0].shown}, {static[0].place}) and from streams "
            f"({flowing.shown}, {flowing.place}): outside GRAPH it is matched by both, by what "
            "streams make from its time on",
            atom.source,
        )
    return assertions


def _say_why_none(iri: str, graphs: tuple[str, ...]) -> str:
    if not graphs:
        return f"nothing is mapped to {iri}: this disjunct has no answers"
    named = [f"<{g}>" if g != DEFAULT_GRAPH else "the default graph" for g in graphs]
    return (
        f"{iri} is mapped in {', '.join(named)} only, which this query does not ask: this disjunct "
        f"has no answers; write FROM <{graphs[0]}> before WHERE"
    )


def _refuse_unknown(iri: str, atom: Atom, mapped: MappingSet, tbox: Hierarchy) -> None:
    if tbox.knows(iri) or mapped.knows(iri):
        return
    is_class = isinstance(atom, ClassAtom)
    if is_class:
        known = mapped.classes() | tbox.classes
    else:
        known = mapped.properties() | tbox.object_properties | tbox.data_properties
    close = closest_term(iri, known)
    raise QueryError(
        f"unknown {'class' if is_class else 'property'} {iri}",
        why="neither the ontology nor the mappings know it",
        fix=f"did you mean {close}?" if close else "declare it in the ontology, or map it",
        source=atom.source,
    )


def match_atoms(
    query: ConjunctiveQuery,
    choices: tuple[tuple[MappingAssertion, ...], ...],
    catalog: Catalog,
    *,
    on_progress: OnProgress = ignore_progress,
) -> Iterator[Match]:
    """All choices of an assertion for each atom whose term maps unify.

    Facts are found by the individual that is wanted, not one after the other.

    Raises:
        QueryError: the query counts rows that DISTINCT or UNION in a mapping's SQL removes, or
            more than MAX_COMBINATIONS combinations would have to be tried.
    """
    if not query.atoms:  # VALUES alone
        yield Match()
        return
    budget = make_budget(query, choices, on_progress)
    pairs = [
        (atom, _make_choices(_Same(assertions)))
        for atom, assertions in zip(query.atoms, choices, strict=True)
    ]
    if max(map(len, choices)) >= MANY:
        pairs = _order(pairs)
    for match in _extend(tuple(pairs), catalog, Match(), budget):
        if match.repeating is not None and not query.distinct:
            raise _refuse_repeats(*match.repeating)
        yield match


def say_unmet(
    query: ConjunctiveQuery, choices: Sequence[tuple[MappingAssertion, ...]], catalog: Catalog
) -> str:
    """What no mapping makes: the one pattern that none matches, or two that none match together,
    with the first triples that are made of each; "" if it takes more to say why."""
    places = range(len(query.atoms))
    for some in (*combinations(places, 1), *combinations(places, 2)):
        atoms, tried = tuple(query.atoms[i] for i in some), tuple(choices[i] for i in some)
        part = replace(query, head=(), atoms=atoms, filters=(), choices=(), distinct=True)
        if prod(map(len, tried)) in range(1, FEW):
            try:
                met = next(match_atoms(part, tried, catalog), None)
            except QueryError:
                continue
            if met is None:
                made = " and ".join(dict.fromkeys(a[0].triple for a in tried))
                return f"{format_cq(part).partition(' :- ')[2]}; they make {made}"
    return ""


def make_budget(
    query: ConjunctiveQuery,
    choices: tuple[tuple[MappingAssertion, ...], ...],
    on_progress: OnProgress,
) -> WorkBudget:
    """How many combinations of what can match a query's atoms may be tried."""
    atom, most = max(zip(query.atoms, choices, strict=True), key=lambda pair: len(pair[1]))
    return WorkBudget(
        "combinations of mapping assertions to try",
        MAX_COMBINATIONS,
        f"its patterns can be matched in many ways each, {_name(atom)} in {len(most):,}: every "
        "triples map and every fact is one",
        "put facts into a static relation, join patterns by a shared variable, or ask for "
        "narrower classes",
        query.source,
        on_progress,
    )


def _refuse_repeats(atom: Atom, assertion: MappingAssertion) -> QueryError:
    return QueryError(
        f"SELECT counts the rows of mapping {assertion.shown} ({assertion.place})",
        why=f"its SQL has DISTINCT or UNION, and {assertion.repeats}: the rows that it removes "
        "would count",
        fix="write SELECT DISTINCT in the query; or in the mapping's SQL select a key that the "
        "catalog declares, or UNION ALL if every row is to count",
        source=atom.source,
    )


class _Choices:
    """The assertions for an atom; those of no table, the facts, by subject and by object."""

    def __init__(self, assertions: tuple[MappingAssertion, ...]) -> None:
        self.count = len(assertions)
        self.mapped = tuple(a for a in assertions if a.source.tables)
        self.facts = tuple(a for a in assertions if not a.source.tables)
        self.by_prefix: dict[int, PrefixIndex] = {}
        self.by_end: tuple[dict[str, list[MappingAssertion]], ...] = ({}, {})
        for fact in self.facts:
            for place, term in enumerate((fact.subject, fact.object)):
                if isinstance(term, ConstantMap):
                    self.by_end[place].setdefault(term.value, []).append(fact)

    def fitting(self, atom: Atom, match: Match) -> Iterator[MappingAssertion]:
        """The assertions that may match, given what is bound."""
        mapped: Sequence[MappingAssertion] = self.mapped
        candidates: Sequence[MappingAssertion] = self.facts
        for place, term in enumerate(_terms(atom)):
            known = match.bindings.get(term) if isinstance(term, Variable) else term_output(term)
            if isinstance(known, ConstantOutput):
                exact = self.by_end[place].get(known.value, [])
                candidates = exact if len(exact) < len(candidates) else candidates
            meeting = None if known is None else self._prefixes(place).meeting(known)
            if meeting is not None and len(meeting) < len(mapped):
                mapped = meeting
        yield from mapped
        yield from candidates

    def _prefixes(self, place: int) -> PrefixIndex:
        """The subjects (0) or objects (1) of those over tables, indexed when first asked for."""
        if place not in self.by_prefix:
            ends = ((a, (a.subject, a.object)[place]) for a in self.mapped)
            self.by_prefix[place] = PrefixIndex(ends)
        return self.by_prefix[place]


class _Same:
    """Assertions that equal others if they are the same objects, as those of a predicate are that
    several queries share."""

    def __init__(self, assertions: tuple[MappingAssertion, ...]) -> None:
        self.assertions = assertions
        self.numbers = tuple(map(id, assertions))

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.numbers == other.numbers


@lru_cache(maxsize=64)
def _make_choices(same: _Same) -> _Choices:
    return _Choices(same.assertions)


class _At:
    """An assertion, from where its aliases are counted, and the catalog: equal to others of the
    same objects."""

    __slots__ = ("assertion", "catalog", "start")

    def __init__(self, assertion: MappingAssertion, start: int, catalog: Catalog) -> None:
        self.assertion, self.start, self.catalog = assertion, start, catalog

    def __hash__(self) -> int:
        return hash((id(self.assertion), self.start))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _At)
            and self.assertion is other.assertion
            and self.start == other.start
            and self.catalog is other.catalog
        )


@lru_cache(maxsize=1 << 12)
def _instantiate(at: _At) -> Instance:
    """As `instantiate_assertion`; what is tried again and again is made once."""
    return instantiate_assertion(at.assertion, at.start, at.catalog)


def _terms(atom: Atom) -> tuple[Term, ...]:
    return (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)


def _name(atom: Atom) -> str:
    return atom.cls if isinstance(atom, ClassAtom) else atom.prop


def _order(pairs: list[tuple[Atom, _Choices]]) -> list[tuple[Atom, _Choices]]:
    """Atoms that share a term with those before come first, of these the one with the fewest
    choices: a combination that cannot meet is seen early."""
    rest, done = list(pairs), list[tuple[Atom, _Choices]]()
    bound: set[Term] = set()
    while rest:
        best = min(rest, key=lambda p: (not bound.intersection(_terms(p[0])), p[1].count))
        if not bound:
            best = min(rest, key=lambda p: p[1].count)
        rest.remove(best)
        done.append(best)
        bound.update(_terms(best[0]))
    return done


def _extend(
    pairs: tuple[tuple[Atom, _Choices], ...], catalog: Catalog, match: Match, budget: WorkBudget
) -> Iterator[Match]:
    if not pairs:
        yield match
        return
    atom, choices = pairs[0]
    for assertion in budget.over(choices.fitting(atom, match)):
        extended = _add(atom, assertion, catalog, match)
        if extended is not None:
            yield from _extend(pairs[1:], catalog, extended, budget)


def _add(atom: Atom, assertion: MappingAssertion, catalog: Catalog, match: Match) -> Match | None:
    made = _instantiate(_At(assertion, len(match.occurrences) + 1, catalog))
    occurrences = (*match.occurrences, *made.occurrences)
    types = Types(catalog, occurrences)
    equal: list[Condition] = []
    bindings = dict(match.bindings)
    for term, output in zip(_terms(atom), (made.subject, made.object), strict=False):
        assert output is not None
        known = bindings.get(term) if isinstance(term, Variable) else term_output(term)
        if known is None:
            assert isinstance(term, Variable)
            bindings[term] = output
            continue
        equations = unify_outputs(known, output, types, atom.source)
        if equations is None:
            return None
        equal.extend(equations)
    times = dict(match.times)
    if atom.time is not None and made.time is not None:
        times[atom.time] = (*times.get(atom.time, ()), made.time)
    time = None if made.time is None else atom.time or _named_time(atom, made)
    made_by = made.provenance
    provenance = Provenance(
        made_by.mapping,
        made_by.mapping_source,
        made_by.axioms,
        made_by.axiom_sources,
        atom.source,
        None if time is None else time.name,
        made_by.others,
    )
    return Match(
        occurrences,
        (*match.conditions, *made.conditions, *equal),
        bindings,
        times,
        (*match.provenance, *((alias, provenance) for alias in _aliases(made))),
        (atom, assertion) if assertion.repeats and not match.repeating else match.repeating,
    )


def _named_time(atom: Atom, made: Instance) -> Variable | None:
    """The variable that is bound to the time of a row."""
    if isinstance(atom, ClassAtom) or not isinstance(atom.object, Variable):
        return None
    is_time = isinstance(made.object, LiteralOutput) and made.object.value == made.time
    return atom.object if is_time else None


def _aliases(made: Instance) -> tuple[str, ...]:
    """The aliases of an assertion; "" for a fact, which is made of no table."""
    return tuple(o.alias for o in made.occurrences) or ("",)
