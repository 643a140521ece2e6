"""Loads R2RML mappings over the catalog: https://www.w3.org/TR/r2rml/."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.compile.compile_term import compile_term
from ontoweir.mappings.compile.flatten_table import FlatTable, flatten_table
from ontoweir.mappings.compile.rename_aliases import rename_column, rename_source, rename_term
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.assertion import (
    ConstantMap,
    MappingAssertion,
    MappingSet,
    MappingSource,
    RefusedMap,
    SourceColumn,
    SourceCompare,
    TermMap,
    condition_columns,
    term_columns,
)
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.column_types import type_family
from ontoweir.mappings.r2rml.r2rml_document import (
    DEFAULT_GRAPH,
    RDF_TYPE,
    AnyTerm,
    ParentReference,
    PredicateObjectMap,
    R2rmlDocument,
    RdfTerm,
    TriplesMap,
)
from ontoweir.mappings.r2rml.read_r2rml import read_r2rml


def load_mappings(paths: Sequence[Path], catalog: Catalog, *, partial: bool = False) -> MappingSet:
    """Compiles all triples maps of all files over the catalog: each part of a logical table and
    each predicate with each object is an assertion.

    docs/mappings.md lists which SQL and which term maps are read.

    Args:
        paths: the files.
        catalog: the tables.
        partial: a triples map that is wrong is listed in `refused`, and others are compiled.

    Raises:
        MappingError: a file is missing or wrong, or does not fit the catalog; with its line.
    """
    compiled: list[MappingAssertion] = []
    refused: list[RefusedMap] = []
    for path in paths:
        try:
            compiler = _Compiler(read_r2rml(path, partial=partial), catalog)
        except MappingError as error:
            if not partial:
                raise
            refused.append(RefusedMap(str(path), error))
            continue
        for owner in compiler.maps.values():
            try:
                compiled.extend(tuple(compiler.assertions(owner)))
            except MappingError as error:
                if not partial:
                    raise
                doubtful = owner.name in compiler.document.doubtful
                about = None if doubtful else _about(owner)
                refused.append(RefusedMap(owner.shown, error, about))
        refused += (r for _, r in compiler.document.refused)
    return MappingSet(tuple(dict.fromkeys(compiled)), refused=tuple(refused))


def _about(owner: TriplesMap) -> frozenset[str] | None:
    """The classes and properties that a triples map could be about (None: any)."""
    named = set(owner.classes)
    for pair in owner.predicate_objects:
        for predicate in pair.predicates:
            if not isinstance(predicate, RdfTerm):
                return None
            named.add(predicate.value)
        if RDF_TYPE in (p.value for p in pair.predicates if isinstance(p, RdfTerm)):
            if not all(isinstance(o, RdfTerm) and o.kind == "iri" for o in pair.objects):
                return None
            named.update(o.value for o in pair.objects if isinstance(o, RdfTerm))
    return frozenset(named)


class _Compiler:
    def __init__(self, document: R2rmlDocument, catalog: Catalog) -> None:
        self.catalog, self.base, self.document = catalog, document.base, document
        self.maps = {m.name: m for m in document.maps}
        self.flat: dict[str, tuple[FlatTable, ...]] = {}

    def assertions(self, owner: TriplesMap) -> Iterator[MappingAssertion]:
        for number in range(len(self.tables(owner))):
            yield from self.part(owner, number)

    def tables(self, owner: TriplesMap) -> tuple[FlatTable, ...]:
        if owner.name not in self.flat:
            self.flat[owner.name] = flatten_table(owner, self.catalog)
        return self.flat[owner.name]

    def part(self, owner: TriplesMap, number: int) -> Iterator[MappingAssertion]:
        """The assertions of one part of a logical table."""
        table = self.tables(owner)[number]
        subject = compile_term(owner, owner.subject, table, self.base)
        own = self.graphs(owner, owner.graphs, table)

        def make(
            predicate: str,
            value: TermMap | None,
            source: MappingSource,
            graphs: tuple[TermMap, ...],
            parent: str | None = None,
        ) -> MappingAssertion:
            used = (*term_columns(subject), *term_columns(value))
            return MappingAssertion(
                owner.shown,
                predicate,
                _keep_read(source, (*used, *(c for g in graphs for c in term_columns(g)))),
                subject,
                value,
                owner.source,
                table.stream_alias,
                graphs=() if graphs == _DEFAULT else graphs,
                repeats=parent or table.why_repeats(used),
            )

        for cls in owner.classes:
            yield make(cls, None, table.source, own)
        for pair in owner.predicate_objects:
            graphs = tuple(dict.fromkeys((*own, *self.graphs(owner, pair.graphs, table))))
            objects = [o for term in pair.objects for o in self.objects(owner, term, number)]
            for predicate in (_predicate(owner, pair, p) for p in pair.predicates):
                for value, source, parent in objects:
                    if predicate != RDF_TYPE:
                        yield make(predicate, value, source, graphs, parent)
                    elif isinstance(value, ConstantMap) and value.is_iri:
                        yield make(value.value, None, source, graphs, parent)
                    else:
                        raise owner.error(
                            "rdf:type with a class made from data",
                            why="classes are fixed in the mapping",
                            fix="write one triples map for each class, with rr:class",
                            at=pair.source,
                        )

    def graphs(
        self, owner: TriplesMap, terms: Sequence[AnyTerm], table: FlatTable
    ) -> tuple[TermMap, ...]:
        compiled = tuple(compile_term(owner, term, table, self.base) for term in terms)
        for term, graph in zip(terms, compiled, strict=True):
            for column in term_columns(graph):
                if table.scope.step_of(column) is not None:
                    raise owner.error(
                        f"a graph named by the timestamp {column.column}",
                        why="a triple already holds at its row's timestamp",
                        fix="leave the graph out; in queries, GRAPH ?t is the state at time ?t",
                        at=term.source if not isinstance(term, RdfTerm) else None,
                    )
        return compiled

    def objects(
        self, owner: TriplesMap, term: AnyTerm | ParentReference, number: int
    ) -> Iterator[tuple[TermMap, MappingSource, str | None]]:
        """An object's term maps, each with its source and why the parent's rows may repeat."""
        table = self.tables(owner)[number]
        if not isinstance(term, ParentReference):
            yield compile_term(owner, term, table, self.base), table.source, None
            return
        for name, refused in self.document.refused:
            if name == term.parent:
                raise refused.error.again()
        parent = self.maps[term.parent]
        others = self.tables(parent)
        if not term.joins:
            if others[0].key != table.key:
                raise owner.error(
                    f"rr:parentTriplesMap {parent.shown} without rr:joinCondition",
                    why="its logical table is another one",
                    fix='add rr:joinCondition [ rr:child "…"; rr:parent "…" ]',
                    at=term.source,
                )
            value = compile_term(parent, parent.subject, others[number], self.base)
            yield value, table.source, None
            return
        if others[0].stream_alias is not None:
            raise _refuse_streams(owner, parent, term.source, two=table.stream_alias is not None)
        for other in others:
            value = compile_term(parent, parent.subject, other, self.base)
            joined, source = _join_parent(owner, term, table, other, value)
            matched = [other.column(j.parent, owner, j.parent_source) for j in term.joins]
            used = (*matched, *term_columns(compile_term(parent, parent.subject, other, self.base)))
            yield joined, source, other.why_repeats(used)


def _keep_read(source: MappingSource, used: Iterable[SourceColumn]) -> MappingSource:
    """The source with those derived columns that its conditions, or terms, read."""
    if not source.derived:
        return source
    tables = {t.alias: t.table for t in source.tables}
    read = (*used, *(c for condition in source.conditions for c in condition_columns(condition)))
    wanted = {(tables[c.alias], c.column) for c in read}
    kept = (d for d in source.derived if (d[0], write_expression(d[1])) in wanted)
    return replace(source, derived=tuple(kept))


_DEFAULT = (ConstantMap(DEFAULT_GRAPH, is_iri=True),)


def _predicate(owner: TriplesMap, pair: PredicateObjectMap, term: AnyTerm) -> str:
    if isinstance(term, RdfTerm):
        return term.value
    raise owner.error(
        "a predicate made from data",
        why="rr:predicateMap must have an rr:constant; properties are fixed in the mapping",
        fix="write one predicate-object map for each property",
        at=term.source,
    )


def _refuse_streams(
    owner: TriplesMap, parent: TriplesMap, at: Source, *, two: bool
) -> MappingError:
    return owner.error(
        f"a join of two streams with {parent.shown}"
        if two
        else f"a static triples map refers to the stream of {parent.shown}",
        why="its triples would hold at two timestamps"
        if two
        else "its triples hold at the stream's timestamps",
        fix="map each stream by itself and join them in the query; or declare in [relations] "
        "the one whose rows always hold"
        if two
        else "turn it round: put the reference into the stream's triples map; or declare it in "
        "[relations], if its rows always hold",
        at=at,
    )


def _join_parent(
    owner: TriplesMap,
    reference: ParentReference,
    table: FlatTable,
    other: FlatTable,
    value: TermMap,
) -> tuple[TermMap, MappingSource]:
    """The parent's subject, joined to the child's row."""
    renaming = {t.alias: f"parent_{t.alias}" for t in other.source.tables}
    conditions = []
    for join in reference.joins:
        left = table.column(join.child, owner, join.child_source)
        right = other.column(join.parent, owner, join.parent_source)
        if type_family(table.type_of(left)) != type_family(other.type_of(right)):
            raise owner.error(
                f"rr:joinCondition equates {left.column} with {right.column} of another type",
                why="the catalog declares types that do not compare",
                fix="declare both columns with the same type",
                at=join.child_source,
            )
        conditions.append(SourceCompare(left, "=", rename_column(right, renaming)))
    joined = rename_source(other.source, renaming)
    source = MappingSource(
        (*table.source.tables, *joined.tables),
        (*table.source.conditions, *conditions, *joined.conditions),
        tuple(dict.fromkeys((*table.source.derived, *joined.derived))),
    )
    return rename_term(value, renaming), source
