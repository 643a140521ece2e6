"""Reads subject and object maps: constant, column or template, with type, datatype, language."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.assertion import (
    ColumnMap,
    ConstantMap,
    SourceColumn,
    TemplateMap,
    TermKind,
    TermMap,
)
from ontoweir.mappings.catalog import IntType, Scalar
from ontoweir.mappings.column_types import XSD, natural_datatype
from ontoweir.mappings.parse_template import parse_template
from ontoweir.mappings.percent_encode import percent_encode
from ontoweir.mappings.read_expression import SourceText
from ontoweir.mappings.read_graph import RR, Place, base_of, check_language, has_scheme
from ontoweir.mappings.read_logical_table import LogicalTable, constant_datatype
from ontoweir.mappings.read_select import MappingValue

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
    datatype_node = file.value(node, "datatype", place)
    language_node = file.value(node, "language", place)
    datatype = None if datatype_node is None else str(datatype_node)
    language = None if language_node is None else str(language_node).lower()
    if language is not None:
        check_language(place, language)
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
        column = table.value(text, place, text)
        if not isinstance(column, SourceColumn):
            return _read_computed(place, text, column, table, (kind, datatype, language))
        if kind != "literal":
            return TemplateMap((column,), kind)
        if language is None and datatype is None:
            plain = natural_datatype(table.type_of(column))
        return ColumnMap(column, plain, language)
    parts = _read_parts(place, text, table, encoded=kind == "iri")
    if kind == "iri" and not has_scheme(parts[0] if isinstance(parts[0], str) else ""):
        base = base_of(place.file)  # a relative IRI: values are encoded, so they give no scheme
        parts = (base + parts[0], *parts[1:]) if isinstance(parts[0], str) else (base, *parts)
    if all(isinstance(p, str) for p in parts):
        return _fix_term(place, text, "".join(map(str, parts)), (kind, plain, language))
    return TemplateMap(parts, kind, plain, language)


_Marks: TypeAlias = tuple[TermKind, str | None, str | None]
"""What kind of term, of which datatype or language."""


def _fix_term(place: Place, near: str, text: str, marks: _Marks) -> ConstantMap:
    """A term that is the same for all rows, as constants in the mapping's SQL make it."""
    kind, datatype, language = marks
    if kind == "blank":
        raise place.error(
            f"{near!r} makes one blank node for all rows",
            why="in SQL it is a constant",
            fix="use a column",
            near=near,
        )
    return ConstantMap(text, kind == "iri", datatype, language)


def _read_computed(
    place: Place, name: str, value: SourceText | Scalar, table: LogicalTable, marks: _Marks
) -> TermMap:
    """A term of a column that the mapping's SQL computes: a text, or a constant."""
    kind, datatype, language = marks
    if not isinstance(value, SourceText):
        natural = datatype or (constant_datatype(value) if language is None else None)
        plain = None if natural == XSD + "string" else natural
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return _fix_term(place, name, text, (kind, plain, language))
    if kind == "literal" and datatype not in (None, XSD + "string"):
        raise place.error(
            f"the computed text {name!r} with a datatype",
            why="whether it has that datatype is not known before it runs",
            fix="remove rr:datatype, or select the column itself",
            near=name,
        )
    columns = [p for p in value.parts if isinstance(p, SourceColumn)]
    if kind == "iri" and not all(isinstance(table.type_of(c), IntType) for c in columns):
        raise place.error(
            f"an IRI from the computed text {name!r}",
            why="rr:column is taken as it is, and strings may hold what IRIs do not",
            fix="write rr:template, which percent-encodes",
            near=name,
        )
    if not columns:
        return _fix_term(place, name, "".join(map(str, value.parts)), (kind, None, language))
    return TemplateMap(value.parts, kind, None, language)


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


def _read_parts(
    place: Place, text: str, table: LogicalTable, *, encoded: bool
) -> tuple[str | SourceColumn, ...]:
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
    found: list[str | SourceColumn] = []
    for is_column, piece in parts:
        value: MappingValue = table.value(piece, place, text) if is_column else piece
        if isinstance(value, bool):
            value = str(value).lower()
        for part in value.parts if isinstance(value, SourceText) else (value,):
            fixed = part if isinstance(part, SourceColumn) else str(part)
            if isinstance(fixed, str) and is_column and encoded:
                fixed = percent_encode(fixed)
            if isinstance(fixed, str) and found and isinstance(found[-1], str):
                found[-1] += fixed
            else:
                found.append(fixed)
    return tuple(p for p in found if p != "")
