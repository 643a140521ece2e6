"""Matches the atoms of a conjunctive query with mapping assertions, in all ways."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TypeAlias

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.assertion import MappingAssertion, MappingSet
from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.equality_classes import Types
from ontoweir.rewriter.hierarchy import Hierarchy
from ontoweir.rewriter.instantiate_assertion import instantiate_assertion
from ontoweir.rewriter.query import Atom, ClassAtom, ConjunctiveQuery, Term, Variable
from ontoweir.rewriter.spj import Attribute, Condition, Occurrence, Output, Provenance
from ontoweir.rewriter.translate_filters import term_output
from ontoweir.rewriter.unify_outputs import unify_outputs

Warn: TypeAlias = Callable[[str, Source | None], None]
"""Takes a warning: a sentence, and its place."""


@dataclass(frozen=True, slots=True)
class Match:
    """A choice of one assertion for every atom so far, and what it binds."""

    occurrences: tuple[Occurrence, ...] = ()
    conditions: tuple[Condition, ...] = ()
    bindings: dict[Variable, Output] = field(default_factory=dict)
    times: dict[Variable, tuple[Attribute, ...]] = field(default_factory=dict)
    provenance: tuple[tuple[str, Provenance], ...] = ()


def find_assertions(
    atom: Atom,
    mappings: MappingSet,
    tbox: Hierarchy,
    warn: Warn,
    *,
    mapped: frozenset[str],
    derived: bool,
) -> tuple[MappingAssertion, ...]:
    """The assertions that can match an atom: any in GRAPH ?t, only static ones outside.

    In a disjunct `derived` by axioms nothing is the user's mistake: it just has no answers.

    Raises:
        QueryError: an unknown class or property, or one that only streams make, outside GRAPH.
    """
    iri = atom.cls if isinstance(atom, ClassAtom) else atom.prop
    is_class = isinstance(atom, ClassAtom)
    found = mappings.classes_of(iri) if is_class else mappings.properties_of(iri)
    if not found and derived:
        return ()
    if not found:
        _refuse_unknown(iri, atom, mapped, tbox)
        warn(f"nothing is mapped to {iri}: this disjunct has no answers", atom.source)
        return ()
    if atom.time is not None:
        return found
    static = tuple(a for a in found if a.stream_alias is None)
    if not static and not derived:
        raise QueryError(
            f"{iri} is used outside GRAPH",
            why="its triples come from streams and hold at points in time only "
            f"(mapping {found[0].id}, {found[0].place})",
            fix="put the pattern into GRAPH ?t { … }",
            source=atom.source,
        )
    return static


def _refuse_unknown(iri: str, atom: Atom, mapped: frozenset[str], tbox: Hierarchy) -> None:
    if tbox.knows(iri) or iri in mapped:
        return
    properties = tbox.object_properties | tbox.data_properties
    known = mapped | (tbox.classes if isinstance(atom, ClassAtom) else properties)
    close = get_close_matches(iri, known, n=1, cutoff=0.75)
    raise QueryError(
        f"unknown {'class' if isinstance(atom, ClassAtom) else 'property'} {iri}",
        why="neither the ontology nor the mappings know it",
        fix=f"did you mean {close[0]}?" if close else "declare it in the ontology, or map it",
        source=atom.source,
    )


def match_atoms(
    query: ConjunctiveQuery,
    choices: tuple[tuple[MappingAssertion, ...], ...],
    catalog: Catalog,
) -> Iterator[Match]:
    """All choices of an assertion for each atom whose term maps unify."""
    yield from _extend(query.atoms, choices, catalog, Match())


def _extend(
    atoms: tuple[Atom, ...],
    choices: tuple[tuple[MappingAssertion, ...], ...],
    catalog: Catalog,
    match: Match,
) -> Iterator[Match]:
    if not atoms:
        yield match
        return
    for assertion in choices[0]:
        extended = _add(atoms[0], assertion, catalog, match)
        if extended is not None:
            yield from _extend(atoms[1:], choices[1:], catalog, extended)


def _add(atom: Atom, assertion: MappingAssertion, catalog: Catalog, match: Match) -> Match | None:
    made = instantiate_assertion(assertion, len(match.occurrences) + 1, catalog)
    occurrences = (*match.occurrences, *made.occurrences)
    types = Types(catalog, occurrences)
    conditions = [*match.conditions, *made.conditions]
    bindings = dict(match.bindings)
    terms: list[tuple[Term, Output]]
    if isinstance(atom, ClassAtom):
        terms = [(atom.term, made.subject)]
    else:
        assert made.object is not None
        terms = [(atom.subject, made.subject), (atom.object, made.object)]
    for term, output in terms:
        known = bindings.get(term) if isinstance(term, Variable) else term_output(term)
        if known is None:
            assert isinstance(term, Variable)
            bindings[term] = output
            continue
        equations = unify_outputs(known, output, types, atom.source)
        if equations is None:
            return None
        conditions.extend(equations)
    times = dict(match.times)
    if atom.time is not None and made.time is not None:
        times[atom.time] = (*times.get(atom.time, ()), made.time)
    provenance = replace(
        made.provenance,
        query_source=atom.source,
        time=atom.time.name if atom.time is not None and made.time is not None else None,
    )
    return Match(
        occurrences,
        tuple(conditions),
        bindings,
        times,
        (*match.provenance, *((o.alias, provenance) for o in made.occurrences)),
    )
