"""The keys, references and domains that a database file declares of its tables."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from ontoweir.mappings.model.catalog import Column, Reference
from ontoweir.scaffold.copies.export_database import is_sqlite
from ontoweir.scaffold.ddl.created_table import CreatedTable, list_created
from ontoweir.scaffold.flatten_rows import make_name


@dataclass(frozen=True, slots=True)
class Constraints:
    """What is declared of a table: `keys`, the primary one first; `references`, to tables by the
    names that the catalog has for them, those without columns to the primary key; `domains`: the
    columns whose values are listed, or lie between numbers; `full`: those without NULL."""

    keys: tuple[tuple[str, ...], ...]
    references: tuple[Reference, ...]
    domains: tuple[Column, ...]
    full: frozenset[str]


def read_constraints(file: Path) -> dict[str, Constraints]:
    """What a file of SQLite or DuckDB declares of each table, by the name that a catalog has for
    it. What is written in words that are not known says nothing.

    Args:
        file: a database, which is only read, and has been exported (`export_database`).
    """
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # of what is passed over
    if not is_sqlite(file):
        return _read_duckdb(file)
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
        listed = opened.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        return {make_name(n): _read_sqlite(opened, n, sql) for n, sql in listed.fetchall()}


def _read_sqlite(opened: sqlite3.Connection, table: str, sql: str) -> Constraints:
    def ask(pragma: str, name: str) -> list[tuple[object, ...]]:
        return opened.execute(f"SELECT * FROM pragma_{pragma}(?)", (name,)).fetchall()

    columns = ask("table_info", table)
    primary = sorted((int(str(row[5])), str(row[1])) for row in columns if row[5])
    keys = [tuple(name for _, name in primary)] if primary else []
    for _, index, unique, _, partial in (row[:5] for row in ask("index_list", table)):
        names = [row[2] for row in ask("index_info", str(index))]
        if unique and not partial and None not in names:
            keys.append(tuple(str(name) for name in names))
    links: dict[object, list[tuple[object, ...]]] = {}
    for row in ask("foreign_key_list", table):
        links.setdefault(row[0], []).append(row)
    references = []
    for rows in links.values():
        to = () if rows[0][4] is None else tuple(str(row[4]) for row in rows)
        own = tuple(str(row[3]) for row in rows)
        references.append(Reference(own, make_name(str(rows[0][2])), to))
    full = {str(row[1]) for row in columns if row[3]}
    full |= {name for _, name in primary if not _has_null(opened, table, name)}
    head, _, _ = sql.rpartition(")")  # without STRICT and the like
    created = next(_parse([f"{head})"], "sqlite"), None)
    domains = () if created is None else _domains(created)
    return Constraints(tuple(dict.fromkeys(keys)), tuple(references), domains, frozenset(full))


def _has_null(opened: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether a column is NULL in a row, as SQLite lets one of a primary key be."""
    quoted = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (table, column)]
    asked = "SELECT EXISTS (SELECT 1 FROM {} WHERE {} IS NULL)".format(*quoted)
    return bool(opened.execute(asked).fetchone()[0])


def _read_duckdb(file: Path) -> dict[str, Constraints]:
    import duckdb

    with duckdb.connect(str(file), read_only=True) as opened:
        listed = opened.execute("SELECT sql FROM duckdb_tables() WHERE schema_name = 'main'")
        texts = [str(row[0]) for row in listed.fetchall()]
        listed = opened.execute("SELECT sql FROM duckdb_indexes() WHERE schema_name = 'main'")
        texts += [str(row[0]) for row in listed.fetchall() if row[0]]
    return {
        t.name: Constraints(t.keys, t.references, _domains(t), frozenset(t.full))
        for t in _parse(texts, "duckdb")
    }


def read_domains(created: str, dialect: str) -> tuple[Column, ...]:
    """The columns of a CREATE TABLE whose values are listed, or lie between numbers; none, where it
    is not understood."""
    table = next(_parse([created], dialect), None)
    return () if table is None else _domains(table)


def _parse(texts: list[str], dialect: str) -> Iterator[CreatedTable]:
    """The tables of statements, as far as these are understood."""
    statements: list[exp.Expr | None] = []
    for text in texts:
        try:
            statements += parse(text, read=dialect)
        except SqlglotError:
            continue
    yield from list_created(statements)


def _domains(table: CreatedTable) -> tuple[Column, ...]:
    limits = ((c, (c.enum, c.minimum, c.maximum)) for c in table.columns)
    return tuple(c for c, ends in limits if any(end is not None for end in ends))
