"""Flattens a logical table into the tables and conditions of a mapping's source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ontoweir.errors import Source
from ontoweir.mappings.compile.open_views import open_views
from ontoweir.mappings.model.assertion import MappingSource, SourceColumn, SourceTable
from ontoweir.mappings.model.catalog import Catalog, ColumnType, Scalar, Stream
from ontoweir.mappings.model.column_types import XSD, natural_datatype
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.r2rml.r2rml_document import TriplesMap
from ontoweir.mappings.sql.find_duplicates import Duplicates, find_duplicates
from ontoweir.mappings.sql.read_expression import SourceText
from ontoweir.mappings.sql.read_scope import (
    Scope,
    SqlRefusal,
    column_names,
    find_name,
    find_table,
)
from ontoweir.mappings.sql.read_select import MappingValue, SelectShape
from ontoweir.mappings.sql_expressions.read_mapping_query import read_mapping_query


@dataclass(frozen=True, slots=True)
class FlatTable:
    """A flattened logical table, or one part of it (of a UNION, or of an OR): its source, and its
    output columns by name."""

    key: str
    source: MappingSource
    columns: dict[str, MappingValue]
    scope: Scope
    stream_alias: str | None
    repeats: Duplicates = frozenset()
    """Why rows may repeat that DISTINCT or UNION drops; else the columns that must not be NULL so
    that none does."""

    def column(self, name: str, owner: TriplesMap, at: Source) -> SourceColumn:
        """The output column `name`, which must be a table's column.

        Raises:
            MappingError: there is none, or it is computed.
        """
        known = self.value(name, owner, at)
        if not isinstance(known, SourceColumn):
            raise owner.error(
                f"the column {name!r} is computed",
                why="rows are joined by columns of tables",
                fix="join by the columns it is computed from",
                at=at,
            )
        return known

    def value(self, name: str, owner: TriplesMap, at: Source) -> MappingValue:
        """The output column `name`, which may be written in double quotes.

        Raises:
            MappingError: there is none.
        """
        bare = name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in '"`' else name
        known = find_name(bare, self.columns)
        if known is None:
            tables = ", ".join(repr(t.table) for t in self.source.tables)
            raise owner.error(
                f"unknown column {bare!r} of {tables}",
                why=f"the logical table has {', '.join(self.columns) or 'no columns'}",
                fix=did_you_mean(bare, self.columns),
                at=at,
            )
        return self.columns[known]

    def why_repeats(self, used: Iterable[SourceColumn]) -> str | None:
        """Why a triple made from the columns `used` may repeat that DISTINCT or UNION drops."""
        if isinstance(self.repeats, str):
            return self.repeats
        missing = self.repeats.difference(used)
        return f"the key {min(missing).column} may be NULL" if missing else None

    def type_of(self, column: SourceColumn) -> ColumnType:
        """The declared type of a column."""
        return self.scope.type_of(column)


def flatten_table(owner: TriplesMap, catalog: Catalog) -> tuple[FlatTable, ...]:
    """The logical table of a triples map: one part for each SELECT under UNION and each
    alternative of OR, which exclude each other.

    UNION is read like UNION ALL, and DISTINCT like none: the triples are the same. Where a triple
    could then count more often, the part is marked (`repeats`).

    Raises:
        MappingError: an unknown table, SQL beyond select-project-join-union, or a join of two
            streams.
    """
    table = owner.table
    try:
        text = table.query
        if text is None:
            bare = (table.name or "").strip().strip('"`')
            opened = open_views(f"SELECT * FROM `{bare}`", catalog)
            return (_read_name(bare, catalog),) if opened is None else _read_opened(opened, catalog)
        opened = open_views(text.strip().rstrip(";"), catalog)
        return _read_query(text, catalog) if opened is None else _read_opened(opened, catalog)
    except SqlRefusal as error:
        at = Source(table.source.file, (table.source.line or 1) + (error.line or 1) - 1)
        raise owner.error(str(error.what), why=error.why, fix=error.fix, at=at) from None


def _read_opened(text: str, catalog: Catalog) -> tuple[FlatTable, ...]:
    """A query in which views are opened, whose lines are not those of the mapping."""
    try:
        return _read_query(text, catalog)
    except SqlRefusal as error:
        why = f"{error.why}; with its views it is {text}"
        raise SqlRefusal(error.what, why=why, fix=error.fix) from None


def _read_name(bare: str, catalog: Catalog) -> FlatTable:
    table = find_table(bare, catalog)
    scope = Scope(catalog, {table.name: table})
    return FlatTable(
        f"table {table.name}",
        MappingSource((SourceTable(table.name, table.name),)),
        {c: SourceColumn(table.name, c) for c in column_names(table)},
        scope,
        table.name if isinstance(table, Stream) else None,
    )


def _read_query(text: str, catalog: Catalog) -> tuple[FlatTable, ...]:
    union, derived = read_mapping_query(text.strip().rstrip(";"), catalog)
    names = [name for name, _ in union.selects[0].values]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise SqlRefusal(
            f"two columns {twice!r} in SELECT",
            why="term maps name columns, so their names must differ",
            fix=f"write AS {twice}2 after one of them",
            line=union.selects[0].line,
        )
    parts = [
        replace(part, repeats=repeats)
        for shape, repeats in zip(
            union.selects, find_duplicates(union, names, catalog), strict=True
        )
        for part in _read_shape(" ".join(text.split()), names, shape, derived)
    ]
    if not parts:
        raise SqlRefusal(
            "a condition that never holds",
            why="the triples map makes no triple",
            fix="correct the condition",
            line=union.selects[0].line,
        )
    kinds = {n: _datatypes(n, parts) for n in names}
    mixed = next((n for n in names if len(kinds[n]) > 1), None)
    if mixed is not None:
        raise SqlRefusal(
            f"a UNION whose column {mixed} has several types",
            why="SQL converts values there, and literals would be other ones",
            fix="write one triples map for each part",
            line=union.selects[0].line,
        )
    if len({part.stream_alias is None for part in parts}) > 1:
        raise SqlRefusal(
            "a UNION of a stream and a static relation",
            why="some of its triples would hold at a timestamp, others always",
            fix="write one triples map for each part",
            line=union.selects[0].line,
        )
    return tuple(parts)


def _read_shape(
    text: str, names: list[str], shape: SelectShape, derived: tuple[tuple[str, Expression], ...]
) -> list[FlatTable]:
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
        FlatTable(
            f"query {text}",
            MappingSource(shape.tables, conditions, derived),
            columns,
            shape.scope,
            streams[0] if streams else None,
        )
        for conditions in shape.alternatives
    ]


def _datatypes(name: str, parts: list[FlatTable]) -> set[str | None]:
    datatypes: set[str | None] = set()
    for part in parts:
        value = part.columns[name]
        if isinstance(value, SourceColumn):
            datatypes.add(natural_datatype(part.type_of(value)))
        else:
            datatypes.add(None if isinstance(value, SourceText) else constant_datatype(value))
    return datatypes


def constant_datatype(value: Scalar) -> str | None:
    """The datatype of a literal made from a constant in SQL; None of a string."""
    if isinstance(value, bool):
        return XSD + "boolean"
    if isinstance(value, str):
        return None
    names = {int: "integer", float: "double"}
    return XSD + names.get(type(value), "decimal")
