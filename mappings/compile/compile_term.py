"""Compiles a term map over a flattened logical table: its columns become the catalog's."""

from __future__ import annotations

from typing import TypeAlias

from ontoweir.mappings.compile.flatten_table import FlatTable, constant_datatype
from ontoweir.mappings.functions.percent_encode import percent_encode
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    SourceColumn,
    TemplateMap,
    TermMap,
)
from ontoweir.mappings.model.catalog import IntType, Scalar
from ontoweir.mappings.model.column_types import XSD, natural_datatype
from ontoweir.mappings.r2rml.mapping_file import has_scheme
from ontoweir.mappings.r2rml.r2rml_document import AnyTerm, RdfTerm, RowTerm, TriplesMap
from ontoweir.mappings.sql.read_expression import SourceText
from ontoweir.mappings.sql.read_select import MappingValue


def compile_term(owner: TriplesMap, term: AnyTerm, table: FlatTable, base: str) -> TermMap:
    """The term map over the columns of the catalog.

    Args:
        owner: the triples map it is of.
        term: the term map.
        table: the logical table of `owner`, or one part of it.
        base: goes before relative IRIs.

    Raises:
        MappingError: an unknown column; a template without column; a computed text with a
            datatype, or as an IRI.
    """
    if isinstance(term, RdfTerm):
        return ConstantMap(term.value, term.kind == "iri", _plain(term.datatype), term.language)
    if not term.is_template:
        return _compile_column(owner, term, table, base)
    parts = _compile_parts(owner, term, table)
    if term.kind == "iri" and not has_scheme(parts[0] if isinstance(parts[0], str) else ""):
        # a relative IRI: values are encoded, so they give no scheme
        parts = (base + parts[0], *parts[1:]) if isinstance(parts[0], str) else (base, *parts)
    if all(isinstance(p, str) for p in parts):
        return _fix_term(owner, term, "".join(map(str, parts)), term.datatype)
    return TemplateMap(parts, term.kind, _plain(term.datatype), term.language)


def _plain(datatype: str | None) -> str | None:
    return None if datatype == XSD + "string" else datatype


def _compile_column(owner: TriplesMap, term: RowTerm, table: FlatTable, base: str) -> TermMap:
    name = term.parts[0][1]
    value = table.value(name, owner, term.source)
    if not isinstance(value, SourceColumn):
        return _compile_computed(owner, term, value, table, base)
    if term.kind != "literal":
        return TemplateMap((value,), term.kind)
    if term.language is None and term.datatype is None:
        return ColumnMap(value, natural_datatype(table.type_of(value)))
    return ColumnMap(value, _plain(term.datatype), term.language)


def _fix_term(owner: TriplesMap, term: RowTerm, text: str, datatype: str | None) -> ConstantMap:
    """A term that is the same for all rows, as constants in the mapping's SQL make it."""
    if term.kind == "blank":
        raise owner.error(
            f"{_show(term)!r} makes one blank node for all rows",
            why="in SQL it is a constant",
            fix="use a column",
            at=term.source,
        )
    return ConstantMap(text, term.kind == "iri", _plain(datatype), term.language)


def _show(term: RowTerm) -> str:
    if not term.is_template:
        return term.parts[0][1]
    return "".join(f"{{{text}}}" if is_column else text for is_column, text in term.parts)


_Value: TypeAlias = SourceText | Scalar


def _compile_computed(
    owner: TriplesMap, term: RowTerm, value: _Value, table: FlatTable, base: str
) -> TermMap:
    """A term of a column that the mapping's SQL computes: a text, or a constant."""
    name = term.parts[0][1]
    if not isinstance(value, SourceText):
        natural = term.datatype or (constant_datatype(value) if term.language is None else None)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if term.kind == "iri" and not has_scheme(text):
            text = base + text
        return _fix_term(owner, term, text, natural)
    if term.kind == "literal" and _plain(term.datatype) is not None:
        raise owner.error(
            f"the computed text {name!r} with a datatype",
            why="whether it has that datatype is not known before it runs",
            fix="remove rr:datatype, or select the column itself",
            at=term.source,
        )
    columns = [p for p in value.parts if isinstance(p, SourceColumn)]
    if term.kind == "iri" and not all(isinstance(table.type_of(c), IntType) for c in columns):
        raise owner.error(
            f"an IRI from the computed text {name!r}",
            why="rr:column is taken as it is, and strings may hold what IRIs do not",
            fix="write rr:template, which percent-encodes",
            at=term.source,
        )
    parts = value.parts
    if term.kind == "iri" and not has_scheme(parts[0] if isinstance(parts[0], str) else ""):
        parts = (base + parts[0], *parts[1:]) if isinstance(parts[0], str) else (base, *parts)
    if not columns:
        return _fix_term(owner, term, "".join(map(str, parts)), None)
    return TemplateMap(parts, term.kind, None, term.language)


def _compile_parts(
    owner: TriplesMap, term: RowTerm, table: FlatTable
) -> tuple[str | SourceColumn, ...]:
    if not any(is_column for is_column, _ in term.parts):
        raise owner.error(
            f"the template {_show(term)!r} has no column",
            why="every row would make the same term",
            fix="write rr:constant, or {column} in the template",
            at=term.source,
        )
    compiled: list[str | SourceColumn] = []
    for is_column, piece in term.parts:
        value: MappingValue = table.value(piece, owner, term.source) if is_column else piece
        if isinstance(value, bool):
            value = str(value).lower()
        for part in value.parts if isinstance(value, SourceText) else (value,):
            fixed = part if isinstance(part, SourceColumn) else str(part)
            if isinstance(fixed, str) and is_column and term.kind == "iri":
                fixed = percent_encode(fixed)
            if isinstance(fixed, str) and compiled and isinstance(compiled[-1], str):
                compiled[-1] += fixed
            else:
                compiled.append(fixed)
    return tuple(p for p in compiled if p != "") or ("",)
