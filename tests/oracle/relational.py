"""The oracle: the plain relational join over a prefix, by DuckDB.

It knows the query (ontoweir.rewriter.model.spj) and nothing of the checker or the run-time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    IsNull,
    NotNull,
    OneOf,
    SpjQuery,
    output_attributes,
)
from tests.oracle.database import insert_rows, open_database

Row = tuple[Any, ...]
Data = Mapping[str, tuple[Sequence[str], Sequence[Row]]]
"""Per table: column names (SQL types are derived from the values) and rows."""


def _column(attribute: Attribute) -> str:
    return f'"{attribute.alias}"."{attribute.column}"'


def _constant(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def where(query: SpjQuery) -> list[str]:
    """The conjuncts of the selection, as SQL."""
    conjuncts = []
    for c in query.conditions:
        match c:
            case IsNull(attribute=attribute):
                conjuncts.append(f"{_column(attribute)} IS NULL")
            case NotNull(attribute=attribute):
                conjuncts.append(f"{_column(attribute)} IS NOT NULL")
            case OneOf(attribute=attribute, values=values):
                listed = ", ".join(map(_constant, values))
                conjuncts.append(f"{_column(attribute)} IN ({listed})")
            case Compare(left=left, op=op, right=right, offset=offset):
                if isinstance(right, Constant):
                    other = _constant(right.value)
                else:
                    other = _column(right) + (f" + ({offset})" if offset else "")
                conjuncts.append(f"{_column(left)} {op.value} {other}")
    return conjuncts


def load(data: Data, types: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    """A database with the tables; `types` maps "table.column" to a SQL type (default BIGINT)."""
    base = open_database()
    for table, (columns, rows) in data.items():
        sql_types = [types.get(f"{table}.{c}", "BIGINT") for c in columns]
        spec = ", ".join(f'"{c}" {t}' for c, t in zip(columns, sql_types, strict=True))
        base.execute(f'CREATE TEMP TABLE "{table}" ({spec})')
        clean = [[None if v != v else v for v in r] for r in rows]  # NaN matches nothing
        insert_rows(base, f'"{table}"', ", ".join(f"?::{t}" for t in sql_types), clean)
    return base


def answers(
    base: duckdb.DuckDBPyConnection,
    query: SpjQuery,
    timestamps: Mapping[str, str],
    *,
    distinct: bool,
    markers: int,
) -> list[Counter[Row]]:
    """The answers over the tuples with timestamps <= m, for every marker m from 0 on: rows of
    output attributes, counted.

    `timestamps`: per stream, the name of its timestamp column.
    """
    matches = _match(base, query, timestamps)
    return [_cut(matches, marker, distinct=distinct) for marker in range(markers)]


def answer(
    base: duckdb.DuckDBPyConnection,
    query: SpjQuery,
    timestamps: Mapping[str, str],
    *,
    distinct: bool,
    upto: int,
) -> Counter[Row]:
    """The answer over the tuples with timestamps <= upto (see `answers`)."""
    return _cut(_match(base, query, timestamps), upto, distinct=distinct)


def _match(
    base: duckdb.DuckDBPyConnection, query: SpjQuery, timestamps: Mapping[str, str]
) -> list[tuple[Any, ...]]:
    """The matches over all tuples: output attributes, the latest timestamp of the tuples (None:
    they have none), how many there are."""
    times = [
        f'"{o.alias}"."{timestamps[o.table]}"' for o in query.occurrences if o.table in timestamps
    ]
    latest = f"greatest({', '.join(times)})" if times else "NULL"
    outputs = [_column(a) for _, o in query.outputs for a in output_attributes(o)]
    tables = ", ".join(f'"{o.table}" AS "{o.alias}"' for o in query.occurrences)
    sql = f"SELECT {', '.join([*outputs, latest, 'count(*)'])} FROM {tables}"
    if conjuncts := where(query):
        sql += " WHERE " + " AND ".join(conjuncts)
    return base.execute(f"{sql} GROUP BY ALL").fetchall()


def _cut(matches: Sequence[tuple[Any, ...]], upto: int, *, distinct: bool) -> Counter[Row]:
    """Those over a prefix: it has the latest of their tuples."""
    found: Counter[Row] = Counter()
    for *values, time, count in matches:
        if time is None or time <= upto:
            found[tuple(values)] += count
    return Counter(dict.fromkeys(found, 1)) if distinct else found
