"""Makes RDF terms from rows, in N-Quads syntax: https://www.w3.org/TR/r2rml/#generated-rdf-term."""

from collections.abc import Callable
from typing import TypeAlias

from ontoweir.errors import DataError
from ontoweir.mappings.functions.percent_encode import percent_encode
from ontoweir.mappings.materialize.map_sql_value import SqlValue, fit_datatype, write_plainly
from ontoweir.mappings.materialize.read_rows import Row, RowTable
from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.r2rml.mapping_file import NO_IRI, has_scheme
from ontoweir.mappings.r2rml.r2rml_document import AnyTerm, RdfTerm, RowTerm

TermMaker: TypeAlias = Callable[[Row], str | None]
"""The term of a row; None where a column is NULL."""


def make_term(term: AnyTerm, table: RowTable, base: str) -> TermMaker:
    """A function from rows of `table` to the term that a term map makes.

    Raises:
        MappingError: a column that the table does not have.
    """
    if isinstance(term, RdfTerm):
        shown = (
            f"<{term.value}>"
            if term.kind == "iri"
            else _write_literal(term.value, term.datatype, term.language)
        )
        return lambda _: shown
    parts: list[int | str] = [
        table.position(text, term.source) if is_column else text for is_column, text in term.parts
    ]

    def make(row: Row) -> str | None:
        values: list[SqlValue | str] = []
        for part in parts:
            cell = row[part] if isinstance(part, int) else part
            if cell is None:
                return None
            values.append(cell)
        match term.kind:
            case "iri":
                return _make_iri(term, values, base)
            case "blank":
                return _make_blank("".join(map(_write, values)))
            case "literal":
                return _make_literal(term, values)

    return make


def _write(value: SqlValue | str) -> str:
    return value if isinstance(value, str) else write_plainly(value)


def _make_iri(term: RowTerm, values: list[SqlValue | str], base: str) -> str:
    """Section 7.3: values in templates are percent-encoded, columns alone are taken as they are;
    what has no scheme follows the base IRI, by simple concatenation."""
    text = "".join(
        v
        if isinstance(v, str)
        else percent_encode(write_plainly(v))
        if term.is_template
        else write_plainly(v)
        for v in values
    )
    if not has_scheme(text):
        text = base + text
    if NO_IRI.search(text):
        raise DataError(
            f"{text!r} is not an IRI",
            why="the column has characters that IRIs do not have",
            fix="use rr:template, which percent-encodes, or correct the data",
            source=term.source,
        )
    return f"<{text}>"


def _make_blank(text: str) -> str:
    """A label for the text, another one for every other text."""
    return "_:b" + "".join(c if c.isascii() and c.isalnum() else f"-{ord(c):x}-" for c in text)


def _make_literal(term: RowTerm, values: list[SqlValue | str]) -> str:
    if term.is_template or isinstance(values[0], str):
        value = SqlValue("".join(map(_write, values)), "")
    else:
        value = values[0]
    if term.language is not None:
        return _write_literal(write_plainly(value), None, term.language)
    if term.datatype is None:
        return _write_literal(value.text, XSD + value.kind if value.kind else None, None)
    if not term.datatype.startswith(XSD):
        return _write_literal(write_plainly(value), term.datatype, None)
    text = fit_datatype(value, term.datatype.removeprefix(XSD))
    if text is None:
        raise DataError(
            f"{value.text!r} is not an xsd:{term.datatype.removeprefix(XSD)}",
            why="rr:datatype says that it is, and literals are well-typed",
            fix="correct rr:datatype, or the data",
            source=term.source,
        )
    return _write_literal(text, term.datatype, None)


def _write_literal(text: str, datatype: str | None, language: str | None) -> str:
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    )
    if language is not None:
        return f'"{escaped}"@{language}'
    if datatype is None or datatype == XSD + "string":
        return f'"{escaped}"'
    return f'"{escaped}"^^<{datatype}>'
