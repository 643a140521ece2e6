"""Selects the mappings of a query's dataset: the default graph, or the graphs that FROM names.

SPARQL 1.1 section 13.2.1: the graphs of FROM together are the default graph, where a triple that
several have is one triple. R2RML section 8: a triple is in the graphs of its graph maps, in the
default graph where it has none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from ontoweir.errors import MappingError, UsageError
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    MappingSet,
    SourceColumn,
    SourceCompare,
    SourceConstant,
    TemplateMap,
    TermMap,
    term_columns,
)
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.r2rml.r2rml_document import DEFAULT_GRAPH
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.spj import Attribute, Constant, ConstantOutput, IriOutput, Occurrence
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs

_Case: TypeAlias = tuple[SourceCompare, ...]
"""Equalities of columns with constants under which a triple is in a graph that is asked for."""


def select_graphs(mappings: MappingSet, graphs: tuple[str, ...], catalog: Catalog) -> MappingSet:
    """The assertions whose triples are in one of `graphs`, in none of their own any more.

    Of a graph map that is made from data the IRI becomes conditions on its columns. A row that
    makes a triple in several of the graphs makes it once.

    Args:
        mappings: not compiled yet: containment is between assertions of one graph.
        graphs: what FROM names, rr:defaultGraph for the default graph; none: the default graph.
        catalog: the tables.

    Raises:
        MappingError: one triple is in several graphs that are asked for, in a way that no
            conditions tell apart.
        QueryError: a graph's template makes its IRI in several ways.
    """
    asked = dict.fromkeys(graphs or (DEFAULT_GRAPH,))
    if list(asked) == [DEFAULT_GRAPH] and not any(a.graphs for a in mappings.assertions):
        return mappings
    if mappings.compiled:
        raise UsageError(
            "compiled mappings with graphs",
            why="containment has been decided across graphs",
            fix="pass the mappings as load_mappings gives them",
        )
    selected = tuple(made for a in mappings.assertions for made in _select(a, asked, catalog))
    return replace(mappings, assertions=selected)


def _select(
    assertion: MappingAssertion, asked: dict[str, None], catalog: Catalog
) -> Iterator[MappingAssertion]:
    if not assertion.source.tables:
        yield assertion  # a fact of the ontology, which is about all data
        return
    terms = assertion.graphs or (ConstantMap(DEFAULT_GRAPH, is_iri=True),)
    cases = [c for term in terms for iri in asked if (c := _meet(assertion, term, iri, catalog))]
    if any(isinstance(t, ConstantMap) and t.value in asked for t in terms):
        yield replace(assertion, graphs=())
        return
    done: list[_Case] = []
    made = {*term_columns(assertion.subject), *term_columns(assertion.object)}
    cases.sort(key=lambda case: not made.issuperset(c.left for c in case))  # never NULL first
    for case in dict.fromkeys(cases):
        for more in _exclude(assertion, case, done):
            source = replace(
                assertion.source, conditions=(*assertion.source.conditions, *case, *more)
            )
            yield replace(assertion, source=source, graphs=())
        done.append(case)


def _meet(assertion: MappingAssertion, term: TermMap, iri: str, catalog: Catalog) -> _Case | None:
    """When the graph is `iri`; None: never, or always."""
    match term:
        case ConstantMap() | ColumnMap():
            return None
        case TemplateMap(parts=parts):
            output = IriOutput(
                tuple(
                    Attribute(p.alias, p.column) if isinstance(p, SourceColumn) else p
                    for p in parts
                )
            )
    types = Types(catalog, [Occurrence(t.alias, t.table) for t in assertion.source.tables])
    conditions = unify_outputs(output, ConstantOutput(iri, is_iri=True), types, assertion.place)
    if conditions is None:
        return None
    return tuple(
        SourceCompare(SourceColumn(c.left.alias, c.left.column), "=", SourceConstant(c.right.value))
        for c in conditions
        if isinstance(c.right, Constant)
    )


def _exclude(
    assertion: MappingAssertion, case: _Case, done: list[_Case]
) -> Iterator[tuple[SourceCompare, ...]]:
    """Conditions under which `case` holds and none of `done` does: they exclude each other.

    Raises:
        MappingError: a column of `done` may be NULL where `case` holds.
    """
    rest: list[tuple[SourceCompare, ...]] = [()]
    known = {c.left: c.right for c in case}
    present = {*known, *term_columns(assertion.subject), *term_columns(assertion.object)}
    for other in done:
        if any(known.get(c.left, c.right) != c.right for c in other):
            continue  # a column has another value there
        if not present.issuperset(c.left for c in other):
            raise MappingError(
                f"{assertion.id}: a triple may be in several graphs of FROM",
                why="its graph maps are made from different columns, and it must not count twice",
                fix="ask for one of the graphs, or write one triples map for each graph map",
                source=assertion.place,
            )
        rest = [(*more, *part) for more in rest for part in _negate(other, known)]
    yield from rest


def _negate(
    other: _Case, known: Mapping[SourceColumn, object]
) -> Iterator[tuple[SourceCompare, ...]]:
    """NOT other, in parts that exclude each other."""
    before: tuple[SourceCompare, ...] = ()
    for condition in other:
        if condition.left not in known:
            yield (*before, replace(condition, op="<>"))
            before = (*before, condition)
