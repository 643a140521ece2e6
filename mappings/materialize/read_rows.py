"""Runs the logical tables of an R2RML document on an SQLite database."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ontoweir.errors import DataError, MappingError, Source
from ontoweir.mappings.materialize.map_sql_value import SqlValue, map_sql_value
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.r2rml.r2rml_document import LogicalTable

Row: TypeAlias = Sequence[SqlValue | None]
"""One row: the values of a table's columns, in their order."""


@dataclass(frozen=True, slots=True)
class RowTable:
    """A logical table on the database: its SQL, its columns and their declared types."""

    sql: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    source: Source

    def position(self, written: str, source: Source) -> int:
        """The position of the column that a term map names.

        `"Name"` in double quotes is that column, spelled exactly. Name without quotes is the
        column of that spelling, else, as SQLite's names have no case, the only one that differs
        by case.

        Raises:
            MappingError: there is none.
        """
        name, delimited = unquote_name(written)
        if name in self.columns:
            return self.columns.index(name)
        folded = [i for i, c in enumerate(self.columns) if c.lower() == name.lower()]
        if len(folded) == 1 and not delimited:
            return folded[0]
        raise MappingError(
            f"unknown column {written!r}",
            why=f"the logical table has {', '.join(self.columns)}"
            + ("; names in quotes are spelled exactly" if folded and delimited else ""),
            fix=did_you_mean(name, self.columns),
            source=source,
        )


def open_table(connection: sqlite3.Connection, table: LogicalTable) -> RowTable:
    """Prepares a logical table.

    A temporary view tells the declared types of the columns, also through a query, and refuses
    whatever is not a single SELECT.

    Raises:
        MappingError: the database refuses it, or two columns have one name.
    """
    if table.query is None:
        sql = f"SELECT * FROM {_quote_table(table.name or '')}"
    else:
        sql = table.query.strip().rstrip(";").rstrip()
    try:
        connection.execute(f"CREATE TEMP VIEW _ontoweir_logical_table AS {sql}\n")
        try:
            described = connection.execute(
                "PRAGMA temp.table_info(_ontoweir_logical_table)"
            ).fetchall()
            cursor = connection.execute(sql)  # the names as they are, also where they are double
            names = tuple(str(d[0]) for d in cursor.description)
            cursor.close()
        finally:
            connection.execute("DROP VIEW _ontoweir_logical_table")
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise MappingError(
            f"the logical table cannot be read: {error}",
            why="the database refuses its SQL",
            fix="correct rr:tableName or rr:sqlQuery",
            source=table.source,
        ) from None
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise MappingError(
            f"the logical table has two columns {twice!r}",
            why="term maps name columns, so their names must differ",
            fix="give one of them another alias",
            source=table.source,
        )
    return RowTable(sql, names, tuple(str(d[2] or "") for d in described), table.source)


def read_rows(connection: sqlite3.Connection, table: RowTable) -> Iterator[Row]:
    """All rows.

    Raises:
        DataError: the database fails while it reads them.
    """
    yield from _read(connection, table.sql, table.types, table.source)


def join_tables(
    connection: sqlite3.Connection,
    child: RowTable,
    parent: RowTable,
    joins: Sequence[tuple[int, int]],
) -> Iterator[tuple[Row, Row]]:
    """The joint query of a referencing object map (R2RML section 8): pairs of child and parent.

    Raises:
        DataError: the database fails while it reads them.
    """
    equations = " AND ".join(
        f"child.{quote_identifier(child.columns[c])} = parent.{quote_identifier(parent.columns[p])}"
        for c, p in joins
    )
    sql = (
        f"SELECT child.*, parent.* FROM ({child.sql}\n) AS child, ({parent.sql}\n) AS parent "
        f"WHERE {equations}"
    )
    width = len(child.columns)
    for row in _read(connection, sql, (*child.types, *parent.types), child.source):
        yield row[:width], row[width:]


def _read(
    connection: sqlite3.Connection, sql: str, types: Sequence[str], source: Source
) -> Iterator[Row]:
    try:
        for row in connection.execute(sql):
            yield tuple(map_sql_value(v, t) for v, t in zip(row, types, strict=True))
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(
            f"the rows of the logical table cannot be read: {error}",
            why="the database fails while it runs the SQL",
            fix="correct the SQL, or the data",
            source=source,
        ) from None


def unquote_name(written: str) -> tuple[str, bool]:
    """An SQL identifier without its double quotes, and whether it had any."""
    text = written.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"'), True
    return written, False


def quote_identifier(name: str) -> str:
    """An SQL identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def _quote_table(written: str) -> str:
    """A table's name, perhaps with its schema's: `main."Student"`."""
    parts = re.findall(r'"(?:[^"]|"")*"|[^".]+', written.strip())
    return ".".join(quote_identifier(unquote_name(p)[0]) for p in parts) or '""'
