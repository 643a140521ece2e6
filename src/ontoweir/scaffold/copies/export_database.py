"""The tables of a database file as Parquet files, which a project reads."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import DataError, Source, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".db", ".sqlite", ".sqlite3", ".duckdb", ".ddb")
"""How files of databases are called."""
_PORTION = 100_000
"""So many rows are held at once."""
_HEAD = b"SQLite format 3\0"


def export_database(file: Path, folder: Path, *, views: bool = False) -> list[Path]:
    """Write each table of a SQLite or DuckDB file to a Parquet file of its name; which, in order.

    Args:
        file: the database, which is only read.
        folder: for the files.
        views: what they compute is written, too.

    Raises:
        UsageError: there is no such file, or no table in it; or DuckDB is not installed.
        DataError: it is no database, or a table cannot be read.
    """
    import pyarrow as pa

    if not file.is_file():
        raise UsageError(
            f"there is no {file}",
            why="it is a database by its name",
            fix="name a file of SQLite or DuckDB",
            source=Source(str(file)),
        )
    lite = is_sqlite(file)
    made = []
    try:
        read = _read_sqlite if lite else _read_duckdb
        for name, batches in read(file, views=views):
            made.append(_write(name, batches, folder))
    except (sqlite3.Error, pa.ArrowException, OSError, RuntimeError, ValueError) as error:
        what = str(error).splitlines()[0][:200]
        if not lite and "valid DuckDB database" in what:
            what = "it is a file of neither SQLite nor DuckDB"
        raise DataError(
            f"the database cannot be read: {what}",
            why="its tables are copied into the project, each column with one type",
            fix="correct it, or export the tables as CSV or Parquet and name those",
            source=Source(str(file)),
        ) from error
    if not made:
        raise UsageError(
            "the database has no table",
            why="a project is made of tables",
            fix="name another file",
            source=Source(str(file)),
        )
    return made


def list_views(file: Path) -> tuple[str, ...]:
    """The views of a database that has been exported: what they compute is in no table.

    Args:
        file: a database of SQLite or DuckDB, which is only read.
    """
    if is_sqlite(file):
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            rows = opened.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1")
            return tuple(str(name) for (name,) in rows)
    import duckdb

    with duckdb.connect(str(file), read_only=True) as opened:
        listed = opened.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' "
            "ORDER BY 1"
        )
        return tuple(str(name) for (name,) in listed.fetchall())


def is_sqlite(file: Path) -> bool:
    """Whether a file is a database of SQLite's, by how it begins."""
    with file.open("rb") as opened:
        return opened.read(len(_HEAD)) == _HEAD


def _write(name: str, batches: "Iterator[pa.Table]", folder: Path) -> Path:
    import pyarrow.parquet as pq

    file = folder / f"{name}.parquet"
    first = next(batches)  # without rows
    with pq.ParquetWriter(file, first.schema, store_schema=False) as writer:
        for rows in batches:
            writer.write_table(rows)
    return file


def _read_sqlite(file: Path, *, views: bool) -> "Iterator[tuple[str, Iterator[pa.Table]]]":
    """The tables; a column's type is that of all its values."""
    import pyarrow as pa

    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
        listed = opened.execute(
            "SELECT name FROM sqlite_master WHERE (type = 'table' OR ? AND type = 'view') "
            "AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
            (views,),
        )
        for (name,) in listed.fetchall():
            cursor = opened.execute(f'SELECT * FROM "{name.replace(chr(34), chr(34) * 2)}"')
            names = [column[0] for column in cursor.description]
            rows: list[Any] = cursor.fetchall()
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
            arrays = [_to_array(values) for values in columns]
            table = pa.table(arrays, names=names)
            yield name, iter([table.slice(0, 0), table])


def _to_array(values: "tuple[Any, ...]") -> "pa.Array":
    """A column of one type: numbers of both kinds are floating, others that are mixed are text."""
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if kinds <= {int, float} and len(kinds) == 2:
        return pa.array(values, pa.float64())
    if len(kinds) > 1:
        return pa.array([None if v is None else str(v) for v in values], pa.string())
    return pa.array(values, pa.string() if not kinds else None)


def _read_duckdb(file: Path, *, views: bool) -> "Iterator[tuple[str, Iterator[pa.Table]]]":
    import pyarrow as pa

    try:
        import duckdb
    except ModuleNotFoundError:
        raise UsageError(
            "duckdb is not installed",
            why="the file is no SQLite, and DuckDB's can be read by duckdb alone",
            fix="pip install duckdb",
            source=Source(str(file)),
        ) from None
    try:
        with duckdb.connect(str(file), read_only=True) as opened:
            listed = opened.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' "
                "AND (table_type = 'BASE TABLE' OR ? AND table_type = 'VIEW')",
                [views],
            )
            for (name,) in listed.fetchall():
                reader = opened.table(f'"{name}"').to_arrow_reader(_PORTION)
                batches = (pa.Table.from_batches([b]) for b in reader)
                empty = reader.schema.empty_table()
                yield name, (t for part in (iter([empty]), batches) for t in part)
    except duckdb.Error as error:
        raise ValueError(str(error)) from error
