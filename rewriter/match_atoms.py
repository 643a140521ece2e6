"""Matches the atoms of a conjunctive query with mapping assertions, in all ways."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TypeAlias

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.assertion import MappingAssertion, MappingSet
from ontoweir.mappings.catalog import Catalog
from ontoweir.mappings.r2rml_document import DEFAULT_GRAPH
from ontoweir.rewriter.equality_classes import Types
from ontoweir.rewriter.hierarchy import Hierarchy
from ontoweir.rewriter.instantiate_assertion import Instance, instantiate_assertion
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
    repeating: tuple[Atom, MappingAssertion] | None = None
    """The first choice whose rows may repeat (MappingAssertion.repeats)."""


def find_assertions(
    atom: Atom,
    mappings: MappingSet,
    tbox: Hierarchy,
    warn: Warn,
    *,
    mapped: frozenset[str],
    derived: bool,
    graphs: Callable[[str], tuple[str, ...]] = lambda _: (),
) -> tuple[MappingAssertion, ...]:
    """The assertions that can match an atom: any in GRAPH ?t, only static ones outside.

    In a disjunct `derived` by axioms nothing is the user's mistake: it just has no answers.
    `graphs` tells the graphs in which a predicate is mapped.

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
        warn(_say_why_none(iri, graphs(iri)), atom.source)
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


def _say_why_none(iri: str, graphs: tuple[str, ...]) -> str:
    if not graphs:
        return f"nothing is mapped to {iri}: this disjunct has no answers"
    named = [f"<{g}>" if g != DEFAULT_GRAPH else "the default graph" for g in graphs]
    return (
        f"{iri} is mapped in {', '.join(named)} only, which this query does not ask: this disjunct "
        f"has no answers; write FROM <{graphs[0]}> before WHERE"
    )


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
    """All choices of an assertion for each atom whose term maps unify.

    Raises:
        QueryError: the query counts rows that DISTINCT or UNION in a mapping's SQL removes.
    """
    for match in _extend(query.atoms, choices, catalog, Match()):
        if match.repeating is not None and not query.distinct:
            raise _refuse_repeats(*match.repeating)
        yield match


def _refuse_repeats(atom: Atom, assertion: MappingAssertion) -> QueryError:
    return QueryError(
        f"SELECT counts the rows of mapping {assertion.id} ({assertion.place})",
        why=f"its SQL has DISTINCT or UNION, and {assertion.repeats}: the rows that it removes "
        "would count",
        fix="write SELECT DISTINCT in the query; or in the mapping's SQL select a key that the "
        "catalog declares, or UNION ALL if every row is to count",
        source=atom.source,
    )


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
        (*match.provenance, *((alias, provenance) for alias in _aliases(made))),
        (atom, assertion) if assertion.repeats and not match.repeating else match.repeating,
    )


def _aliases(made: Instance) -> tuple[str, ...]:
    """The aliases of an assertion; "" for a fact, which is made of no table."""
    return tuple(o.alias for o in made.occurrences) or ("",)
