"""Databases in one DuckDB: to start another one takes longer than what most tests ask of it."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import duckdb


def open_database() -> duckdb.DuckDBPyConnection:
    """A connection, for TEMP tables and views: nobody else sees them, and they end with it."""
    return _start().cursor()


def insert_rows(
    base: duckdb.DuckDBPyConnection, table: str, cells: str, rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows by one statement; `cells` is what VALUES has for each, "?::INT, ?::TEXT"."""
    if rows:
        values = ", ".join([f"({cells})"] * len(rows))
        base.execute(f"INSERT INTO {table} VALUES {values}", [v for row in rows for v in row])


@cache
def _start() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})
