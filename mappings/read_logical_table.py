"""Reads rr:logicalTable into the tables and conditions of a mapping's source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.assertion import MappingSource, SourceColumn, SourceTable
from ontoweir.mappings.catalog import Catalog, ColumnType, Scalar, Stream
from ontoweir.mappings.column_types import XSD, natural_datatype
from ontoweir.mappings.locate_turtle import locate_text
from ontoweir.mappings.read_expression import SourceText
from ontoweir.mappings.read_graph import Place
from ontoweir.mappings.read_scope import (
    Scope,
    SqlRefusal,
    column_names,
    find_name,
    find_table,
    is_timestamp,
)
from ontoweir.mappings.read_select import MappingValue, SelectShape, read_select
from ontoweir.mappings.read_table import did_you_mean

if TYPE_CHECKING:
    from rdflib.term import Node


@dataclass(frozen=True, slots=True)
class LogicalTable:
    """A flattened logical table, or one part of it (of a UNION, or of an OR): its source, and its
    output columns by name."""

    key: str
    source: MappingSource
    columns: dict[str, MappingValue]
    scope: Scope
    stream_alias: str | None

    def column(self, name: str, place: Place, near: str) -> SourceColumn:
        """The output column `name`, which must be a table's column.

        Raises:
            MappingError: there is none, or it is computed.
        """
        found = self.value(name, place, near)
        if not isinstance(found, SourceColumn):
            raise place.error(
                f"the column {name!r} is computed",
                why="rows are joined by columns of tables",
                fix="join by the columns it is computed from",
                near=near,
            )
        return found

    def value(self, name: str, place: Place, near: str) -> MappingValue:
        """The output column `name`, which may be written in double quotes.

        Raises:
            MappingError: there is none.
        """
        bare = name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in '"`' else name
        found = find_name(bare, self.columns)
        if found is None:
            tables = ", ".join(repr(t.table) for t in self.source.tables)
            raise place.error(
                f"unknown column {bare!r} of {tables}",
                why=f"the logical table has {', '.join(self.columns) or 'no columns'}",
                fix=did_you_mean(bare, self.columns),
                near=near,
            )
        return self.columns[found]

    def type_of(self, column: SourceColumn) -> ColumnType:
        """The declared type of a column."""
        return self.scope.type_of(column)


def read_logical_table(place: Place, node: Node, catalog: Catalog) -> tuple[LogicalTable, ...]:
    """The logical table of the triples map `node`: one part for each SELECT under UNION and each
    alternative of OR, which exclude each other.

    UNION is read like UNION ALL, and DISTINCT like none: the triples are the same. SELECT without
    DISTINCT counts a triple once for each row that makes it, so parts should not overlap
    (docs/semantics.md).

    Raises:
        MappingError: none, several, an unknown table, SQL beyond select-project-join-union, or a
            join of two streams.
    """
    from rdflib import Literal

    file = place.file
    table = file.value(node, "logicalTable", place)
    name = file.value(table, "tableName", place) if table is not None else None
    query = file.value(table, "sqlQuery", place) if table is not None else None
    if (name is None) == (query is None):
        raise place.error(
            "no rr:tableName or rr:sqlQuery" if name is None else "rr:tableName and rr:sqlQuery",
            why="a triples map has one logical table",
            fix='write rr:logicalTable [ rr:tableName "…" ]',
        )
    given = name if name is not None else query
    if not isinstance(given, Literal):
        raise place.error("the logical table is no string", why="R2RML", fix="write a string")
    text = str(given)
    try:
        return _read_query(text, catalog) if name is None else (_read_name(text, catalog),)
    except SqlRefusal as error:
        line = locate_text(file.text, text, place.block) + (error.line or 1) - 1
        raise MappingError(
            f"{place.name}: {error.what}",
            why=error.why,
            fix=error.fix,
            source=Source(file.shown, line),
        ) from None


def _read_name(text: str, catalog: Catalog) -> LogicalTable:
    bare = text.strip().strip('"`')
    table = find_table(bare, catalog)
    scope = Scope(catalog, {table.name: table})
    return LogicalTable(
        f"table {table.name}",
        MappingSource((SourceTable(table.name, table.name),)),
        {c: SourceColumn(table.name, c) for c in column_names(table)},
        scope,
        table.name if isinstance(table, Stream) else None,
    )


def _read_query(text: str, catalog: Catalog) -> tuple[LogicalTable, ...]:
    union = read_select(text.strip().rstrip(";"), catalog, mapping=True)
    names = [name for name, _ in union.selects[0].values]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise SqlRefusal(
            f"two columns {twice!r} in SELECT",
            why="term maps name columns, so their names must differ",
            fix=f"write AS {twice}2 after one of them",
            line=union.selects[0].line,
        )
    found = [
        part
        for shape in union.selects
        for part in _read_shape(" ".join(text.split()), names, shape)
    ]
    if not found:
        raise SqlRefusal(
            "a condition that never holds",
            why="the triples map makes no triple",
            fix="correct the condition",
            line=union.selects[0].line,
        )
    kinds = {n: _datatypes(n, found) for n in names}
    mixed = next((n for n in names if len(kinds[n]) > 1), None)
    if mixed is not None:
        raise SqlRefusal(
            f"a UNION whose column {mixed} has several types",
            why="SQL converts values there, and literals would be other ones",
            fix="write one triples map for each part",
            line=union.selects[0].line,
        )
    if len({part.stream_alias is None for part in found}) > 1:
        raise SqlRefusal(
            "a UNION of a stream and a static relation",
            why="some of its triples would hold at a timestamp, others always",
            fix="write one triples map for each part",
            line=union.selects[0].line,
        )
    return tuple(found)


def _read_shape(text: str, names: list[str], shape: SelectShape) -> list[LogicalTable]:
    if len(shape.values) != len(names):
        raise SqlRefusal(
            f"a UNION of {len(names)} and {len(shape.values)} columns",
            why="its parts must have the same number of columns",
            fix="select as many columns in every part",
            line=shape.line,
        )
    streams = [t.alias for t in shape.tables if isinstance(shape.scope.tables[t.alias], Stream)]
    if len(streams) > 1:
        raise SqlRefusal(
            f"a mapping over two streams, {' and '.join(streams)}",
            why="its triples would hold at two timestamps",
            fix="map each stream by itself and join them in the query, in two GRAPH blocks",
            line=shape.line,
        )
    columns = dict(zip(names, (value for _, value in shape.values), strict=True))
    return [
        LogicalTable(
            f"query {text}",
            MappingSource(shape.tables, conditions),
            columns,
            shape.scope,
            streams[0] if streams else None,
        )
        for conditions in shape.alternatives
    ]


def _datatypes(name: str, parts: list[LogicalTable]) -> set[str | None]:
    found: set[str | None] = set()
    for part in parts:
        value = part.columns[name]
        if isinstance(value, SourceColumn):
            found.add(natural_datatype(part.type_of(value)))
        else:
            found.add(None if isinstance(value, SourceText) else constant_datatype(value))
    return found


def constant_datatype(value: Scalar) -> str | None:
    """The datatype of a literal made from a constant in SQL; None of a string."""
    if isinstance(value, bool):
        return XSD + "boolean"
    if isinstance(value, str):
        return None
    names = {int: "integer", float: "double"}
    return XSD + names.get(type(value), "decimal")


def is_application_time(table: LogicalTable, column: SourceColumn) -> bool:
    """Whether a column of the logical table is a stream's timestamp."""
    return is_timestamp(table.scope.tables[column.alias], column.column)
