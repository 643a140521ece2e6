"""Read a static relation's local files, or its table of PostgreSQL, without Spark; many rows are
mapped to memory."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import Source
from ontoweir.files.name_formats import POSTGRES
from ontoweir.mappings.model.catalog import Relation
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.convert_column import convert_column
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.database.read_postgres import find_table, open_postgres, read_postgres
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.packed.read_packed import is_packed, read_packed
from ontoweir.runtime.packed.unpack_stream import check_packed
from ontoweir.runtime.sources.check_columns import check_columns
from ontoweir.runtime.sources.convert_table import name_bad
from ontoweir.runtime.sources.list_pieces import folder_constants
from ontoweir.runtime.sources.read_source import BAD, drop_empty, unreadable
from ontoweir.runtime.spark.materialize_frame import LARGEST_COLLECTED, not_written
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.read_text import read_text_rows


def read_relation(
    relation: Relation, located: Located, find_folder: Callable[[], Path]
) -> pa.Table | None:
    """All rows in their declared types, with BAD, as read_source and Spark give them.

    Args:
        relation: what is declared.
        located: its files.
        find_folder: gives a folder for rows that take much memory.

    Returns:
        None: only Spark is certain to read these files as Spark does.

    Raises:
        DataError: a file lacks a column or cannot be read.
        RunError: the disk does not take them.
    """
    data = relation.data
    parquet = data.format == "parquet" and not data.options
    packed = is_packed(data, located)
    types = [(c.name, arrow_type(c.type)) for c in relation.columns]
    held = [pa.schema([*types, (BAD, pa.string())]).empty_table()]
    if data.format == POSTGRES:
        return _hold(held, _read_postgres(relation, located.path), find_folder)
    if not located.files or not (parquet or packed or data.format in ("csv", "json")):
        return None
    read = _read_parquet if parquet else _read_text
    files = drop_empty(data, located.files)
    coming: Iterator[pa.Table] = (table for file in files for table in read(relation, file))
    if packed:
        coming = _read_packed(relation, located)
    try:
        rows = _hold(held, coming, find_folder)
    except NotPlain:
        return None
    return rows if files else None


def _hold(
    held: list[pa.Table], coming: Iterator[pa.Table], find_folder: Callable[[], Path]
) -> pa.Table:
    """All rows that come, behind those that are held."""
    size = 0
    for table in coming:
        held.append(table)
        size += table.nbytes
        if size >= LARGEST_COLLECTED:
            return _map_rows(held, coming, find_folder())
    return pa.concat_tables(held)


def _read_text(relation: Relation, file: str) -> Iterator[pa.Table]:
    for table in read_text_rows(relation.data, file, relation.columns, None):
        yield table.select([*(c.name for c in relation.columns), BAD])


def _read_parquet(relation: Relation, file: str) -> Iterator[pa.Table]:
    """Row group by row group; what folders' names say is text."""
    names = [c.name for c in relation.columns]
    constants = folder_constants(file)
    try:
        with pq.ParquetFile(file) as opened:
            schema = opened.schema_arrow
            check_columns(schema, relation, names, file, constants.keys())
            there = [n for n in names if n in schema.names]
            for index in range(opened.num_row_groups):
                rows = opened.read_row_group(index, columns=there)
                for name in names:
                    if name not in there:
                        cells = pa.repeat(pa.scalar(constants[name], pa.string()), rows.num_rows)
                        rows = rows.append_column(name, cells)
                yield _convert(relation, rows)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(file, error) from error


def _read_packed(relation: Relation, located: Located) -> Iterator[pa.Table]:
    names = [c.name for c in relation.columns]
    for found in read_packed(relation.data, located, names):
        check_packed(relation, found, names, frozenset())
        for rows in found.rows:
            yield _convert(relation, rows)


def _read_postgres(relation: Relation, address: str) -> Iterator[pa.Table]:
    shown = relation.source or Source(relation.name)
    names = [c.name for c in relation.columns]
    with open_postgres(address, shown) as server:
        called = dict(relation.data.options).get("table", relation.name)
        for rows in read_postgres(server, find_table(server, called, shown), names):
            check_columns(rows.schema, relation, names, called)
            yield _convert(relation, rows)


def _convert(relation: Relation, rows: pa.Table) -> pa.Table:
    made: dict[str, pa.ChunkedArray | pa.Array] = {}
    bad: list[tuple[str, Array]] = []
    for column in relation.columns:
        values, wrong = convert_column(rows.column(column.name), column.type)
        made[column.name] = values.cast(arrow_type(column.type))
        if wrong is not None:
            bad.append((column.name, wrong))
    return pa.table({**made, BAD: name_bad(bad, rows.num_rows)})


def _map_rows(held: list[pa.Table], coming: Iterator[pa.Table], folder: Path) -> pa.Table:
    """The rows as an Arrow file, mapped and removed: the system keeps pages while they are used."""
    whole = str(folder / "rows.arrow")
    schema = held[0].schema
    try:
        with pa.OSFile(whole, "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            while held:
                writer.write_table(held.pop(0))
            for table in coming:
                writer.write_table(table)
        table = pa.ipc.open_file(pa.memory_map(whole)).read_all()
    except OSError as error:
        raise not_written(folder, error) from None
    finally:
        if os.path.exists(whole):
            os.unlink(whole)
    return table
