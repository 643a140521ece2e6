"""R2RML as functions from rows to terms: what the standard says, of what cases use."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

from rdflib import XSD, Graph, Literal, Namespace, URIRef
from rdflib.term import Node

RR = Namespace("http://www.w3.org/ns/r2rml#")
DEFAULT = URIRef(RR.defaultGraph)
_COLUMN = re.compile(r"\{(\w+)\}")
TermMap: TypeAlias = Callable[[Mapping[str, Any]], Node | None]
"""The term of a row; None where a column is NULL."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A predicate and an object in some graphs; `parent`: the SQL of the rows that make the object,
    joined by `joins`, columns of child and parent."""

    predicate: Node
    term: TermMap
    graphs: frozenset[Node]
    parent: str | None = None
    joins: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TriplesMap:
    """A triples map."""

    sql: str
    subject: TermMap
    classes: tuple[Node, ...]
    graphs: frozenset[Node]
    pairs: tuple[Pair, ...]


def read_maps(mapping: Graph) -> tuple[TriplesMap, ...]:
    """The triples maps of an R2RML document."""
    return tuple(_read_map(mapping, m) for m in set(mapping.subjects(RR.subjectMap)))


def _read_map(mapping: Graph, node: Node) -> TriplesMap:
    subject = _one(mapping, node, RR.subjectMap)
    own = frozenset(mapping.objects(subject, RR.graph))
    pairs = []
    for given in mapping.objects(node, RR.predicateObjectMap):
        graphs = own | frozenset(mapping.objects(given, RR.graph)) or frozenset({DEFAULT})
        predicate, target = _one(mapping, given, RR.predicate), _one(mapping, given, RR.objectMap)
        parent = mapping.value(target, RR.parentTriplesMap)
        if parent is None:
            pairs.append(Pair(predicate, _read_term(mapping, target), graphs))
            continue
        term = _read_term(mapping, _one(mapping, parent, RR.subjectMap))
        joins = tuple(
            (str(_one(mapping, join, RR.child)), str(_one(mapping, join, RR.parent)))
            for join in mapping.objects(target, RR.joinCondition)
        )
        pairs.append(Pair(predicate, term, graphs, _sql(mapping, parent), joins))
    return TriplesMap(
        _sql(mapping, node),
        _read_term(mapping, subject),
        tuple(mapping.objects(subject, RR["class"])),
        own or frozenset({DEFAULT}),
        tuple(pairs),
    )


def _sql(mapping: Graph, node: Node) -> str:
    table = _one(mapping, node, RR.logicalTable)
    name = mapping.value(table, RR.tableName)
    return str(_one(mapping, table, RR.sqlQuery)) if name is None else f'SELECT * FROM "{name}"'


def _one(mapping: Graph, node: Node, predicate: Node) -> Node:
    found = mapping.value(node, predicate, any=False)
    assert found is not None, (node, predicate)
    return found


def _read_term(mapping: Graph, node: Node) -> TermMap:
    constant, column = mapping.value(node, RR.constant), mapping.value(node, RR.column)
    kind, datatype = mapping.value(node, RR.termType), mapping.value(node, RR.datatype)
    if constant is not None:
        return lambda row: constant
    if column is not None:
        language = mapping.value(node, RR.language)
        return _read_column(str(column), kind, _text(datatype), _text(language))
    template = str(_one(mapping, node, RR.template))
    names = _COLUMN.findall(template)

    def make(row: Mapping[str, Any]) -> Node | None:
        if any(row[n] is None for n in names):
            return None
        if kind == RR.Literal:
            return Literal(_COLUMN.sub(lambda m: str(row[m[1]]), template))
        return URIRef(_COLUMN.sub(lambda m: _encode(str(row[m[1]])), template))

    return make


def _text(node: Node | None) -> str | None:
    return None if node is None else str(node)


def _read_column(
    column: str, kind: Node | None, datatype: str | None, language: str | None
) -> TermMap:
    def make(row: Mapping[str, Any]) -> Node | None:
        value = row[column]
        if value is None:
            return None
        if kind == RR.IRI:
            return URIRef(str(value))
        if language is not None:
            return Literal(str(value), lang=language)
        natural = str(XSD.integer) if isinstance(value, int) else None
        return Literal(str(value), datatype=datatype or natural)

    return make


def _encode(text: str) -> str:
    """Section 7.3; beyond ASCII, all that the cases have are letters."""
    return "".join(c if ord(c) > 127 else quote(c, safe="-._~") for c in text)
