"""Choose the terms of a project among those of an ontology."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.scaffold.terms.candidate import Candidate
from ontoweir.scaffold.terms.describe_stream import describe_stream
from ontoweir.scaffold.terms.propose_terms import propose_classes, propose_properties
from ontoweir.scaffold.terms.terms import Shared, Term, Terms, own_terms
from ontoweir.scaffold.terms.vocabulary import Vocabulary

Accept: TypeAlias = Callable[[Candidate, Terms], bool]
"""Says whether a candidate is taken."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The terms; of the ontology in `vocabulary` (None: there is none) the candidates that were
    `taken`, and the `others`, for which nothing was."""

    terms: Terms
    vocabulary: Vocabulary | None = None
    taken: tuple[Candidate, ...] = ()
    others: tuple[Candidate, ...] = ()


def accept_sure(candidate: Candidate, terms: Terms) -> bool:
    """Takes what nothing is to be said against."""
    return candidate.doubt is None


def choose_terms(
    catalog: Catalog,
    base: str,
    vocabulary: Vocabulary | None,
    accept: Accept,
    shared: Mapping[tuple[str, str], Shared] | None = None,
) -> Chosen:
    """The project's own terms; of an ontology, those that are accepted take their place.

    Args:
        catalog: the tables.
        base: of all IRIs of the project.
        vocabulary: the ontology (None: there is none).
        accept: is asked for one candidate after the other; of a part of a table no more, when one
            has been taken.
        shared: by stream and column, what other streams name, too.
    """
    terms = own_terms(catalog, base, shared)
    if vocabulary is None:
        return Chosen(terms)
    terms = replace(terms, prefixes={**vocabulary.prefixes, **terms.prefixes})
    proposed = propose_classes(catalog, vocabulary)
    taken = _ask(proposed, accept, terms)
    terms = _put_classes(terms, catalog, taken)
    properties = propose_properties(catalog, vocabulary, terms)
    chosen = _ask(properties, accept, terms)
    terms = _put_properties(terms, chosen)
    taken = [*taken, *chosen]
    places = {(c.part, c.table, c.column) for c in taken}
    others = (c for c in (*proposed, *properties) if (c.part, c.table, c.column) not in places)
    return Chosen(terms, vocabulary, tuple(taken), tuple(others))


def _ask(proposed: Sequence[Candidate], accept: Accept, terms: Terms) -> list[Candidate]:
    taken: dict[tuple[str, str, str | None], Candidate] = {}
    for candidate in proposed:
        place = (candidate.part, candidate.table, candidate.column)
        if place not in taken and accept(candidate, terms):
            taken[place] = candidate
    return list(taken.values())


def _put_classes(terms: Terms, catalog: Catalog, taken: Sequence[Candidate]) -> Terms:
    found = {(c.part, c.table): Term(c.term, c.because) for c in taken}
    classes = {table: found.get(("class", table), term) for table, term in terms.classes.items()}
    entities = {}
    for stream, term in terms.entities.items():
        relation = describe_stream(catalog.streams[stream], catalog).relation
        known = None if relation is None else classes[relation]
        entities[stream] = known or found.get(("entity", stream), term)
    return replace(terms, classes=classes, entities=entities)


def _put_properties(terms: Terms, taken: Sequence[Candidate]) -> Terms:
    about, columns, links = dict(terms.about), dict(terms.columns), dict(terms.links)
    for one in taken:
        term = Term(one.term, one.because)
        assert one.column is not None
        if one.part == "about":
            about[one.table] = term
        elif one.part == "link":
            links[one.table, one.column] = term
        else:
            columns[one.table, one.column] = term
    return replace(terms, about=about, columns=columns, links=links)
