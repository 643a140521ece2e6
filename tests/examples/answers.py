"""The hand-written answers of `expected/`, run by DuckDB: nothing of ontoweir is involved."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

HERE = Path(__file__).parent
Row = tuple[tuple[str, Any], ...]


def open_answers(readings: str, register: str) -> duckdb.DuckDBPyConnection:
    """The tables that the hand-written answers read.

    Args:
        readings: Parquet files. A repeated delivery of a reading, the same id and ts, is left out:
            ontoweir.toml declares the key, so ingestion rejects it.
        register: the CSV file of sensors.
    """
    base = duckdb.connect()
    base.execute("SET TimeZone = 'UTC'")
    base.execute((HERE / "macros.sql").read_text(encoding="utf-8"))
    base.execute(
        f"CREATE TABLE traffic AS SELECT DISTINCT ON (id, ts) * FROM read_parquet('{readings}')"
    )
    base.execute(f"CREATE TABLE sensor AS SELECT * FROM read_csv('{register}', header = true)")
    base.execute(
        "CREATE TABLE road AS SELECT POINT_1_STREET AS street, max(NDT_IN_KMH) AS normal_speed "
        "FROM sensor WHERE POINT_1_STREET IS NOT NULL GROUP BY POINT_1_STREET"
    )
    return base


def expected(base: duckdb.DuckDBPyConnection, name: str) -> "Counter[Row]":
    """The answers of a query, with `at` and, for the bag semantics, `multiplicity`."""
    text = (HERE / "expected" / f"{name}.sql").read_text(encoding="utf-8")
    answers = base.execute(text)
    names = [column[0] for column in answers.description]
    return count(dict(zip(names, row, strict=True)) for row in answers.fetchall())


def count(rows: Iterable[dict[str, Any]]) -> "Counter[Row]":
    """How often each row occurs, in any order of columns; times are UTC."""
    return Counter(tuple((n, _plain(row[n])) for n in sorted(row)) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
