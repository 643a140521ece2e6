"""Compiles the ontology's hierarchy into the mappings (T-mappings).

[RKZ] Rodríguez-Muro, Kontchakov, Zakharyaschev: OBDA: Query Rewriting or Materialisation?
In Practice, Both! ISWC 2014.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    MappingSet,
    MappingSource,
    SourceNotNull,
    SourceOneOf,
    TemplateMap,
    TermMap,
    term_columns,
)
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import THING, Because, Exists, NamedClass, Role
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.model.spj import SpjQuery
from ontoweir.rewriter.passes.index_disjuncts import DisjunctIndex, reachable_tables
from ontoweir.rewriter.tmappings.instantiate_assertion import assertion_query
from ontoweir.rewriter.tmappings.merge_assertions import merge_assertions, split_lists


def compile_tmappings(
    mappings: MappingSet,
    tbox: Hierarchy,
    catalog: Catalog,
    *,
    predicates: Iterable[str] | None = None,
) -> MappingSet:
    """The mappings of each predicate together with those of everything below it.

    A class gets the assertions of its subclasses, the subjects of properties with it as domain
    (∃P ⊑ C), and the objects, IRIs or blank nodes, of those with it as range. A property gets
    its subproperties', turned round for inverses. An assertion whose triples another one of
    the predicate makes too is dropped, so that a row counts once under bag semantics. A static
    assertion's triples hold always, so it may stand for a stream's. Those that are left and differ
    in the constants of one column only become one (merge_assertions).

    Args:
        predicates: class and property IRIs asked for; None: all that the ontology or the
            mappings know.
    """
    if mappings.compiled:
        return mappings
    if predicates is None:
        known = tbox.classes | tbox.object_properties | tbox.data_properties
        predicates = known | mappings.predicates()
    assertions: list[MappingAssertion] = []
    for iri in dict.fromkeys(sorted(predicates)):
        for made in (
            _class_assertions(iri, mappings, tbox),
            _property_assertions(iri, mappings, tbox),
        ):
            assertions.extend(merge_assertions(_drop_contained(list(made), catalog), catalog))
    return MappingSet(tuple(assertions), compiled=True)


def _class_assertions(
    iri: str, mappings: MappingSet, tbox: Hierarchy
) -> Iterator[MappingAssertion]:
    yield from mappings.classes_of(iri)
    if iri == THING.iri:
        yield from _everything(mappings)
        return
    if iri not in tbox.classes:
        return
    if any(below == THING for below, _ in tbox.subconcepts(NamedClass(iri))):
        (because,) = (w for below, w in tbox.subconcepts(NamedClass(iri)) if below == THING)
        for assertion in _everything(mappings):
            yield _because(replace(assertion, predicate=iri), because)
    for basic, because in tbox.subconcepts(NamedClass(iri)):
        match basic:
            case NamedClass(iri=below):
                if below != iri:
                    for assertion in mappings.classes_of(below):
                        yield _because(replace(assertion, predicate=iri), because)
            case Exists(role=role):
                for assertion in mappings.properties_of(role.iri):
                    ends = (assertion.subject, assertion.object)
                    other, term = ends if role.inverse else ends[::-1]
                    if term is not None and _is_resource(term):
                        source = _not_null(assertion.source, other)
                        made = replace(
                            assertion, predicate=iri, source=source, subject=term, object=None
                        )
                        yield _because(made, because)


def _everything(mappings: MappingSet) -> Iterator[MappingAssertion]:
    """What is mapped at all is an owl:Thing: subjects, and objects that are not literals."""
    mappings.require_all()
    for assertion in mappings.assertions:
        source = _not_null(assertion.source, assertion.object)
        yield replace(assertion, predicate=THING.iri, source=source, object=None)
        if assertion.object is not None and _is_resource(assertion.object):
            source = _not_null(assertion.source, assertion.subject)
            yield replace(
                assertion,
                predicate=THING.iri,
                source=source,
                subject=assertion.object,
                object=None,
            )


def _property_assertions(
    iri: str, mappings: MappingSet, tbox: Hierarchy
) -> Iterator[MappingAssertion]:
    yield from mappings.properties_of(iri)
    if iri not in tbox.object_properties and iri not in tbox.data_properties:
        return
    for role, because in tbox.subroles(Role(iri)):
        if role == Role(iri):
            continue
        for assertion in mappings.properties_of(role.iri):
            made = replace(assertion, predicate=iri)
            if role.inverse:
                if assertion.object is None or not _is_resource(assertion.object):
                    continue
                made = replace(made, subject=assertion.object, object=assertion.subject)
            yield _because(made, because)


def _not_null(source: MappingSource, dropped: TermMap | None) -> MappingSource:
    """The rows that make a term, also where the term itself is dropped: NULL makes no triple."""
    conditions = tuple(SourceNotNull(c) for c in dict.fromkeys(term_columns(dropped)))
    return replace(source, conditions=(*source.conditions, *conditions))


def _because(assertion: MappingAssertion, because: tuple[Because, ...]) -> MappingAssertion:
    return replace(assertion, because=(*assertion.because, *because))


def _is_resource(term: TermMap) -> bool:
    match term:
        case TemplateMap(kind=kind):
            return kind != "literal"
        case ConstantMap(is_iri=is_iri):
            return is_iri
        case ColumnMap():
            return False


def _drop_contained(assertions: list[MappingAssertion], catalog: Catalog) -> list[MappingAssertion]:
    """Of assertions that make the same triples the first is kept: the user's own come first."""
    if len(assertions) < 2:
        return assertions
    facts = {(a.subject, a.object): a for a in reversed(assertions) if not a.source.tables}
    kept = DisjunctIndex[tuple[MappingAssertion, SpjQuery]](catalog, lambda pair: pair[1])
    for assertion in _split(assertions, catalog):
        if (assertion.subject, assertion.object) in facts:
            continue  # a fact is contained in nothing else
        pair = (assertion, assertion_query(assertion, catalog))
        if any(is_contained(pair[1], other, catalog) for _, other in kept.above(pair)):
            continue
        below = [p for p in kept.below(pair) if is_contained(p[1], pair[1], catalog)]
        for other in below:
            kept.remove(other)
        kept.add(pair)
    return [*(a for a, _ in kept), *reversed(facts.values())]


def _split(assertions: list[MappingAssertion], catalog: Catalog) -> Iterator[MappingAssertion]:
    """The assertions; those with lists of constants in parts, where another one of the same tables,
    or of what they reference, could contain a part."""
    tables = [frozenset(t.table for t in a.source.tables) for a in assertions]
    count = Counter(tables)
    for assertion, own in zip(assertions, tables, strict=True):
        if not any(isinstance(c, SourceOneOf) for c in assertion.source.conditions):
            yield assertion
            continue
        reach = reachable_tables(own, catalog)
        if count[own] > 1 or any(other and other != own and other <= reach for other in count):
            yield from split_lists(assertion)
        else:
            yield assertion
