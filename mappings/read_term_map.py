"""Reads subject and object maps: constant, column or template, with type, datatype, language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontoweir.mappings.assertion import (
    ColumnMap,
    ConstantMap,
    SourceColumn,
    TemplateMap,
    TermKind,
    TermMap,
)
from ontoweir.mappings.column_types import XSD, natural_datatype
from ontoweir.mappings.parse_template import parse_template
from ontoweir.mappings.read_graph import RR, Place
from ontoweir.mappings.read_logical_table import LogicalTable

if TYPE_CHECKING:
    from rdflib.term import Node

_KINDS: dict[str, TermKind] = {
    RR + "IRI": "iri",
    RR + "BlankNode": "blank",
    RR + "Literal": "literal",
}


def read_constant(place: Place, node: Node) -> ConstantMap:
    """A constant IRI or literal.

    Raises:
        MappingError: a blank node.
    """
    from rdflib import Literal, URIRef

    if isinstance(node, URIRef):
        return ConstantMap(str(node), is_iri=True)
    if isinstance(node, Literal):
        datatype = None if node.datatype is None else str(node.datatype)
        return ConstantMap(
            str(node), False, None if datatype == XSD + "string" else datatype, node.language
        )
    raise place.error("a blank node as constant", why="R2RML", fix="write an IRI or a literal")


def read_term_map(place: Place, node: Node, table: LogicalTable, *, subject: bool) -> TermMap:
    """The term map `node`.

    Raises:
        MappingError: not exactly one of rr:constant, rr:column, rr:template; a bad template; an
            unknown column; a type that does not fit.
    """
    file = place.file
    given = {k: file.value(node, k, place) for k in ("constant", "column", "template")}
    present = [k for k, v in given.items() if v is not None]
    if len(present) != 1:
        raise place.error(
            f"a term map with {' and '.join('rr:' + k for k in present) or 'no value'}",
            why="it has exactly one of rr:constant, rr:column, rr:template",
            fix="keep one of them",
        )
    if (constant := given["constant"]) is not None:
        return read_constant(place, constant)
    if file.values(node, "inverseExpression"):
        raise place.error(
            "rr:inverseExpression is not read",
            why="columns are compared by themselves",
            fix="remove it",
            near="inverseExpression",
        )
    datatype_node = file.value(node, "datatype", place)
    language_node = file.value(node, "language", place)
    datatype = None if datatype_node is None else str(datatype_node)
    language = None if language_node is None else str(language_node).lower()
    if datatype is not None and language is not None:
        raise place.error(
            "rr:datatype and rr:language",
            why="a literal has a language tag or another datatype",
            fix="keep one of them",
            near=datatype,
        )
    kind = _read_kind(
        place, node, subject, present[0], datatype is not None or language is not None
    )
    plain = None if datatype == XSD + "string" else datatype
    text = str(given[present[0]])
    if present[0] == "column":
        column = table.column(text, place, text)
        if kind != "literal":
            return TemplateMap((column,), kind)
        if language is None and datatype is None:
            plain = natural_datatype(table.type_of(column))
        return ColumnMap(column, plain, language)
    return TemplateMap(_read_parts(place, text, table), kind, plain, language)


def _read_kind(
    place: Place, node: Node, subject: bool, value: str, literal_marks: bool
) -> TermKind:
    given = place.file.value(node, "termType", place)
    if given is None:
        is_literal = not subject and (value == "column" or literal_marks)
        return "literal" if is_literal else "iri"
    kind = _KINDS.get(str(given))
    if kind is None or (subject and kind == "literal") or (kind != "literal" and literal_marks):
        raise place.error(
            f"rr:termType {given}",
            why="a subject is rr:IRI or rr:BlankNode"
            if subject
            else "it is rr:IRI, rr:BlankNode, or rr:Literal, alone with a datatype or language",
            fix="correct rr:termType",
            near="termType",
        )
    return kind


def _read_parts(place: Place, text: str, table: LogicalTable) -> tuple[str | SourceColumn, ...]:
    parts = parse_template(text)
    if parts is None:
        raise place.error(
            f"the template {text!r} has braces that do not match",
            why="columns are written {column}, a brace itself \\\\{",
            fix="mend the template",
            near=text,
        )
    if not any(is_column for is_column, _ in parts):
        raise place.error(
            f"the template {text!r} has no column",
            why="every row would make the same term",
            fix="write rr:constant, or {column} in the template",
            near=text,
        )
    return tuple(table.column(t, place, text) if is_column else t for is_column, t in parts)
