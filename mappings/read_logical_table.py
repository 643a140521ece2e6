"""Reads rr:logicalTable into the tables and conditions of a mapping's source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.assertion import MappingSource, SourceColumn, SourceTable
from ontoweir.mappings.catalog import Catalog, ColumnType, Stream
from ontoweir.mappings.locate_turtle import locate_text
from ontoweir.mappings.read_graph import Place
from ontoweir.mappings.read_scope import (
    Scope,
    SqlRefusal,
    column_names,
    find_name,
    find_table,
    is_timestamp,
)
from ontoweir.mappings.read_select import read_select
from ontoweir.mappings.read_table import did_you_mean

if TYPE_CHECKING:
    from rdflib.term import Node


@dataclass(frozen=True, slots=True)
class LogicalTable:
    """A flattened logical table: its source, and its output columns by name."""

    key: str
    source: MappingSource
    columns: dict[str, SourceColumn]
    scope: Scope
    stream_alias: str | None

    def column(self, name: str, place: Place, near: str) -> SourceColumn:
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


def read_logical_table(place: Place, node: Node, catalog: Catalog) -> LogicalTable:
    """The logical table of the triples map `node`.

    Raises:
        MappingError: none, several, an unknown table, SQL beyond select-project-join, or a join
            of two streams.
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
        logical = _read_query(place, text, catalog) if name is None else _read_name(text, catalog)
    except SqlRefusal as error:
        line = locate_text(file.text, text, place.block) + (error.line or 1) - 1
        raise MappingError(
            f"{place.name}: {error.what}",
            why=error.why,
            fix=error.fix,
            source=Source(file.shown, line),
        ) from None
    return logical


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


def _read_query(place: Place, text: str, catalog: Catalog) -> LogicalTable:
    union = read_select(text.strip().rstrip(";"), catalog)
    if len(union.selects) > 1:
        raise SqlRefusal(
            "UNION in a mapping",
            why="a logical table is select-project-join",
            fix="write one triples map for each part",
        )
    shape = union.selects[0]
    if len(shape.alternatives) != 1:
        raise SqlRefusal(
            "OR or IN in a mapping" if shape.alternatives else "a condition that never holds",
            why="a logical table is select-project-join with a conjunction of comparisons",
            fix="write one triples map for each case",
            line=shape.line,
        )
    columns: dict[str, SourceColumn] = {}
    for name, value in shape.projections:
        if not isinstance(value, SourceColumn):
            raise SqlRefusal(
                f"the constant {value!r} AS {name} in a mapping",
                why="a constant belongs into the term map",
                fix="use rr:constant or a template",
                line=shape.line,
            )
        columns[name] = value
    streams = [t.alias for t in shape.tables if isinstance(shape.scope.tables[t.alias], Stream)]
    if len(streams) > 1:
        raise SqlRefusal(
            f"a mapping over two streams, {' and '.join(streams)}",
            why="its triples would hold at two timestamps",
            fix="map each stream by itself and join them in the query, in two GRAPH blocks",
            line=shape.line,
        )
    return LogicalTable(
        "query " + " ".join(text.split()),
        MappingSource(shape.tables, shape.alternatives[0]),
        columns,
        shape.scope,
        streams[0] if streams else None,
    )


def is_application_time(table: LogicalTable, column: SourceColumn) -> bool:
    """Whether a column of the logical table is a stream's timestamp."""
    return is_timestamp(table.scope.tables[column.alias], column.column)
