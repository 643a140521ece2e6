"""Loads R2RML mappings over the catalog: https://www.w3.org/TR/r2rml/."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    MappingSet,
    MappingSource,
    SourceColumn,
    SourceCompare,
    SourceTable,
    TemplateMap,
    TermMap,
)
from ontoweir.mappings.catalog import Catalog
from ontoweir.mappings.column_types import type_family
from ontoweir.mappings.read_graph import RR, MappingFile, Place, open_mapping, place_node
from ontoweir.mappings.read_logical_table import LogicalTable, read_logical_table
from ontoweir.mappings.read_term_map import read_constant, read_term_map

if TYPE_CHECKING:
    from rdflib.term import Node

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def load_mappings(paths: Sequence[Path], catalog: Catalog) -> MappingSet:
    """Reads all triples maps of all files.

    rr:logicalTable (table name or select-project-join SQL), rr:subjectMap, rr:class,
    rr:predicateObjectMap, rr:parentTriplesMap and their shortcuts are read. Named graphs are
    refused: here the graph is the time.

    Raises:
        MappingError: a file is missing or wrong, or does not fit the catalog; with its line.
    """
    found: list[MappingAssertion] = []
    for path in paths:
        file = open_mapping(path)
        nodes = _triples_maps(file)
        if not nodes:
            raise MappingError(
                "no triples map",
                why="nothing in the file has rr:logicalTable",
                fix="is this an R2RML mapping with @prefix rr: <http://www.w3.org/ns/r2rml#>?",
                source=Source(file.shown, 1),
            )
        for node in nodes:
            found.extend(_read_triples_map(file, node, catalog))
    return MappingSet(tuple(dict.fromkeys(found)))


def _triples_maps(file: MappingFile) -> list[Node]:
    from rdflib import RDF, URIRef

    nodes = set(file.graph.subjects(URIRef(RR + "logicalTable"), None))
    nodes |= set(file.graph.subjects(RDF.type, URIRef(RR + "TriplesMap")))
    return sorted(nodes, key=lambda n: (place_node(file, n).block[0], str(n)))


def _read_triples_map(file: MappingFile, node: Node, catalog: Catalog) -> list[MappingAssertion]:
    """The assertions of a triples map: of each part of its logical table, in turn."""
    place = place_node(file, node)
    parts = read_logical_table(place, node, catalog)
    return [a for n in range(len(parts)) for a in _read_part(file, node, parts, n, catalog)]


def _read_part(
    file: MappingFile, node: Node, parts: Sequence[LogicalTable], number: int, catalog: Catalog
) -> list[MappingAssertion]:
    place, table = place_node(file, node), parts[number]
    subject, subject_node = _read_subject(place, node, table)
    found: list[MappingAssertion] = []

    def add(predicate: str, value: TermMap | None, source: MappingSource) -> None:
        found.append(
            MappingAssertion(
                place.name, predicate, source, subject, value, place.source(), table.stream_alias
            )
        )

    if subject_node is not None:
        for cls in file.values(subject_node, "class"):
            add(str(cls), None, table.source)
    for pair in file.values(node, "predicateObjectMap"):
        _refuse_graphs(place, pair)
        predicates = _read_predicates(place, pair)
        objects: list[tuple[TermMap, MappingSource]] = [
            (read_constant(place, o), table.source) for o in file.values(pair, "object")
        ]
        for map_node in file.values(pair, "objectMap"):
            parent = file.value(map_node, "parentTriplesMap", place)
            if parent is None:
                term = read_term_map(place, map_node, table, subject=False)
                objects.append((term, table.source))
            else:
                objects += _read_reference(place, map_node, parent, (table, number), catalog)
        if not predicates or not objects:
            raise place.error(
                "a predicate-object map without " + ("predicate" if not predicates else "object"),
                why="it makes no triple",
                fix="add rr:predicate and rr:objectMap",
            )
        for predicate in predicates:
            for value, source in objects:
                if predicate != RDF_TYPE:
                    add(predicate, value, source)
                elif isinstance(value, ConstantMap) and value.is_iri:
                    add(value.value, None, source)
                else:
                    raise place.error(
                        "rdf:type with a class made from data",
                        why="classes are fixed in the mapping",
                        fix="write one triples map for each class, with rr:class",
                    )
    return found


def _refuse_graphs(place: Place, node: Node) -> None:
    for term in ("graph", "graphMap"):
        if place.file.values(node, term):
            raise place.error(
                f"rr:{term} is not allowed",
                why="a triple's graph is the time at which it holds: its row's timestamp",
                fix=f"remove rr:{term}; in queries, GRAPH ?t is the state at time ?t",
                near=f"rr:{term}",
            )


def _read_subject(place: Place, node: Node, table: LogicalTable) -> tuple[TermMap, Node | None]:
    file = place.file
    short = file.value(node, "subject", place)
    long = file.value(node, "subjectMap", place)
    if (short is None) == (long is None):
        raise place.error(
            "no subject" if short is None else "rr:subject and rr:subjectMap",
            why="a triples map has one subject map",
            fix='write rr:subjectMap [ rr:template "…" ]',
        )
    if short is not None:
        subject: TermMap = read_constant(place, short)
    else:
        assert long is not None
        _refuse_graphs(place, long)
        subject = read_term_map(place, long, table, subject=True)
    if isinstance(subject, ColumnMap) or (isinstance(subject, ConstantMap) and not subject.is_iri):
        raise place.error("a literal as subject", why="RDF", fix="write an IRI")
    return subject, long


def _read_predicates(place: Place, pair: Node) -> list[str]:
    file = place.file
    found = [str(p) for p in file.values(pair, "predicate")]
    for node in file.values(pair, "predicateMap"):
        constant = file.value(node, "constant", place)
        if constant is None:
            raise place.error(
                "a predicate made from data",
                why="rr:predicateMap must have an rr:constant; properties are fixed in the mapping",
                fix="write one predicate-object map for each property",
                near="rr:predicateMap",
            )
        found.append(str(constant))
    return found


def _read_reference(
    place: Place, node: Node, parent: Node, child: tuple[LogicalTable, int], catalog: Catalog
) -> list[tuple[TermMap, MappingSource]]:
    """rr:parentTriplesMap: the parent's subject, joined to the child's row; for each part of the
    parent's logical table."""
    file = place.file
    table, number = child
    parent_place = place_node(file, parent)
    if (parent, None, None) not in file.graph:
        raise place.error(
            f"rr:parentTriplesMap {parent_place.name} does not exist",
            why="the object is the subject of that triples map",
            fix="name a triples map of this file",
            near="rr:parentTriplesMap",
        )
    others = read_logical_table(parent_place, parent, catalog)
    joins = file.values(node, "joinCondition")
    if not joins:
        if others[0].key != table.key:
            raise place.error(
                f"rr:parentTriplesMap {parent_place.name} without rr:joinCondition",
                why="its logical table is another one",
                fix='add rr:joinCondition [ rr:child "…"; rr:parent "…" ]',
                near="rr:parentTriplesMap",
            )
        return [(_read_subject(parent_place, parent, others[number])[0], table.source)]
    if others[0].stream_alias is not None:
        two = table.stream_alias is not None
        raise place.error(
            f"a join of two streams with {parent_place.name}"
            if two
            else f"a static triples map refers to the stream of {parent_place.name}",
            why="its triples would hold at two timestamps"
            if two
            else "its triples hold at the stream's timestamps",
            fix="map each stream by itself and join them in the query"
            if two
            else "turn it round: put the reference into the stream's triples map",
            near="rr:joinCondition",
        )
    return [
        _join_parent(place, joins, table, other, _read_subject(parent_place, parent, other)[0])
        for other in others
    ]


def _join_parent(
    place: Place, joins: Sequence[Node], table: LogicalTable, other: LogicalTable, value: TermMap
) -> tuple[TermMap, MappingSource]:
    file = place.file
    renaming = {t.alias: f"parent_{t.alias}" for t in other.source.tables}
    conditions = []
    for join in joins:
        child, mate = file.value(join, "child", place), file.value(join, "parent", place)
        if child is None or mate is None:
            raise place.error(
                "rr:joinCondition without child or parent",
                why="it equates a child's column with a parent's",
                fix='write [ rr:child "…"; rr:parent "…" ]',
            )
        left = table.column(str(child), place, str(child))
        right = other.column(str(mate), place, str(mate))
        if type_family(table.type_of(left)) != type_family(other.type_of(right)):
            raise place.error(
                f"rr:joinCondition equates {left.column} with {right.column} of another type",
                why="the catalog declares types that do not compare",
                fix="declare both columns with the same type",
                near=str(child),
            )
        conditions.append(SourceCompare(left, "=", _rename_column(right, renaming)))
    source = MappingSource(
        (
            *table.source.tables,
            *(SourceTable(renaming[t.alias], t.table) for t in other.source.tables),
        ),
        (*table.source.conditions, *conditions, *_rename_source(other.source, renaming).conditions),
    )
    return _rename_term(value, renaming), source


def _rename_column(column: SourceColumn, renaming: dict[str, str]) -> SourceColumn:
    return SourceColumn(renaming[column.alias], column.column)


def _rename_source(source: MappingSource, renaming: dict[str, str]) -> MappingSource:
    conditions = tuple(
        SourceCompare(
            _rename_column(c.left, renaming),
            c.op,
            _rename_column(c.right, renaming) if isinstance(c.right, SourceColumn) else c.right,
            c.offset,
        )
        if isinstance(c, SourceCompare)
        else type(c)(_rename_column(c.column, renaming))
        for c in source.conditions
    )
    return MappingSource(source.tables, conditions)


def _rename_term(term: TermMap, renaming: dict[str, str]) -> TermMap:
    match term:
        case ColumnMap():
            return ColumnMap(_rename_column(term.column, renaming), term.datatype, term.language)
        case TemplateMap():
            parts = tuple(
                _rename_column(p, renaming) if isinstance(p, SourceColumn) else p
                for p in term.parts
            )
            return TemplateMap(parts, term.kind, term.datatype, term.language)
        case ConstantMap():
            return term
