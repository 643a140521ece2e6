"""R2RML as functions from rows to terms: what the standard says, of what cases use."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias
from urllib.parse import quote

from rdflib import XSD, BNode, Graph, Literal, Namespace, URIRef
from rdflib.term import Node

RR = Namespace("http://www.w3.org/ns/r2rml#")
DEFAULT = URIRef(RR.defaultGraph)
_SEPARATOR = "\x01"
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
        texts = {n: _split_typed(row[n])[0] for n in names}
        if kind == RR.Literal:
            return Literal(_COLUMN.sub(lambda m: texts[m[1]], template))
        text = _COLUMN.sub(lambda m: _encode(texts[m[1]]), template)
        return BNode(text) if kind == RR.BlankNode else URIRef(text)

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
        text, natural = _split_typed(value)
        if kind == RR.IRI:
            return URIRef(text)
        if language is not None:
            return Literal(text, lang=language)
        return Literal(text, datatype=datatype or natural)

    return make


def write_typed(text: str, kind: str) -> str:
    """A value of a type that SQLite does not have, as a text: its type and its lexical form."""
    if kind.startswith("decimal"):
        shown = format(Decimal(text).normalize(), "f")
        return f"{XSD.decimal}{_SEPARATOR}{shown}"
    if kind == "timestamp":
        shown = datetime.fromisoformat(text).isoformat()
        shown = shown.rstrip("0") if "." in shown else shown
        return f"{XSD.dateTime}{_SEPARATOR}{shown}"
    return f"{XSD[kind]}{_SEPARATOR}{text}"


def _split_typed(value: object) -> tuple[str, str | None]:
    """The lexical form of a cell, and its natural datatype (None: string)."""
    match value:
        case bool():
            return str(value).lower(), str(XSD.boolean)
        case int():
            return str(value), str(XSD.integer)
        case float():
            return str(value), str(XSD.double)
        case Decimal():
            return _split_typed(write_typed(str(value), "decimal"))
        case datetime():
            return _split_typed(write_typed(str(value), "timestamp"))
        case date():
            return value.isoformat(), str(XSD.date)
        case str():
            datatype, _, text = value.rpartition(_SEPARATOR)
            return text, datatype or None
        case _:
            raise TypeError(f"{value!r} is no cell")


def _encode(text: str) -> str:
    """Section 7.3; beyond ASCII, all that the cases have are letters."""
    return "".join(c if ord(c) > 127 else quote(c, safe="-._~") for c in text)
