"""Databases in one DuckDB: to start another one takes longer than what most tests ask of it."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

_MANY = 15
"""More rows are inserted as columns, which takes a third of the time; of fewer it takes more."""


def open_database() -> duckdb.DuckDBPyConnection:
    """A connection, for TEMP tables and views: nobody else sees them, and they end with it."""
    return _start().cursor()


def insert_rows(
    base: duckdb.DuckDBPyConnection, table: str, cells: str, rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows by one statement; `cells` is what VALUES has for each, "?::INT, ?::TEXT"."""
    if len(rows) > _MANY and (held := _hold(rows)) is not None:
        names = iter(held.column_names)
        base.register("held_rows", held)
        base.execute(
            f"INSERT INTO {table} SELECT {re.sub(r'[?]', lambda _: next(names), cells)} "
            "FROM held_rows"
        )
        base.unregister("held_rows")
    elif rows:
        values = ", ".join([f"({cells})"] * len(rows))
        base.execute(f"INSERT INTO {table} VALUES {values}", [v for row in rows for v in row])


def _hold(rows: Sequence[Sequence[Any]]) -> pa.Table | None:
    """Rows as columns of Arrow's (None: values of one have no type in common)."""
    columns = zip(*rows, strict=True)
    try:
        return pa.table({f"c{n}": pa.array(column) for n, column in enumerate(columns)})
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


@cache
def _start() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})
